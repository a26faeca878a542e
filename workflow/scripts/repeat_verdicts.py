"""Ask the judge again, or a second one, and see how far verdicts agree; no score changes."""

from lmev2.job import Job, summary
from lmev2.judge.again import ask_again, askings, first_verdict
from lmev2.records import ROW_KEY
from lmev2.report.captions import Source
from lmev2.report.reliability import write_reliability
from lmev2.rows import gather_rows
from lmev2.store import read_rows, write_table

with Job(snakemake, "judge again") as job, job.door(*job.params["models"]) as door:
    prompts = job.prompts()
    questions = {row["question_id"]: row for row in read_rows(snakemake.input.questions)}
    # Only answers that a judge had a verdict to give on: those by rule are never asked.
    judged = [row for file in snakemake.input.judges for row in read_rows(file) if row["calls"]]
    reads = {
        tuple(row[key] for key in ROW_KEY): row for file in snakemake.input.reads for row in read_rows(file)
    }
    rounds = askings(job.params["repeats"], "second_judge" in job.params["models"])
    progress = job.progress("verdicts", len(judged) * len(rounds))
    work = [
        lambda row=row, asking=asking: ask_again(
            door.chat,
            asking,
            questions[row["question_id"]],
            reads[tuple(row[key] for key in ROW_KEY)],
            prompts,
            attempts=job.params["attempts"],
        )
        for asking in rounds
        for row in judged
    ]
    again = door.run(gather_rows(work, progress.step))
    rows = [first_verdict(row) for row in judged] + again
    write_table("verdicts", rows, snakemake.output.table)
    write_reliability(rows, snakemake.output.csv, Source(**job.params["source"]))
    progress.close(summary(again))
    job.meta({**row, "role": row["judge"]} for row in again)

"""Score every answer: by rule where a rule decides, else by the judge."""

from lmev2.job import Job, summary
from lmev2.judge.judging import judge_row
from lmev2.records import ROW_KEY
from lmev2.rows import gather_rows
from lmev2.shards import shard_of
from lmev2.store import read_rows, write_table

shard = shard_of(snakemake.wildcards)
with (
    Job(snakemake, f"judge {snakemake.wildcards.method} {snakemake.wildcards.tier}{shard}") as job,
    job.door("judge") as door,
):
    prompts = job.prompts()
    questions = {row["question_id"]: row for row in read_rows(snakemake.input.questions)}
    reads = [row for row in read_rows(snakemake.input.reads) if shard.holds(row["question_id"])]
    progress = job.progress("answers", len(reads))
    work = [
        lambda read=read: judge_row(
            door.chat, questions[read["question_id"]], read, prompts, attempts=job.params["attempts"]
        )
        for read in reads
    ]
    scores = door.run(gather_rows(work, progress.step))
    rows = [
        {**{key: read[key] for key in ROW_KEY}, **score} for read, score in zip(reads, scores, strict=True)
    ]
    write_table("judge", rows, snakemake.output.table)
    progress.close(summary(rows))
    job.meta(rows, correct=sum(row["score"] for row in rows))

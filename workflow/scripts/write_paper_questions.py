"""Write what only methods in paper mode see of the questions."""

from lmev2.ingest.paper_questions import read_paper_questions
from lmev2.job import Job
from lmev2.store import write_table

with Job(snakemake, "ingest paper questions") as job:
    rows = read_paper_questions(job.params["dataset"]["path"])
    write_table("paper_questions", rows, snakemake.output.table)
    job.meta(rows, leaderboard_safe=False)

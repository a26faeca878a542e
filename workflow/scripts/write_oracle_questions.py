"""Write the evidence labels for pilot studies, which alone may read them."""

from lmev2.job import Job
from lmev2.memory.oracle_questions import oracle_rows
from lmev2.store import read_rows, write_table

with Job(snakemake, "ingest oracle questions") as job:
    rows = oracle_rows(read_rows(snakemake.input.questions), read_rows(snakemake.input.coverage))
    write_table("oracle_questions", rows, snakemake.output.table)
    job.meta(rows)

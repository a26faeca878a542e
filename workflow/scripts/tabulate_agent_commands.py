"""Class the shell commands of the coding agents."""

from collections import Counter

from lmev2.job import Job
from lmev2.records import ROW_KEY
from lmev2.stats.agent_commands import command_rows
from lmev2.store import read_rows, write_table

with Job(snakemake, "stats agent_commands") as job:
    rows = [
        row for path in snakemake.input.queries for row in command_rows(read_rows(path, [*ROW_KEY, "trace"]))
    ]
    write_table("agent_commands", rows, snakemake.output.table)
    job.meta(rows, classes=dict(sorted(Counter(row["class"] for row in rows).items())))

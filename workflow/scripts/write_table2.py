"""Write Table 2."""

from lmev2.job import Job
from lmev2.report.table2 import write_table2

with Job(snakemake, "report table 2") as job:
    write_table2(
        snakemake.input.accuracy,
        snakemake.input.latency,
        snakemake.input.significance,
        snakemake.output.csv,
        snakemake.output.md,
        **{key: job.params[key] for key in ("methods", "tiers", "dataset", "models", "alpha")},
    )
    job.meta()

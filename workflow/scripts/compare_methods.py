"""Compare every arm with every other, paired by question."""

from lmev2.job import Job
from lmev2.stats.options import StatsOptions
from lmev2.stats.significance import tabulate_significance

with Job(snakemake, "stats significance") as job:
    options = StatsOptions.of(job.params["options"])
    tabulate_significance(snakemake.input.scores, job.params["methods"], snakemake.output.table, options)
    job.meta()

"""Accuracy with intervals, and latency, per arm."""

from lmev2.job import Job
from lmev2.stats.accuracy import tabulate_accuracy, tabulate_latency
from lmev2.stats.options import StatsOptions

with Job(snakemake, "stats accuracy") as job:
    options = StatsOptions.of(job.params["options"])
    tabulate_accuracy(snakemake.input.scores, snakemake.output.accuracy, options)
    tabulate_latency(snakemake.input.scores, snakemake.output.latency)
    job.meta()

"""Accuracy with intervals, and latency, per arm."""

from lmev2.job import Job
from lmev2.stats.accuracy import tabulate_accuracy, tabulate_latency

with Job(snakemake, "stats accuracy") as job:
    tabulate_accuracy(snakemake.input.scores, snakemake.output.accuracy)
    tabulate_latency(snakemake.input.scores, snakemake.output.latency)
    job.meta()

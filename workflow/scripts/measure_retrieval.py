"""Look for the evidence in the contexts that the reader got; no reader is asked."""

from lmev2.job import Job
from lmev2.stats.retrieval import tabulate_retrieval

with Job(snakemake, "stats retrieval") as job:
    tabulate_retrieval(
        snakemake.input.questions,
        snakemake.input.coverage,
        snakemake.input.trajectories,
        snakemake.input.states,
        snakemake.input.queries,
        snakemake.input.reads,
        snakemake.output.table,
    )
    job.meta()

"""Join questions, queries, answers and verdicts to one table of scores."""

from lmev2.job import Job
from lmev2.stats.scores import tabulate_scores

with Job(snakemake, "stats scores") as job:
    tabulate_scores(
        snakemake.input.questions,
        snakemake.input.queries,
        snakemake.input.reads,
        snakemake.input.judges,
        snakemake.output.table,
        pilots=job.params["pilots"],
    )
    job.meta()

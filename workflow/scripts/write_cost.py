"""Write what the results cost, by stage, role, method and tier."""

from lmev2.job import Job
from lmev2.money.cost import write_cost

with Job(snakemake, "report cost") as job:
    paid = write_cost(
        snakemake.input.pools, snakemake.input.arms, snakemake.input.verdicts, snakemake.output.csv
    )
    job.meta(paid=paid)

"""Print what is still to be asked of the models, and what it will cost. Calls no model."""

import asyncio

from lmev2.flow import Flow
from lmev2.job import Job
from lmev2.money.estimate import Estimator
from lmev2.money.table import estimate_csv, estimate_md
from lmev2.store import write_text

with Job(snakemake, "estimate") as job:
    flow = Flow(snakemake.config, job.params["root"])
    estimate = asyncio.run(Estimator(flow).estimate())
    write_text(estimate_csv(estimate), "results/estimate.csv")
    write_text(text := estimate_md(estimate), "results/estimate.md")
    print(text)

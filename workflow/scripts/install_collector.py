"""Make the environments of the browser and of the applications' servers."""

from pathlib import Path

from lmev2.collecting import run_collector
from lmev2.job import Job

with Job(snakemake, "install collector") as job:
    environments = Path(snakemake.output.meta).parent / "environments"
    run_collector(
        ["install", "--environments", str(environments), *job.params["applications"]],
        snakemake.log[0],
    )
    job.meta()

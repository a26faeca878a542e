"""Record the runs on one application, beginning with a fresh database."""

from pathlib import Path

from lmev2.collecting import BROWSER, run_collector
from lmev2.job import Job

with Job(snakemake, f"record {snakemake.wildcards.application}") as job:
    environments = Path(snakemake.input.environments).parent / "environments"
    out = Path(snakemake.output.meta).parent
    only = ["--only", *job.params["only"]] if job.params["only"] else []
    run_collector(
        ["record", snakemake.wildcards.application, str(out), "--environments", str(environments), *only],
        snakemake.log[0],
        environments / BROWSER / "bin" / "python",
    )
    job.meta(trajectories=len(list((out / "raw").glob("*.json"))))

"""Make a dataset of the recorded runs, with evidence labels found mechanically."""

from pathlib import Path

from lmev2.collecting import run_collector
from lmev2.job import Job

with Job(snakemake, "build recorded dataset") as job:
    dataset = Path(snakemake.output.dataset)
    recorded = [str(dataset.parent / name) for name in job.params["applications"]]
    run_collector(
        ["build", str(dataset), *recorded, *["--partial"] * job.params["partial"]],
        snakemake.log[0],
    )
    job.meta(trajectories=len((dataset / "trajectories.jsonl").read_bytes().splitlines()))

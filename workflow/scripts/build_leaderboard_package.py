"""Put the official runs of a method in one tier together to the leaderboard's package."""

from pathlib import Path

from lmev2.job import Job
from lmev2.official.leaderboard import build_package
from lmev2.store import write_json

with Job(snakemake, f"package {snakemake.wildcards.package} {snakemake.wildcards.tier}") as job:
    overview = build_package(
        Path(snakemake.output.archive),
        {
            point: {domain: Path(folder) for domain, folder in domains.items()}
            for point, domains in job.params["runs"].items()
        },
        method=snakemake.wildcards.package,
        tier=snakemake.wildcards.tier,
        description=job.params["description"],
        code_file=Path(snakemake.input.code_file),
        allow_unfit=job.params["allow_unfit"],
    )
    write_json(overview, snakemake.output.overview)
    job.meta(points=len(overview["operating_points"]))

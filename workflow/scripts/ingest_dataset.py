"""Check the dataset whole and turn it into tables."""

import logging
from pathlib import Path

from lmev2.ingest.dataset import ingest_dataset
from lmev2.ingest.source import open_source
from lmev2.job import Job

with Job(snakemake, "ingest") as job:
    progress = job.progress("trajectories")
    counts = ingest_dataset(
        job.params["dataset"]["path"],
        job.params["tiers"],
        Path(snakemake.output.questions).parent,
        progress=progress.at,
        workers=snakemake.threads,
        source=open_source(job.params["dataset"]),
    )
    progress.close()
    logging.info("%s", counts.text())
    job.meta(**counts.to_dict())

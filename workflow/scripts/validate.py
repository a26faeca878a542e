"""Check the dataset whole, without any model, and write what was found."""

from pathlib import Path

from lmev2.ingest.dataset import validate_dataset
from lmev2.ingest.defects import DatasetError
from lmev2.ingest.report import report_json, report_md, report_text
from lmev2.ingest.source import open_source
from lmev2.job import Job
from lmev2.store import write_json, write_text

with Job(snakemake, "validate") as job:
    section, tiers = job.params["dataset"], job.params["tiers"]
    dataset = section["path"]
    progress = job.progress("trajectories")
    counts, defects = validate_dataset(
        dataset, tiers, progress=progress.at, workers=snakemake.threads, source=open_source(section)
    )
    progress.close()
    # No outputs of the rule: Snakemake would remove them where the dataset has defects.
    results = Path("results")
    write_json(report_json(dataset, tiers, counts, defects), results / "validate.json")
    write_text(report_md(dataset, counts, defects), results / "validate.md")
    if defects:
        raise DatasetError(defects, dataset)
    print(report_text(dataset, counts, defects))

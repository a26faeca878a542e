"""Read finished official runs as the tables of one arm and tier."""

from pathlib import Path

from lmev2.job import Job, summary
from lmev2.official.importing.contexts import Screenshots
from lmev2.official.importing.report import write_report
from lmev2.official.importing.runs import import_runs
from lmev2.query import haystacks_of
from lmev2.store import read_rows, write_table

COLUMNS = [
    *("trajectory_id", "state_index", "screenshot"),
    *("screenshot_sha256", "screenshot_width", "screenshot_height"),
]

with Job(snakemake, f"import {snakemake.wildcards.method} {snakemake.wildcards.tier}") as job:
    arm = job.params["arm"]
    dataset = Path(job.params["dataset"]["path"])
    imported = import_runs(
        arm["runs"],
        arm,
        read_rows(snakemake.input.questions),
        haystacks_of(read_rows(snakemake.input.haystack)),
        Screenshots(read_rows(snakemake.input.states, COLUMNS), dataset),
        partial=arm["partial"],
    )
    for name in ("query", "read", "judge"):
        write_table(name, getattr(imported, name), snakemake.output[name])
    counts = write_report(imported, arm, arm["runs"], Path(snakemake.output.csv), Path(snakemake.output.page))
    job.meta(imported.judge, findings=dict(counts))
    progress = job.progress("questions", len(imported.judge))
    progress.at(len(imported.judge))
    progress.close(summary(imported.judge))

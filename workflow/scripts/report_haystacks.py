"""Report what the haystacks hold."""

import json
from pathlib import Path

from lmev2.haystack.measures import measure_haystacks
from lmev2.haystack.report import write_report
from lmev2.job import Job

with Job(snakemake, "report haystacks") as job:
    given, out = snakemake.input, snakemake.output
    tables = dict(zip(job.params["tiers"], given.haystacks, strict=True))
    measured = measure_haystacks(
        given.questions, given.trajectories, given.states, given.coverage, tables, by_domain=True
    )
    cores = given.get("cores")
    write_report(
        measured,
        json.loads(Path(cores).read_text(encoding="utf-8"))["domains"] if cores else None,
        job.params["dataset"],
        job.params["haystack"].get("tiers", {}),
        out.csv,
        out.md,
    )
    job.meta()

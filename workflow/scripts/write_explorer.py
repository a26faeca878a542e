"""Write the explorer's page: results, what they were made with, and the index of all answers."""

import json
from pathlib import Path

from lmev2.explorer.site import write_site
from lmev2.job import Job
from lmev2.report.captions import Source
from lmev2.stats.options import StatsOptions

with Job(snakemake, "explorer") as job:
    given, out = snakemake.input, snakemake.output
    counts = write_site(
        Path(out.page),
        Path(out.assets),
        Path(out.index),
        Path(out.figure),
        **{
            name: given[name]
            for name in ("questions", "scores", "retrieval", "accuracy", "latency", "significance")
        },
        cost=given.cost,
        figure6=given.figure6,
        config=json.loads(Path(given.config).read_text(encoding="utf-8")),
        metas=given.metas,
        methods=job.params["methods"],
        tiers=job.params["tiers"],
        source=Source(**job.params["source"]),
        options=StatsOptions.of(job.params["options"]),
    )
    job.meta(**counts)

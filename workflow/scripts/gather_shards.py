"""Put the shards of a stage together: the file that one job would have written."""

import json
from pathlib import Path

from lmev2.job import Job, summary
from lmev2.provenance import write_meta
from lmev2.shards import gather, gathered_meta
from lmev2.store import read_rows, write_table

stage, arm, tier = (snakemake.wildcards[name] for name in ("stage", "method", "tier"))
with Job(snakemake, f"gather {stage} {arm} {tier}") as job:
    rows = gather(map(read_rows, snakemake.input.tables))
    metas = [json.loads(Path(path).read_text(encoding="utf-8")) for path in snakemake.input.metas]
    write_table(stage, rows, snakemake.output.table)
    write_meta(snakemake.output.meta, **gathered_meta(stage, rows, metas))
    progress = job.progress("rows", len(rows))
    progress.at(len(rows))
    progress.close(summary(rows))

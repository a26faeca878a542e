"""Write an arm's results in one domain and tier as an official run folder."""

from pathlib import Path

from lmev2.job import Job
from lmev2.official.export import export_run
from lmev2.official.tables import load_run
from lmev2.release.manifest import released_digests

domain, tier = snakemake.wildcards.domain, snakemake.wildcards.tier
with Job(snakemake, f"export {snakemake.wildcards.run} {domain} {tier}") as job:
    dataset = Path(job.params["dataset"]["path"])
    run, images = load_run(job.params["arm"], domain, tier, dataset, dict(snakemake.input.items()))
    reasons = export_run(
        Path(snakemake.output.args).parent,
        run,
        domain,
        released_digests(),
        images=images,
        dataset=dataset,
        allow_unfit=job.params["allow_unfit"],
    )
    job.meta(questions=len(run.questions), reasons=reasons)

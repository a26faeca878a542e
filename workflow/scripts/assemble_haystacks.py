"""Make the haystacks of all tiers from the evidence labels."""

from lmev2.haystack.assemble import assemble_haystacks
from lmev2.job import Job

with Job(snakemake, "haystacks") as job:
    given, out = snakemake.input, snakemake.output
    tiers = list(job.params["haystack"]["tiers"])
    made = assemble_haystacks(
        given.questions,
        given.coverage,
        given.trajectories,
        job.params["haystack"],
        tables=dict(zip(tiers, out.tables, strict=True)),
        labels=dict(zip(tiers, out.labels, strict=True)),
        official=dict(zip(tiers, out.official, strict=True)),
        selected=out.selected,
        cores=out.cores,
    )
    job.meta(cores={core["domain"]: core["size"] for core in made.cores})

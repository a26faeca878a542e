"""Write one tier's haystacks, and apart from them the role of each trajectory."""

from lmev2.ingest.dataset import write_haystack
from lmev2.job import Job

with Job(snakemake, f"haystack {snakemake.wildcards.tier}") as job:
    write_haystack(
        job.params["dataset"]["path"],
        snakemake.wildcards.tier,
        snakemake.input.questions,
        snakemake.input.coverage,
        snakemake.output.table,
        snakemake.output.labels,
    )
    job.meta()

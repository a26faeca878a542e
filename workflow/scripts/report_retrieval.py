"""Write and draw how often the contexts hold the evidence."""

from lmev2.job import Job
from lmev2.report.captions import Source
from lmev2.report.retrieval import report_retrieval

with Job(snakemake, "report retrieval") as job:
    report_retrieval(
        snakemake.input.retrieval,
        snakemake.output.csv,
        snakemake.output.png,
        snakemake.output.pdf,
        methods=job.params["methods"],
        tiers=job.params["tiers"],
        source=Source(**job.params["source"]),
    )
    job.meta()

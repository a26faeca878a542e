"""Draw Figure 7: what wrong answers are due to."""

from lmev2.job import Job
from lmev2.report.captions import Source
from lmev2.report.figure7 import plot_figure7

with Job(snakemake, "report figure 7") as job:
    plot_figure7(
        snakemake.input.scores,
        snakemake.input.retrieval,
        snakemake.output.csv,
        snakemake.output.png,
        snakemake.output.pdf,
        methods=job.params["methods"],
        tiers=job.params["tiers"],
        source=Source(**job.params["source"]),
    )
    job.meta()

"""Draw Figure 4: the pilot studies."""

from lmev2.job import Job
from lmev2.report.captions import Source
from lmev2.report.figure4 import plot_figure4
from lmev2.stats.options import StatsOptions

with Job(snakemake, "report figure 4") as job:
    plot_figure4(
        snakemake.input.accuracy,
        snakemake.output.csv,
        snakemake.output.png,
        snakemake.output.pdf,
        methods=job.params["methods"],
        tiers=job.params["tiers"],
        source=Source(**job.params["source"]),
        options=StatsOptions.of(job.params["options"]),
    )
    job.meta()

"""Draw Figure 6, accuracy against latency, and write the latency-aware scores."""

from lmev2.job import Job
from lmev2.report.captions import Source
from lmev2.report.figure6 import plot_figure6
from lmev2.stats.options import StatsOptions

with Job(snakemake, "report figure 6") as job:
    plot_figure6(
        snakemake.input.accuracy,
        snakemake.input.latency,
        snakemake.output.png,
        snakemake.output.pdf,
        snakemake.output.csv,
        snakemake.output.lafs,
        methods=job.params["methods"],
        tiers=job.params["tiers"],
        source=Source(**job.params["source"]),
        reference=job.params["reference"],
        options=StatsOptions.of(job.params["options"]),
    )
    job.meta()

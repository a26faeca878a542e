"""Draw Figure 6: accuracy against latency."""

from lmev2.job import Job
from lmev2.report.figure6 import plot_figure6

with Job(snakemake, "report figure 6") as job:
    plot_figure6(
        snakemake.input.accuracy,
        snakemake.input.latency,
        snakemake.output.png,
        snakemake.output.pdf,
        snakemake.output.csv,
        **{key: job.params[key] for key in ("methods", "tiers", "dataset", "models")},
    )
    job.meta()

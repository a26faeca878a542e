"""Draw Figures 8 and 9: what coding agents spend their shell commands on."""

from lmev2.job import Job
from lmev2.report.agent_figures import plot_agent_figures
from lmev2.report.captions import Source

with Job(snakemake, "report figures 8 and 9") as job:
    plot_agent_figures(
        snakemake.input.commands,
        snakemake.input.scores,
        dict(snakemake.output.items()),
        methods=job.params["methods"],
        tiers=job.params["tiers"],
        source=Source(**job.params["source"]),
    )
    job.meta()

"""Write Table 2, its variants, the tests behind its marks and the comparison with the paper."""

from lmev2.job import Job
from lmev2.report.captions import Source
from lmev2.report.table_files import write_table2
from lmev2.stats.options import StatsOptions

with Job(snakemake, "report table 2") as job:
    write_table2(
        snakemake.input.accuracy,
        snakemake.input.latency,
        snakemake.input.significance,
        dict(snakemake.output.items()),
        methods=job.params["methods"],
        tiers=job.params["tiers"],
        source=Source(**job.params["source"]),
        options=StatsOptions.of(job.params["options"]),
    )
    job.meta()

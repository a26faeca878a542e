"""Save the resolved config beside the results."""

from lmev2.job import Job
from lmev2.store import write_json

with Job(snakemake, "report config") as job:
    write_json(job.params["config"], snakemake.output.json)

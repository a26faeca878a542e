"""Put a verified copy of the released dataset into the dataset folder."""

import logging
import sys

from lmev2.job import Job
from lmev2.release.download import download

with Job(snakemake, "download") as job:

    def report(line):
        logging.info("%s", line)
        print(f"[download] {line}", file=sys.stderr, flush=True)

    download(job.params["dataset"], **job.config["dataset"]["download"], report=report)

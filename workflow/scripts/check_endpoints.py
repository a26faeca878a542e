"""Ask every configured model one tiny question, and say what to do where it does not answer as it should."""

import asyncio

from lmev2.errors import UserError
from lmev2.job import Job
from lmev2.llm.check import check_endpoints

with Job(snakemake, "check endpoints") as job:
    findings = asyncio.run(check_endpoints(job.config, lambda finding: print(finding, flush=True)))
    failed = sum(not finding.passed for finding in findings)
    if failed:
        raise UserError(f"{failed} of {len(findings)} checks failed; nothing was recorded")

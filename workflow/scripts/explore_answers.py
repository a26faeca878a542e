"""Write the explorer's files of one arm: contexts, answers, verdicts, traces."""

from collections import Counter
from pathlib import Path

from lmev2.explorer.answers import write_answers
from lmev2.job import Job
from lmev2.memory.runbook import POOLS
from lmev2.store import read_rows
from lmev2.trajectory import Trajectories

with Job(snakemake, f"explore {snakemake.wildcards.method}") as job:
    given, folder = snakemake.input, Path(snakemake.output.folder)
    trajectories = Trajectories(given.trajectories, given.states, job.params["dataset"]["path"])
    pools = {pool: given[f"{pool}_entries"] for pool in POOLS if given.get(f"{pool}_entries")}
    questions = {row["question_id"]: row for row in read_rows(given.questions)}
    counts = Counter()
    for tier, query, read, judge in zip(
        job.params["tiers"], given.query, given.read, given.judge, strict=True
    ):
        counts += write_answers(questions, query, read, judge, trajectories, pools, folder, tier)
    job.meta(**counts)

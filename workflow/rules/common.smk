"""The checked config, and what the rules take from it.

Logic lives in `lmev2.flow`; here are only the names that rules use.
"""

import os

from lmev2.errors import UserError
from lmev2.flow import Flow
from lmev2.official.targets import Official
from lmev2.report.captions import closing_words
from snakemake.exceptions import WorkflowError

try:
    FLOW = Flow(config, workflow.basedir)
    QUERY_PARAMS = {arm: FLOW.query(arm) for arm in FLOW.arms}
    OFFICIAL = Official(FLOW)
except UserError as error:
    raise WorkflowError(str(error))

ARMS = list(FLOW.arms)
TIERS = FLOW.tiers
# Arms that give the reader a context; others answer themselves.
CONTEXT_ARMS = [arm for arm in ARMS if not FLOW.answers_itself(arm)]
AGENT_ARMS = [arm for arm in CONTEXT_ARMS if FLOW.runs_agent(arm)]
# Arms whose query, read and judge are split (rules/shards.smk), and those where one job does a tier.
SHARDED_ARMS = [arm for arm in ARMS if FLOW.arms[arm].shards > 1]
WHOLE_ARMS = [arm for arm in ARMS if arm not in SHARDED_ARMS]
# Read, judge: a job for each arm, tier and shard.
ARM_JOBS = sum(FLOW.arms[arm].shards for arm in ARMS) * len(TIERS)

for name, total in FLOW.total_slots.items():
    workflow.global_resources.setdefault(name, total)

# Handed to jobs wherever they run. A missing one is named by the first job that needs it, so that what asks no
# model (a dry run, the download, the data check, the estimate) goes without.
KEYS = [name for name in FLOW.key_variables if name in os.environ]
if KEYS:

    envvars:
        *KEYS,


wildcard_constraints:
    method="|".join(ARMS),
    tier="|".join(TIERS),
    pool="slices|events|notes",
    shard=r"\d+",
    shards=r"\d+",


def pool_files(wildcards):
    """The shared pools that an arm reads, as named inputs."""
    return {
        f"{pool}_{part}": f"results/insert/{pool}{suffix}.parquet"
        for pool in ([] if wildcards.method in FLOW.imported else FLOW.pools(wildcards.method))
        for part, suffix in (
            ("entries", ""),
            ("embeddings", ".embeddings"),
            ("vectors", ".vectors"),
        )
    }


def agent_files(wildcards):
    """The trajectories as files, for arms that run a coding agent."""
    return {"files": "results/insert/files.parquet"} if FLOW.runs_agent(wildcards.method) else {}


def private_tables(wildcards):
    """Tables that privacy keeps from methods: none, but for arms in paper mode and pilot studies."""
    return {table: f"results/ingest/{table}.parquet" for table in FLOW.private_tables(wildcards.method)}


def query_params(wildcards):
    """All that decides the contexts of an arm."""
    return QUERY_PARAMS[wildcards.method]


def query_slots(role):
    """Requests in flight that an arm's query job asks for, as a resource."""
    return lambda wildcards: FLOW.query_slots(wildcards.method, role)


def either(names):
    """A pattern for any of the names; without names it matches nothing."""
    return "|".join(names) or "(?!)"


def shard_files(suffix):
    """The files of all shards of a stage, arm and tier."""

    def files(wildcards):
        count = FLOW.arms[wildcards.method].shards
        return [
            f"results/{wildcards.stage}/{wildcards.method}/{wildcards.tier}/{number}-of-{count}{suffix}"
            for number in range(1, count + 1)
        ]

    return files


def stage_files(stage, arms=ARMS):
    """The files of a stage over all arms that are asked (or some) and tiers."""
    return expand("results/{stage}/{method}/{tier}.parquet", stage=stage, method=arms, tier=TIERS)

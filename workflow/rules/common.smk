"""The checked config, and what the rules take from it.

Logic lives in `lmev2.flow`; here are only the names that rules use.
"""

from lmev2.errors import UserError
from lmev2.flow import Flow
from lmev2.report.captions import closing_words
from snakemake.exceptions import WorkflowError

try:
    FLOW = Flow(config, workflow.basedir)
    QUERY_PARAMS = {arm: FLOW.query(arm) for arm in FLOW.arms}
except UserError as error:
    raise WorkflowError(str(error))

ARMS = list(FLOW.arms)
TIERS = FLOW.tiers


wildcard_constraints:
    method="|".join(ARMS),
    tier="|".join(TIERS),
    pool="slices|events|notes",


def pool_files(wildcards):
    """The shared pools that an arm reads, as named inputs."""
    return {
        f"{pool}_{part}": f"results/insert/{pool}{suffix}.parquet"
        for pool in FLOW.pools(wildcards.method)
        for part, suffix in (
            ("entries", ""),
            ("embeddings", ".embeddings"),
            ("vectors", ".vectors"),
        )
    }


def query_params(wildcards):
    """All that decides the contexts of an arm."""
    return QUERY_PARAMS[wildcards.method]


def stage_files(stage):
    """The files of a stage over all arms and tiers."""
    return expand("results/{stage}/{method}/{tier}.parquet", stage=stage, method=ARMS, tier=TIERS)

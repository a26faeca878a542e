"""Shards: query, read and judge of an arm with `methods.<id>.shards` above 1, in as many jobs.

Each shard writes results/{query,read,judge}/{method}/{tier}/{shard}-of-{shards}.parquet; together they become
the stage file that a single job would have written.
"""


use rule query_memory as query_memory_shard with:
    output:
        table="results/query/{method}/{tier}/{shard}-of-{shards}.parquet",
        meta="results/query/{method}/{tier}/{shard}-of-{shards}.meta.json",
    log:
        "results/logs/query_memory/{method}.{tier}.{shard}-of-{shards}.log",
    wildcard_constraints:
        method=either(SHARDED_ARMS),


use rule read_answers as read_answers_shard with:
    output:
        table="results/read/{method}/{tier}/{shard}-of-{shards}.parquet",
        meta="results/read/{method}/{tier}/{shard}-of-{shards}.meta.json",
    log:
        "results/logs/read_answers/{method}.{tier}.{shard}-of-{shards}.log",
    wildcard_constraints:
        method=either(SHARDED_ARMS),


use rule judge_answers as judge_answers_shard with:
    output:
        table="results/judge/{method}/{tier}/{shard}-of-{shards}.parquet",
        meta="results/judge/{method}/{tier}/{shard}-of-{shards}.meta.json",
    log:
        "results/logs/judge_answers/{method}.{tier}.{shard}-of-{shards}.log",
    wildcard_constraints:
        method=either(SHARDED_ARMS),


rule gather_shards:
    """Put the shards of a stage together."""
    input:
        tables=shard_files(".parquet"),
        metas=shard_files(".meta.json"),
    output:
        table="results/{stage}/{method}/{tier}.parquet",
        meta="results/{stage}/{method}/{tier}.meta.json",
    log:
        "results/logs/gather_shards/{stage}.{method}.{tier}.log",
    wildcard_constraints:
        stage="query|read|judge",
        method=either(SHARDED_ARMS),
    conda:
        "../../envs/lmev2.yaml"
    params:
        code=FLOW.code("gather_shards"),
    script:
        "../scripts/gather_shards.py"

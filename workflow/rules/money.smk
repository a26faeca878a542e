"""Money: what a run will cost, what it has cost, and whether its models answer.

`estimate` and `check_endpoints` have no output, so they run whenever they are named.
"""


rule estimate:
    """Print calls, tokens and cost still to come, before anything is spent."""
    input:
        questions="results/ingest/questions.parquet",
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
        images="results/ingest/question_images",
        private=[
            f"results/ingest/{table}.parquet"
            for table in sorted({t for arm in ARMS for t in FLOW.private_tables(arm)})
        ],
        haystacks=expand("results/haystack/{tier}.parquet", tier=TIERS),
    log:
        "results/logs/estimate.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        root=workflow.basedir,
    script:
        "../scripts/estimate.py"


rule check_endpoints:
    """Ask every configured model one tiny question, and say what to do where it does not answer as it should."""
    log:
        "results/logs/check_endpoints.log",
    conda:
        "../../envs/lmev2.yaml"
    script:
        "../scripts/check_endpoints.py"


rule write_cost:
    """Write what the results cost, by stage, role, method and tier."""
    input:
        pools=[
            f"results/insert/{pool}{part}.parquet" for pool in FLOW.all_pools for part in ("", ".embeddings")
        ],
        arms=[file for stage in ("query", "read", "judge") for file in stage_files(stage)],
        verdicts=["results/stats/verdicts.parquet"] if FLOW.asks_again else [],
    output:
        csv="results/cost.csv",
        meta="results/cost.meta.json",
    log:
        "results/logs/write_cost.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        code=FLOW.code("write_cost"),
    script:
        "../scripts/write_cost.py"

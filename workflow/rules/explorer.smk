"""Explorer: a static site to look into every answer, opened from disk.

Reads the stage files. Writes results/explorer: each arm has a folder of data files of its own, so a changed
method makes that anew and the small index. One job does all tiers: starting it takes longer than its work.
"""

from lmev2.explorer.parts import site_digest

EXPLORER = [
    "results/explorer/index.html",
    "results/explorer/data/questions.js",
    "results/explorer/data/trajectories",
    *expand("results/explorer/data/answers/{method}", method=[*ARMS, *FLOW.imported]),
]
# What the results were made with is told by the meta files of these stages.
STAGE_METAS = [
    "results/ingest/dataset.meta.json",
    *[f"results/insert/{pool}.meta.json" for pool in FLOW.all_pools],
    *[f"results/insert/{pool}.embeddings.meta.json" for pool in FLOW.all_pools],
    *[
        file.replace(".parquet", ".meta.json")
        for stage in ("query", "read", "judge")
        for file in stage_files(stage)
    ],
]


rule explorer:
    """Make the explorer."""
    input:
        EXPLORER,


rule explore_answers:
    """Write the explorer's files of one arm: contexts, answers, verdicts, traces."""
    input:
        unpack(pool_files),
        questions="results/ingest/questions.parquet",
        query=OFFICIAL.arm_files("query"),
        read=OFFICIAL.arm_files("read"),
        judge=OFFICIAL.arm_files("judge"),
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
    output:
        folder=directory("results/explorer/data/answers/{method}"),
        meta="results/explorer/meta/answers.{method}.meta.json",
    log:
        "results/logs/explore_answers/{method}.log",
    wildcard_constraints:
        method=either([*ARMS, *FLOW.imported]),
    conda:
        "../../envs/lmev2.yaml"
    params:
        tiers=OFFICIAL.tiers,
        dataset=FLOW.dataset_section,
        code=FLOW.code("explore_answers"),
    script:
        "../scripts/explore_answers.py"


rule explore_trajectories:
    """Write the explorer's file of each trajectory that is in a haystack, and its pictures."""
    input:
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
        haystacks=expand("results/haystack/{tier}.parquet", tier=TIERS),
    output:
        data=directory("results/explorer/data/trajectories"),
        pictures=directory("results/explorer/pictures"),
        meta="results/explorer/meta/trajectories.meta.json",
    log:
        "results/logs/explore_trajectories.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        dataset=FLOW.dataset_section,
        options=config["explorer"],
        code=FLOW.code("explore_trajectories"),
    script:
        "../scripts/explore_trajectories.py"


rule explore_dataset:
    """Write the explorer's files of questions with their labels, trajectories and haystacks."""
    input:
        questions="results/ingest/questions.parquet",
        images="results/ingest/question_images",
        coverage="results/ingest/coverage.parquet",
        trajectories="results/ingest/trajectories.parquet",
        haystacks=expand("results/haystack/{tier}.parquet", tier=TIERS),
    output:
        questions="results/explorer/data/questions.js",
        trajectories="results/explorer/data/trajectories.js",
        haystacks=expand("results/explorer/data/haystack-{tier}.js", tier=TIERS),
        images=directory("results/explorer/images"),
        meta="results/explorer/meta/dataset.meta.json",
    log:
        "results/logs/explore_dataset.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        tiers=TIERS,
        code=FLOW.code("explore_dataset"),
    script:
        "../scripts/explore_dataset.py"


rule write_explorer:
    """Write the explorer's page: results, what they were made with, and the index of all answers."""
    input:
        questions="results/ingest/questions.parquet",
        scores="results/stats/scores.parquet",
        retrieval="results/stats/retrieval.parquet",
        accuracy="results/stats/accuracy.parquet",
        latency="results/stats/latency.parquet",
        significance="results/stats/significance.parquet",
        figure6="results/figure6.png",
        cost="results/cost.csv",
        config="results/config.json",
        metas=STAGE_METAS,
    output:
        page="results/explorer/index.html",
        index="results/explorer/data/index.js",
        figure="results/explorer/figure6.png",
        assets=directory("results/explorer/assets"),
        meta="results/explorer/meta/site.meta.json",
    log:
        "results/logs/write_explorer.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        source=FLOW.source,
        options=FLOW.stats(),
        site=site_digest(),
        code=FLOW.code("write_explorer"),
    script:
        "../scripts/write_explorer.py"

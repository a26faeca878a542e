"""Haystack: which trajectories each question's memory holds, in order.

Reads results/ingest, and in mode `dataset` the dataset's haystack files (haystack_dataset.smk); in mode
`assemble` haystacks are made from the evidence labels (haystack_assemble.smk). Writes
results/haystack/{tier}.parquet, and apart from it {tier}.labels.parquet, which no memory method reads; and
results/haystack/report.{md,csv}.
"""


include: f"haystack_{config['haystack']['mode']}.smk"


rule report_haystacks:
    """Report what the haystacks hold: sizes, answers, outcomes, families, and the cores behind them."""
    input:
        **({"cores": "results/haystack/core.json"} if FLOW.assembles else {}),
        questions="results/ingest/questions.parquet",
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
        coverage="results/ingest/coverage.parquet",
        haystacks=expand("results/haystack/{tier}.parquet", tier=TIERS),
    output:
        md="results/haystack/report.md",
        csv="results/haystack/report.csv",
        meta="results/haystack/report.meta.json",
    log:
        "results/logs/report_haystacks.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        tiers=TIERS,
        dataset=FLOW.dataset_name,
        haystack=FLOW.haystack,
        code=FLOW.code("report_haystacks"),
    script:
        "../scripts/report_haystacks.py"

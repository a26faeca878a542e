"""Haystacks made from the evidence labels (haystack.mode: assemble); docs/haystacks.md."""


rule assemble_haystacks:
    """Make the haystacks of all tiers, and apart from them the role of each trajectory."""
    input:
        questions="results/ingest/questions.parquet",
        trajectories="results/ingest/trajectories.parquet",
        coverage="results/ingest/coverage.parquet",
    output:
        tables=expand("results/haystack/{tier}.parquet", tier=TIERS),
        labels=expand("results/haystack/{tier}.labels.parquet", tier=TIERS),
        official=expand("results/haystack/lme_v2_{tier}.json", tier=TIERS),
        selected="results/haystack/core.hops.parquet",
        cores="results/haystack/core.json",
        meta="results/haystack/core.meta.json",
    log:
        "results/logs/assemble_haystacks.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        haystack=FLOW.haystack,
        code=FLOW.code("assemble_haystacks"),
    script:
        "../scripts/assemble_haystacks.py"

"""Haystacks of the dataset (haystack.mode: dataset): its own files, as tables."""


rule write_haystack:
    """Write one tier's haystacks, and apart from them the role of each trajectory."""
    input:
        lambda wildcards: FLOW.dataset_files(f"haystacks/lme_v2_{wildcards.tier}.json"),
        questions="results/ingest/questions.parquet",
        coverage="results/ingest/coverage.parquet",
    output:
        table="results/haystack/{tier}.parquet",
        labels="results/haystack/{tier}.labels.parquet",
        meta="results/haystack/{tier}.meta.json",
    log:
        "results/logs/write_haystack/{tier}.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        dataset=FLOW.dataset_section,
        code=FLOW.code("write_haystack"),
    script:
        "../scripts/write_haystack.py"

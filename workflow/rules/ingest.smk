"""Ingest: the dataset folder, checked whole, as tables.

Reads the dataset. Writes results/ingest/{questions,query_questions,trajectories,states,coverage}.parquet
and the question images; of experiment results and rewritten goals also reports (agentlab.md, *.csv).
"""


rule ingest_dataset:
    """Check the dataset whole and turn it into tables."""
    input:
        FLOW.trajectory_files,
        FLOW.dataset_files(
            "questions.jsonl",
            "coverage.jsonl",
            "families.json",
            *[f"haystacks/lme_v2_{tier}.json" for tier in FLOW.given_tiers],
        ),
    output:
        **FLOW.ingest_reports,
        questions="results/ingest/questions.parquet",
        query_questions="results/ingest/query_questions.parquet",
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
        coverage="results/ingest/coverage.parquet",
        images=directory("results/ingest/question_images"),
        meta="results/ingest/dataset.meta.json",
    log:
        "results/logs/ingest_dataset.log",
    conda:
        "../../envs/lmev2.yaml"
    threads: 2
    params:
        dataset=FLOW.ingest_section,
        tiers=FLOW.given_tiers,
        code=FLOW.code("ingest_dataset"),
    script:
        "../scripts/ingest_dataset.py"


rule write_oracle_questions:
    """Write the evidence labels for pilot studies, which alone may read them."""
    input:
        questions="results/ingest/questions.parquet",
        coverage="results/ingest/coverage.parquet",
    output:
        table="results/ingest/oracle_questions.parquet",
        meta="results/ingest/oracle_questions.meta.json",
    log:
        "results/logs/write_oracle_questions.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        code=FLOW.code("write_oracle_questions"),
    script:
        "../scripts/write_oracle_questions.py"


rule write_paper_questions:
    """Write what only methods in paper mode see of the questions (never leaderboard-safe)."""
    input:
        FLOW.dataset_files("questions.jsonl"),
        checked="results/ingest/dataset.meta.json",
    output:
        table="results/ingest/paper_questions.parquet",
        meta="results/ingest/paper_questions.meta.json",
    log:
        "results/logs/write_paper_questions.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        dataset=FLOW.dataset_section,
        code=FLOW.code("write_paper_questions"),
    script:
        "../scripts/write_paper_questions.py"

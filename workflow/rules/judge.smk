"""Judge: every answer scored, by rule where a rule decides, else by the judge.

Reads results/read and the gold answers. Writes results/judge/{method}/{tier}.parquet.
"""


rule judge_answers:
    """Score every answer: by rule where a rule decides, else by the judge."""
    input:
        questions="results/ingest/questions.parquet",
        reads="results/read/{method}/{tier}.parquet",
    output:
        table="results/judge/{method}/{tier}.parquet",
        meta="results/judge/{method}/{tier}.meta.json",
    log:
        "results/logs/judge_answers/{method}.{tier}.log",
    retries: 2
    conda:
        "../../envs/lmev2.yaml"
    resources:
        judge_slots=config["models"]["judge"]["limits"]["concurrency"],
    params:
        models=FLOW.models("judge"),
        prompts=FLOW.prompts("judge.", "judge_"),
        attempts=config["judge"]["attempts"],
        retry_statuses=config["retry_statuses"],
        code=FLOW.code("judge_answers"),
    script:
        "../scripts/judge_answers.py"

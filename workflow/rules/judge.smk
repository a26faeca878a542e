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
    wildcard_constraints:
        method=either(WHOLE_ARMS),
    conda:
        "../../envs/lmev2.yaml"
    resources:
        judge_slots=FLOW.slots("judge", ARM_JOBS),
    params:
        models=FLOW.models("judge"),
        prompts=FLOW.prompts("judge.", "judge_"),
        attempts=config["judge"]["attempts"],
        retry_statuses=config["retry_statuses"],
        code=FLOW.code("judge_answers"),
    script:
        "../scripts/judge_answers.py"


rule repeat_verdicts:
    """Ask the judge again, or a second one, and see how far verdicts agree; no score changes."""
    input:
        questions="results/ingest/questions.parquet",
        reads=stage_files("read"),
        judges=stage_files("judge"),
    output:
        table="results/stats/verdicts.parquet",
        csv="results/judge_reliability.csv",
        meta="results/stats/verdicts.meta.json",
    log:
        "results/logs/repeat_verdicts.log",
    conda:
        "../../envs/lmev2.yaml"
    resources:
        judge_slots=FLOW.slots("judge"),
    params:
        models=FLOW.models(*FLOW.judges),
        prompts=FLOW.prompts("judge.", "judge_"),
        attempts=config["judge"]["attempts"],
        repeats=config["judge"]["repeats"],
        source=FLOW.source,
        retry_statuses=config["retry_statuses"],
        code=FLOW.code("repeat_verdicts"),
    script:
        "../scripts/repeat_verdicts.py"

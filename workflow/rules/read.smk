"""Read: the fixed reader answers from question and truncated context.

Reads results/query and of the questions text, image, domain and environment. Writes
results/read/{method}/{tier}.parquet.
"""


rule read_answers:
    """Let the reader answer every question from its truncated context."""
    input:
        questions="results/ingest/questions.parquet",
        images="results/ingest/question_images",
        queries="results/query/{method}/{tier}.parquet",
    output:
        table="results/read/{method}/{tier}.parquet",
        meta="results/read/{method}/{tier}.meta.json",
    log:
        "results/logs/read_answers/{method}.{tier}.log",
    wildcard_constraints:
        method=either(WHOLE_ARMS),
    conda:
        "../../envs/lmev2.yaml"
    resources:
        reader_slots=FLOW.slots("reader", ARM_JOBS),
    params:
        models=FLOW.models("reader"),
        prompts=FLOW.prompts("reader."),
        domains=config["domains"],
        context_tokens=config["read"]["context_tokens"],
        on_overflow=config["read"]["on_overflow"],
        tokenizer=FLOW.tokenizer,
        answered=lambda wildcards: FLOW.answers_itself(wildcards.method),
        retry_statuses=config["retry_statuses"],
        code=FLOW.code("read_answers"),
    script:
        "../scripts/read_answers.py"

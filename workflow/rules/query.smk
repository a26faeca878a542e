"""Query: each question asked of its haystack's memory, timed.

Reads the question's text and image (query_questions), the haystack and the shared pools: no label, no
type, no answer. Writes results/query/{method}/{tier}.parquet: contexts, latency and its parts.
"""


rule query_memory:
    """Ask one memory for the evidence on every question of a tier, timing each query."""
    input:
        unpack(pool_files),
        unpack(private_tables),
        unpack(agent_files),
        questions="results/ingest/query_questions.parquet",
        images="results/ingest/question_images",
        haystack="results/haystack/{tier}.parquet",
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
    output:
        table="results/query/{method}/{tier}.parquet",
        meta="results/query/{method}/{tier}.meta.json",
    log:
        "results/logs/query_memory/{method}.{tier}.log",
    wildcard_constraints:
        method=either(WHOLE_ARMS),
    conda:
        "../../envs/lmev2.yaml"
    resources:
        controller_slots=query_slots("controller"),
        embedding_slots=query_slots("embedding"),
        agent_slots=query_slots("agent"),
    params:
        arm=query_params,
        best_chunks=config["insert"]["embedding"]["best_chunks"],
        repeats=config["repeats"],
        dataset=FLOW.dataset_section,
        retry_statuses=config["retry_statuses"],
    script:
        "../scripts/query_memory.py"

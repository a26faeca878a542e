"""Insert: artifacts of the shared pools, made once per trajectory for all tiers, questions and methods.

Reads results/ingest. Writes results/insert/{slices,events,notes}.parquet and for each pool the rows of its
vectors ({pool}.embeddings.parquet) and the distinct vectors ({pool}.vectors.parquet). For coding agents
results/insert/files.parquet names each trajectory's folder in results/insert/files, which is no declared
output: folders are named by content, and a finished one is never made again.
"""


rule build_slices:
    """Build the slice pool: one window of states around each state."""
    input:
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
    output:
        table="results/insert/slices.parquet",
        meta="results/insert/slices.meta.json",
    log:
        "results/logs/build_slices.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        radius=config["insert"]["slices"]["radius"],
        code=FLOW.code("build_slices"),
    script:
        "../scripts/build_slices.py"


rule write_notes:
    """Have the controller write a procedure note and a hint note on each trajectory."""
    input:
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
    output:
        table="results/insert/notes.parquet",
        meta="results/insert/notes.meta.json",
    log:
        "results/logs/write_notes.log",
    conda:
        "../../envs/lmev2.yaml"
    resources:
        controller_slots=FLOW.slots("controller", 2),
    params:
        dataset=FLOW.dataset_section,
        models=FLOW.models("controller"),
        prompts=FLOW.prompts("notes."),
        retry_statuses=config["retry_statuses"],
        code=FLOW.code("write_notes"),
    script:
        "../scripts/write_notes.py"


rule write_events:
    """Have the controller tell what each step of each trajectory changed."""
    input:
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
    output:
        table="results/insert/events.parquet",
        meta="results/insert/events.meta.json",
    log:
        "results/logs/write_events.log",
    conda:
        "../../envs/lmev2.yaml"
    resources:
        controller_slots=FLOW.slots("controller", 2),
    params:
        dataset=FLOW.dataset_section,
        models=FLOW.models("controller"),
        prompts=FLOW.prompts("events."),
        retry_statuses=config["retry_statuses"],
        code=FLOW.code("write_events"),
    script:
        "../scripts/write_events.py"


rule write_trajectory_files:
    """Write each trajectory as a folder of files, for coding agents."""
    input:
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
    output:
        table="results/insert/files.parquet",
        meta="results/insert/files.meta.json",
    log:
        "results/logs/write_trajectory_files.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        dataset=FLOW.dataset_section,
        code=FLOW.code("write_trajectory_files"),
    script:
        "../scripts/write_trajectory_files.py"


rule embed_pool:
    """Embed the entries of one pool, each distinct text once."""
    input:
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
        entries="results/insert/{pool}.parquet",
    output:
        table="results/insert/{pool}.embeddings.parquet",
        vectors="results/insert/{pool}.vectors.parquet",
        meta="results/insert/{pool}.embeddings.meta.json",
    log:
        "results/logs/embed_pool/{pool}.log",
    conda:
        "../../envs/lmev2.yaml"
    resources:
        embedding_slots=FLOW.slots("embedding", len(FLOW.all_pools)),
    params:
        recipe=FLOW.recipe,
        models=FLOW.models("embedding"),
        code=FLOW.code("embed_pool"),
    script:
        "../scripts/embed_pool.py"

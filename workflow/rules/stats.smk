"""Stats: scores of all arms, accuracy with intervals, latency, significance.

Reads results/ingest/questions.parquet, results/query, read, judge. Writes results/stats.
"""


rule tabulate_scores:
    """Join questions, queries, answers and verdicts to one table of scores."""
    input:
        questions="results/ingest/questions.parquet",
        queries=stage_files("query") + OFFICIAL.imported_files("query"),
        reads=stage_files("read") + OFFICIAL.imported_files("read"),
        judges=stage_files("judge") + OFFICIAL.imported_files("judge"),
    output:
        table="results/stats/scores.parquet",
        meta="results/stats/scores.meta.json",
    log:
        "results/logs/tabulate_scores.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        pilots=FLOW.pilots,
        code=FLOW.code("tabulate_scores"),
    script:
        "../scripts/tabulate_scores.py"


rule estimate_accuracy:
    """Estimate accuracy with intervals, and latency, per arm."""
    input:
        scores="results/stats/scores.parquet",
    output:
        accuracy="results/stats/accuracy.parquet",
        latency="results/stats/latency.parquet",
        meta="results/stats/accuracy.meta.json",
    log:
        "results/logs/estimate_accuracy.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        options=FLOW.stats("confidence", "interval", "resamples", "seed", "stratify"),
        code=FLOW.code("estimate_accuracy"),
    script:
        "../scripts/estimate_accuracy.py"


rule compare_methods:
    """Compare every arm with every other, paired by question."""
    input:
        scores="results/stats/scores.parquet",
    output:
        table="results/stats/significance.parquet",
        meta="results/stats/significance.meta.json",
    log:
        "results/logs/compare_methods.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        options=FLOW.stats("confidence", "interval", "resamples", "seed", "stratify", "sidedness"),
        code=FLOW.code("compare_methods"),
    script:
        "../scripts/compare_methods.py"


rule tabulate_agent_commands:
    """Class the shell commands of the coding agents."""
    input:
        queries=stage_files("query", AGENT_ARMS),
    output:
        table="results/stats/agent_commands.parquet",
        meta="results/stats/agent_commands.meta.json",
    log:
        "results/logs/tabulate_agent_commands.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        code=FLOW.code("tabulate_agent_commands"),
    script:
        "../scripts/tabulate_agent_commands.py"


rule measure_retrieval:
    """Look for the evidence in the contexts that the reader got; no reader is asked."""
    input:
        questions="results/ingest/questions.parquet",
        coverage="results/ingest/coverage.parquet",
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
        queries=stage_files("query", CONTEXT_ARMS) + OFFICIAL.imported_files("query"),
        reads=stage_files("read", CONTEXT_ARMS) + OFFICIAL.imported_files("read"),
    output:
        table="results/stats/retrieval.parquet",
        meta="results/stats/retrieval.meta.json",
    log:
        "results/logs/measure_retrieval.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        code=FLOW.code("measure_retrieval"),
    script:
        "../scripts/measure_retrieval.py"

"""Stats: scores of all arms, accuracy with intervals, latency, significance.

Reads results/ingest/questions.parquet, results/query, read, judge. Writes results/stats.
"""


rule tabulate_scores:
    """Join questions, queries, answers and verdicts to one table of scores."""
    input:
        questions="results/ingest/questions.parquet",
        queries=stage_files("query"),
        reads=stage_files("read"),
        judges=stage_files("judge"),
    output:
        table="results/stats/scores.parquet",
        meta="results/stats/scores.meta.json",
    log:
        "results/logs/tabulate_scores.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
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
        code=FLOW.code("compare_methods"),
    script:
        "../scripts/compare_methods.py"

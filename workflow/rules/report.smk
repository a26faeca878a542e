"""Report: tables and figures.

Reads results/stats. Writes results/table2.{csv,md}, results/figure6.{png,pdf,csv} and results/config.json.
"""


rule write_table2:
    """Write Table 2."""
    input:
        accuracy="results/stats/accuracy.parquet",
        latency="results/stats/latency.parquet",
        significance="results/stats/significance.parquet",
    output:
        csv="results/table2.csv",
        md="results/table2.md",
        meta="results/table2.meta.json",
    log:
        "results/logs/write_table2.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        dataset=FLOW.dataset_name,
        models=FLOW.model_names,
        alpha=config["stats"]["alpha"],
        code=FLOW.code("write_table2"),
    script:
        "../scripts/write_table2.py"


rule plot_figure6:
    """Draw Figure 6: accuracy against latency."""
    input:
        accuracy="results/stats/accuracy.parquet",
        latency="results/stats/latency.parquet",
    output:
        png=report("results/figure6.png", category="Figures"),
        pdf="results/figure6.pdf",
        csv="results/figure6.csv",
        meta="results/figure6.meta.json",
    log:
        "results/logs/plot_figure6.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        dataset=FLOW.dataset_name,
        models=FLOW.model_names,
        code=FLOW.code("plot_figure6"),
    script:
        "../scripts/plot_figure6.py"


rule save_config:
    """Save the resolved config beside the results."""
    output:
        json="results/config.json",
    log:
        "results/logs/save_config.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        config=FLOW.saved_config,
        code=FLOW.code("save_config"),
    script:
        "../scripts/save_config.py"

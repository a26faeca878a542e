"""Further figures: retrieval quality, pilot studies, causes of wrong answers, agents' commands.

Reads results/stats. Writes results/retrieval.{csv,png,pdf} and results/figure{4,7,8,9}.{png,pdf,csv}. Figure 4
needs pilot studies in the config, Figure 7 evidence labels in the dataset, Figures 8 and 9 coding agents;
without them the run does without.
"""

FIGURES = [
    "results/table1.csv",
    "results/haystack/report.md",
    *multiext("results/figure2", ".png", ".pdf", ".csv"),
    *multiext("results/figure3", ".png", ".pdf", ".csv"),
    *(multiext("results/figure4", ".png", ".pdf", ".csv") if FLOW.pilots else []),
    *multiext("results/figure6", ".png", ".pdf", ".csv"),
    *(multiext("results/figure7", ".png", ".pdf", ".csv") if FLOW.has_labels else []),
    *(multiext("results/figure8", ".png", ".pdf", ".csv") if AGENT_ARMS else []),
    *(multiext("results/figure9", ".png", ".pdf", ".csv") if AGENT_ARMS else []),
    *(["results/stats/agent_commands.parquet"] if AGENT_ARMS else []),
    *(["results/judge_reliability.csv"] if FLOW.asks_again else []),
    *multiext("results/retrieval", ".png", ".pdf", ".csv"),
]


rule report_retrieval:
    """Write and draw how often the contexts hold the evidence."""
    input:
        retrieval="results/stats/retrieval.parquet",
    output:
        csv="results/retrieval.csv",
        png=report("results/retrieval.png", caption="../report/retrieval.rst", category="Figures"),
        pdf="results/retrieval.pdf",
        meta="results/retrieval.meta.json",
    log:
        "results/logs/report_retrieval.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        source=FLOW.source,
        code=FLOW.code("report_retrieval"),
    script:
        "../scripts/report_retrieval.py"


rule plot_figure7:
    """Draw Figure 7: what wrong answers are due to."""
    input:
        scores="results/stats/scores.parquet",
        retrieval="results/stats/retrieval.parquet",
    output:
        csv="results/figure7.csv",
        png=report("results/figure7.png", caption="../report/figure7.rst", category="Figures"),
        pdf="results/figure7.pdf",
        meta="results/figure7.meta.json",
    log:
        "results/logs/plot_figure7.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        source=FLOW.source,
        code=FLOW.code("plot_figure7"),
    script:
        "../scripts/plot_figure7.py"


rule plot_figure4:
    """Draw Figure 4: the pilot studies."""
    input:
        accuracy="results/stats/accuracy.parquet",
    output:
        csv="results/figure4.csv",
        png=report("results/figure4.png", caption="../report/figure4.rst", category="Figures"),
        pdf="results/figure4.pdf",
        meta="results/figure4.meta.json",
    log:
        "results/logs/plot_figure4.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        source=FLOW.source,
        options=FLOW.stats("confidence", "interval"),
        paper=FLOW.paper("figure4", "table6"),
        code=FLOW.code("plot_figure4"),
    script:
        "../scripts/plot_figure4.py"


rule plot_agent_figures:
    """Draw Figures 8 and 9: what coding agents spend their shell commands on."""
    input:
        commands="results/stats/agent_commands.parquet",
        scores="results/stats/scores.parquet",
    output:
        figure8_csv="results/figure8.csv",
        figure8_png=report("results/figure8.png", caption="../report/figure8.rst", category="Figures"),
        figure8_pdf="results/figure8.pdf",
        figure9_csv="results/figure9.csv",
        figure9_png=report("results/figure9.png", caption="../report/figure9.rst", category="Figures"),
        figure9_pdf="results/figure9.pdf",
        meta="results/figure8.meta.json",
    log:
        "results/logs/plot_agent_figures.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(AGENT_ARMS),
        tiers=TIERS,
        source=FLOW.source,
        code=FLOW.code("plot_agent_figures"),
    script:
        "../scripts/plot_agent_figures.py"

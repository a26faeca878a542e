"""Report: Table 2 with its variants, Figure 6, and what the dataset is like. figures.smk has the rest.

Reads results/stats, results/ingest and results/haystack. Writes results/table2*, results/comparisons.csv,
results/figure6.{png,pdf,csv}, results/lafs.csv, results/table1.csv, results/figure{2,3}.{png,pdf,csv} and
results/config.json.
"""


report: "../report/workflow.rst"


rule write_table2:
    """Write Table 2, its variants, the tests behind its marks and the comparison with the paper."""
    input:
        accuracy="results/stats/accuracy.parquet",
        latency="results/stats/latency.parquet",
        significance="results/stats/significance.parquet",
    output:
        csv="results/table2.csv",
        md="results/table2.md",
        tex="results/table2.tex",
        html=report("results/table2.html", caption="../report/table2.rst", category="Tables"),
        judge_free_csv="results/table2_judge_free.csv",
        judge_free_md="results/table2_judge_free.md",
        domains_csv="results/table2_domains.csv",
        domains_md="results/table2_domains.md",
        abstention_csv="results/table2_abstention.csv",
        abstention_md="results/table2_abstention.md",
        vs_paper="results/table2_vs_paper.csv",
        comparisons="results/comparisons.csv",
        meta="results/table2.meta.json",
    log:
        "results/logs/write_table2.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        source=FLOW.source,
        options=FLOW.stats(),
        paper=FLOW.paper("table2"),
        code=FLOW.code("write_table2"),
    script:
        "../scripts/write_table2.py"


rule plot_figure6:
    """Draw Figure 6, accuracy against latency, and write the latency-aware scores."""
    input:
        accuracy="results/stats/accuracy.parquet",
        latency="results/stats/latency.parquet",
    output:
        png=report("results/figure6.png", caption="../report/figure6.rst", category="Figures"),
        pdf="results/figure6.pdf",
        csv="results/figure6.csv",
        lafs="results/lafs.csv",
        meta="results/figure6.meta.json",
    log:
        "results/logs/plot_figure6.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        methods=FLOW.methods(),
        tiers=TIERS,
        source=FLOW.source,
        options=FLOW.stats("confidence", "interval"),
        reference=config["report"]["reference_frontier"],
        paper=FLOW.paper("frontier"),
        code=FLOW.code("plot_figure6"),
    script:
        "../scripts/plot_figure6.py"


rule describe_dataset:
    """Write Table 1 and draw Figures 2 and 3: the dataset itself."""
    input:
        questions="results/ingest/questions.parquet",
        trajectories="results/ingest/trajectories.parquet",
        states="results/ingest/states.parquet",
        coverage="results/ingest/coverage.parquet",
        haystacks=expand("results/haystack/{tier}.parquet", tier=TIERS),
    output:
        table1="results/table1.csv",
        figure2_png=report("results/figure2.png", caption="../report/figure2.rst", category="Figures"),
        figure2_pdf="results/figure2.pdf",
        figure2_csv="results/figure2.csv",
        figure3_png=report("results/figure3.png", caption="../report/figure3.rst", category="Figures"),
        figure3_pdf="results/figure3.pdf",
        figure3_csv="results/figure3.csv",
        meta="results/figure2.meta.json",
    log:
        "results/logs/describe_dataset.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        tiers=TIERS,
        source=FLOW.source,
        paper=FLOW.paper("table1"),
        code=FLOW.code("describe_dataset"),
    script:
        "../scripts/describe_dataset.py"


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

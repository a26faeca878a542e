"""Named stopping points: snakemake all_contexts, snakemake all_answers, …"""


rule all_ingested:
    """Stop after ingest and haystacks."""
    input:
        "results/ingest/questions.parquet",
        expand("results/haystack/{tier}.parquet", tier=TIERS),


rule all_memories:
    """Stop after all shared pools are built and embedded."""
    input:
        expand("results/insert/{pool}.embeddings.parquet", pool=FLOW.all_pools),


rule all_contexts:
    """Stop after all queries."""
    input:
        stage_files("query"),


rule all_answers:
    """Stop after the reader."""
    input:
        stage_files("read"),


rule all_scores:
    """Stop after scoring and statistics."""
    input:
        "results/stats/accuracy.parquet",
        "results/stats/significance.parquet",


# Seconds of work and little memory: on a cluster these run where Snakemake runs, not as jobs of their own.
localrules:
    gather_shards,
    save_config,
    write_haystack,
    write_oracle_questions,
    write_paper_questions,
    tabulate_agent_commands,
    describe_dataset,
    write_cost,
    write_table2,
    report_retrieval,
    plot_figure4,
    plot_figure6,
    plot_figure7,
    plot_agent_figures,
    estimate,
    check_endpoints,

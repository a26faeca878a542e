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

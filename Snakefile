"""LongMemEval-V2: from recorded trajectories to the paper's tables and figures.

ingest → haystack → insert → query → read → judge → stats → report
"""

from pathlib import Path

from snakemake.utils import min_version

min_version("9.19")

# Snakemake looks for a config where it runs and goes on without it as soon as there is a --configfile. Where
# there is none (another folder: -s, -d) the project's own counts.
CONFIG = Path("config/config.yaml")


configfile: str(CONFIG if CONFIG.exists() else Path(workflow.basedir, CONFIG))


include: "workflow/rules/common.smk"
include: "workflow/rules/download.smk"
include: "workflow/rules/ingest.smk"
include: "workflow/rules/haystack.smk"
include: "workflow/rules/insert.smk"
include: "workflow/rules/query.smk"
include: "workflow/rules/read.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/shards.smk"
include: "workflow/rules/stats.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/money.smk"
include: "workflow/rules/explorer.smk"
include: "workflow/rules/official.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/collect_trajectories.smk"


rule all:
    """Make every table and figure."""
    default_target: True
    input:
        multiext("results/table2", ".csv", ".md", ".tex", ".html"),
        FIGURES,
        "results/cost.csv",
        "results/config.json",
        EXPLORER,


onstart:
    for notice in FLOW.notices:
        print(notice)


onsuccess:
    print(closing_words(config))


onerror:
    print("Finished work is kept in the journal: run the same command again to go on from here.")

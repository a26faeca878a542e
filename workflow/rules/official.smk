"""Official: results as official run folders and leaderboard packages, and official runs as results.

Export reads results/{query,read,judge} and results/haystack; it writes results/official/{run}_{domain}_{tier}/
and results/leaderboard/{method}_{tier}.tar.gz. Import writes the query, read and judge tables of arms in the
config's official_runs, with a report of what it read differently in results/official/import/.
"""


rule export_official_run:
    """Write an arm's results in one domain and tier as an official run folder, if it is fit for the leaderboard."""
    input:
        OFFICIAL.dataset_files,
        unpack(OFFICIAL.tables),
        questions="results/ingest/questions.parquet",
        images="results/ingest/question_images",
        haystack="results/haystack/{tier}.parquet",
        dataset="results/ingest/dataset.meta.json",
    output:
        args="results/official/{run}_{domain}_{tier}/run_args.json",
        metrics="results/official/{run}_{domain}_{tier}/aggregated_metrics.json",
        records="results/official/{run}_{domain}_{tier}/per_question.jsonl",
        runtime_questions="results/official/{run}_{domain}_{tier}/runtime_inputs/questions.json",
        runtime_haystack="results/official/{run}_{domain}_{tier}/runtime_inputs/haystack.json",
        meta="results/official/{run}_{domain}_{tier}.meta.json",
    log:
        "results/logs/export_official_run/{run}.{domain}.{tier}.log",
    wildcard_constraints:
        run=either(OFFICIAL.arms),
        domain="web|enterprise",
    conda:
        "../../envs/lmev2.yaml"
    params:
        arm=OFFICIAL.run_params,
        dataset=FLOW.dataset_section,
        allow_unfit=config["official_export"]["allow_unfit"],
        code=FLOW.code("export_official_run"),
    script:
        "../scripts/export_official_run.py"


rule build_leaderboard_package:
    """Put the official runs of a method in one tier together to the leaderboard's package."""
    input:
        OFFICIAL.package_files,
        code_file=OFFICIAL.code_file,
    output:
        archive="results/leaderboard/{package}_{tier}.tar.gz",
        overview="results/leaderboard/{package}_{tier}.json",
        meta="results/leaderboard/{package}_{tier}.meta.json",
    log:
        "results/logs/build_leaderboard_package/{package}.{tier}.log",
    wildcard_constraints:
        package=either(OFFICIAL.methods),
    conda:
        "../../envs/lmev2.yaml"
    params:
        runs=OFFICIAL.package_runs,
        description=OFFICIAL.description,
        allow_unfit=config["official_export"]["allow_unfit"],
        code=FLOW.code("build_leaderboard_package"),
    script:
        "../scripts/build_leaderboard_package.py"


rule leaderboard:
    """Pack every method for the leaderboard."""
    input:
        expand("results/leaderboard/{package}_{tier}.tar.gz", package=OFFICIAL.packages, tier=TIERS),


rule import_official_run:
    """Read finished official runs as the tables of one arm and tier."""
    input:
        OFFICIAL.import_files,
        questions="results/ingest/questions.parquet",
        states="results/ingest/states.parquet",
        haystack="results/haystack/{tier}.parquet",
    output:
        query="results/query/{method}/{tier}.parquet",
        read="results/read/{method}/{tier}.parquet",
        judge="results/judge/{method}/{tier}.parquet",
        csv="results/official/import/{method}.{tier}.csv",
        page="results/official/import/{method}.{tier}.md",
        meta="results/official/import/{method}.{tier}.meta.json",
    log:
        "results/logs/import_official_run/{method}.{tier}.log",
    wildcard_constraints:
        method=either(FLOW.imported),
    conda:
        "../../envs/lmev2.yaml"
    params:
        arm=OFFICIAL.import_params,
        dataset=FLOW.dataset_section,
        code=FLOW.code("import_official_run"),
    script:
        "../scripts/import_official_run.py"

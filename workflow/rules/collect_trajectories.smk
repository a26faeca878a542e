"""Collection: record the mini dataset from scratch, `snakemake collect`. No part of `all`.

Serves the applications of collector/ on this machine, has policies act on them in Chromium, and writes
results/collect/dataset, a dataset in the released form. Needs Chromium and PyPI (docs/collecting.md).
"""

from lmev2.collecting import applications, recording_digest, sources_digest

APPLICATIONS = config["collect"]["applications"] or applications()


rule collect:
    """Record all applications and make a dataset of them."""
    input:
        "results/collect/dataset.meta.json",


rule install_collector:
    """Make the environments of the browser and of the applications' servers."""
    output:
        meta="results/collect/environments.meta.json",
    log:
        "results/logs/install_collector.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        applications=APPLICATIONS,
        collector=sources_digest("environments.py", "**/*requirements.txt"),
        code=FLOW.code("install_collector"),
    script:
        "../scripts/install_collector.py"


rule record_trajectories:
    """Record the runs on one application, beginning with a fresh database."""
    input:
        environments="results/collect/environments.meta.json",
    output:
        meta="results/collect/{application}/recorded.meta.json",
    log:
        "results/logs/record_trajectories/{application}.log",
    wildcard_constraints:
        application="|".join(APPLICATIONS) or "(?!)",
    conda:
        "../../envs/lmev2.yaml"
    params:
        only=config["collect"]["only"],
        collector=lambda wildcards: recording_digest(wildcards.application),
        code=FLOW.code("record_trajectories"),
    script:
        "../scripts/record_trajectories.py"


rule build_recorded_dataset:
    """Make a dataset of the recorded runs, with evidence labels found mechanically."""
    input:
        expand("results/collect/{application}/recorded.meta.json", application=APPLICATIONS),
    output:
        dataset=directory("results/collect/dataset"),
        meta="results/collect/dataset.meta.json",
    log:
        "results/logs/build_recorded_dataset.log",
    conda:
        "../../envs/lmev2.yaml"
    params:
        applications=APPLICATIONS,
        collector=sources_digest("**/*"),
        partial=bool(config["collect"]["applications"] or config["collect"]["only"]),
        code=FLOW.code("build_recorded_dataset"),
    script:
        "../scripts/build_recorded_dataset.py"

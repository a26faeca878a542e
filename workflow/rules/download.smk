"""Download: the released dataset in `dataset.path`, and the data check alone.

Neither rule has an output, so they run whenever they are named, and nothing else of the workflow depends on
them: a dataset that is there needs no network.
"""


rule download:
    """Put a verified copy of the released dataset into dataset.path; files that are there are verified only."""
    log:
        "results/logs/download.log",
    localrule: True
    conda:
        "../../envs/lmev2.yaml"
    params:
        dataset=str(FLOW.dataset),
    script:
        "../scripts/download.py"


rule validate:
    """Check the dataset whole, without any model, and write results/validate.md and .json."""
    log:
        "results/logs/validate.log",
    conda:
        "../../envs/lmev2.yaml"
    threads: 2
    params:
        dataset=FLOW.ingest_section,
        tiers=FLOW.given_tiers,
    script:
        "../scripts/validate.py"

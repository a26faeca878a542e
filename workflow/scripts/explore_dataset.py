"""Write the explorer's files of questions with their labels, trajectories and haystacks."""

from pathlib import Path

from lmev2.explorer.dataset import write_dataset
from lmev2.job import Job
from lmev2.stats.retrieval import read_evidence
from lmev2.store import read_rows

with Job(snakemake, "explore dataset") as job:
    given, out = snakemake.input, snakemake.output
    coverage = read_rows(given.coverage, ["question_id", "anchor_question_id"])
    write_dataset(
        Path(out.questions).parent,
        Path(out.images),
        questions=read_rows(given.questions),
        evidence=read_evidence(given.coverage),
        anchors={row["question_id"]: row["anchor_question_id"] for row in coverage},
        trajectories=read_rows(given.trajectories),
        haystacks={
            tier: read_rows(path) for tier, path in zip(job.params["tiers"], given.haystacks, strict=True)
        },
        question_images=Path(given.images),
    )
    job.meta()

"""What an export is made from: the stage files of one arm, cut to one domain."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmev2.official.refusals import Run
from lmev2.query import haystacks_of
from lmev2.store import read_rows

FILES = ("questions.jsonl", "trajectories.jsonl")


def load_run(
    arm: Mapping[str, Any], domain: str, tier: str, dataset: Path, files: Mapping[str, str | Path]
) -> tuple[Run, dict[str, str]]:
    """The run to export, and the paths in the dataset of its questions' images.

    Args:
        arm: what the config says of it (`Flow.export`).
        domain: its domain.
        tier: its tier.
        dataset: the dataset folder.
        files: `questions`, `query`, `read`, `judge`, `haystack`, and `dataset`, the meta file of ingest.
    """
    questions = [row for row in read_rows(files["questions"]) if row["domain"] == domain]
    ids = {row["question_id"] for row in questions}
    haystack = f"haystacks/lme_v2_{tier}.json"
    inputs = json.loads(Path(files["dataset"]).read_text(encoding="utf-8"))["inputs"]
    file = dataset / haystack
    run = Run(
        arm=arm,
        tier=tier,
        questions=questions,
        stages={
            stage: [row for row in read_rows(files[stage]) if row["question_id"] in ids]
            for stage in ("query", "read", "judge")
        },
        haystack=haystacks_of([row for row in read_rows(files["haystack"]) if row["question_id"] in ids]),
        digests={
            name: inputs[str(dataset / name)] for name in (*FILES, haystack) if str(dataset / name) in inputs
        },
        haystack_file=json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None,
    )
    named = _named_images(dataset / "questions.jsonl")
    images = {row["question_id"]: row["image"] for row in questions if row["image"]}
    return run, {id_: named.get(id_, path) for id_, path in images.items()}


def _named_images(file: Path) -> dict[str, str]:
    """Question -> the path of its image as the dataset names it; the table has a copy's."""
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="\n") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return {row["id"]: row["image"] for row in rows if row.get("image")}

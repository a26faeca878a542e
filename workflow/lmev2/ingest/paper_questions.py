"""The fields of the questions that only methods in paper mode see (`lmev2.memory.paper_mode`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmev2.ingest.defects import Place
from lmev2.ingest.jsonl import read_jsonl
from lmev2.ingest.questions import FILE


def read_paper_questions(dataset: str | Path) -> list[dict[str, Any]]:
    """The rows of `ingest/paper_questions.parquet`, in file order; ingest has checked the file."""
    rows = [row for _, row in read_jsonl(Path(dataset) / FILE, Place([], FILE), "id")]
    return [
        {
            "question_id": row["id"],
            "question_type": row["question_type"],
            "image": row.get("image"),
            "original_goals": original_goals(row),
        }
        for row in rows
    ]


def original_goals(row: Mapping[str, Any]) -> list[str]:
    """The goals that a question's row, or its `metadata`, names as its origin, each once."""
    metadata = row.get("metadata")
    sections = [row, metadata] if isinstance(metadata, Mapping) else [row]
    values = [section.get(key) for section in sections for key in ("original_goal", "original_goals")]
    goals = [goal for value in values for goal in (value if isinstance(value, list) else [value])]
    return list(
        dict.fromkeys(" ".join(goal.split()) for goal in goals if isinstance(goal, str) and goal.strip())
    )

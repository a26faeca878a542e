"""Figures of the paper (arXiv 2605.12493) and of its leaderboard, as data files.

Copied as printed. Some overall values are not the weighted means of their columns; they are kept.
"""

import csv
from pathlib import Path

# sha256 of questions.jsonl of the released dataset (Hugging Face xiaowu0162/longmemeval-v2).
RELEASED_QUESTIONS_SHA256 = "0a3ae5ebea938c24d7800e1e0b0828e08ae1646f939a53853b2b8cdc08e292b7"


def paper_file(name: str) -> Path:
    """The data file `name` (table1, table2, figure4, table6, frontier)."""
    return Path(__file__).parent / f"{name}.csv"


def read_paper(name: str) -> list[dict[str, str]]:
    """The rows of a data file, cells as written."""
    with paper_file(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def reference_frontier(tier: str) -> list[tuple[float, float]]:
    """The leaderboard's reference points of a tier: (accuracy in [0, 1], latency in seconds)."""
    return [
        (float(row["accuracy"]) / 100, float(row["latency_s"]))
        for row in read_paper("frontier")
        if row["tier"] == tier
    ]

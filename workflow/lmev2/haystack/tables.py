"""The tables of a tier: which trajectories, and apart from them their roles."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.store import write_table


def write_tier(
    haystacks: Mapping[str, Sequence[str]],
    coverage: Iterable[Mapping[str, Any]],
    out_table: str | Path,
    out_labels: str | Path,
) -> None:
    """Write a tier's haystacks as a table, and the role of each member apart.

    A trajectory is an "answer" where it occurs in its question's evidence labels and a "filler"
    elsewhere; the role is null for a question without labels.

    Args:
        haystacks: question id -> trajectory ids; they give the order of the rows.
        coverage: rows of the `coverage` table.
        out_table: file of the schema `haystack`.
        out_labels: file of the schema `haystack_labels`.
    """
    evidence: dict[str, set[str]] = {}
    for row in coverage:
        evidence.setdefault(row["question_id"], set()).add(row["trajectory_id"])
    table, labels = [], []
    for question_id, members in haystacks.items():
        answers = evidence.get(question_id)
        for position, trajectory_id in enumerate(members):
            key = {"question_id": question_id, "position": position}
            role = None if answers is None else "answer" if trajectory_id in answers else "filler"
            table.append({**key, "trajectory_id": trajectory_id})
            labels.append({**key, "role": role})
    write_table("haystack", table, out_table)
    write_table("haystack_labels", labels, out_labels)

"""Task families: named by the dataset, or else read off the goals."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def families_of(trajectories: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Trajectory id -> task family.

    Where the dataset names no family at all, trajectories of one domain whose goals differ only in
    numbers and quoted words are one family. A trajectory that it leaves out is a family of its own.

    Args:
        trajectories: rows of the `trajectories` table.
    """
    rows = list(trajectories)
    if any(row["family"] is not None for row in rows):
        return {
            row["trajectory_id"]: f"{row['domain']}/{row['family'] or row['trajectory_id']}" for row in rows
        }
    return {row["trajectory_id"]: f"{row['domain']}/{goal_pattern(row['goal'])}" for row in rows}


def goal_pattern(goal: str) -> str:
    """A goal without what differs between tasks of one kind: quoted words, numbers, case, spacing."""
    text = _NUMBER.sub("0", _QUOTED.sub('""', goal.lower()))
    return " ".join(text.split())

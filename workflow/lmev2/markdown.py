"""Markdown for reports."""

from collections.abc import Sequence
from typing import Any


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table; numbers to the right, with thousands separators. Empty without rows.

    Args:
        header: names of the columns.
        rows: whole numbers and texts; the first row tells which columns are numbers.
    """
    if not rows:
        return ""
    lines = [header, ["---" if isinstance(cell, str) else "---:" for cell in rows[0]], *rows]
    return "\n".join(
        f"| {' | '.join(str(c) if isinstance(c, str) else f'{c:,}' for c in line)} |" for line in lines
    )

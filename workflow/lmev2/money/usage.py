"""The usage columns of stage files, summed by the role of the model that was asked."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

COUNTS = ("calls", "attempts", "input_tokens", "output_tokens", "cost")


def usages(rows: Iterable[Mapping[str, Any]], role: str) -> Iterator[Mapping[str, Any]]:
    """The usage of each row, with its `role`.

    Args:
        rows: of a stage file with usage columns; one with `by_role` or `role` tells its roles itself.
        role: of the other rows.
    """
    for row in rows:
        yield from row.get("by_role", [{"role": role, **row}])


def usage_by_role(rows: Iterable[Mapping[str, Any]], role: str) -> dict[str, dict[str, float]]:
    """Role -> its calls, attempts, tokens and cost over all `rows` (see `usages`)."""
    sums: dict[str, dict[str, float]] = {}
    for usage in usages(rows, role):
        if usage["attempts"]:
            sum_ = sums.setdefault(usage["role"], dict.fromkeys(COUNTS, 0))
            for name in COUNTS:
                sum_[name] += usage[name]
    return sums

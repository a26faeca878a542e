"""From the slices found by several queries to one list."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Found = TypeVar("Found")
RULES = ("code", "paper")


def kept_per_query(queries: int, budget: int = 6, rule: str = "code") -> int:
    """How many results each of some queries may add.

    The released code divides the budget among up to three queries and gives each of more queries two,
    so that four or five queries yield more than the budget. The paper's text says m = min(2, 6 // n).

    Raises:
        ValueError: there is no such rule.
    """
    if rule == "code":
        return max(1, budget // queries) if queries <= 3 else 2
    if rule == "paper":
        return min(2, budget // queries)
    raise ValueError(f"merge must be one of {', '.join(RULES)}, it is {rule!r}")


def merge(
    ranked: Sequence[Sequence[Found]],
    key: Callable[[Found], Hashable],
    budget: int = 6,
    rule: str = "code",
) -> list[Found]:
    """Merge the results of the queries, in the order of the queries, each result once.

    Args:
        ranked: per query its results, best first.
        key: what makes two results the same entry.
        budget: see `kept_per_query`.
        rule: "code" or "paper".

    Returns:
        of each query the best results that no earlier query has brought, at most `kept_per_query`.
    """
    merged: list[Found] = []
    seen: set[Hashable] = set()
    for results in ranked:
        new = [result for result in results if key(result) not in seen]
        kept = new[: kept_per_query(len(ranked), budget, rule)]
        seen.update(map(key, kept))
        merged += kept
    return merged

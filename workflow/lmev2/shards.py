"""Shards: the questions of one arm and tier in several jobs, and their tables put together again.

A question's shard depends on its id and the number of shards alone. What a shard asks is journaled under
the same keys as ever, so that another number of shards asks nothing anew.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmev2.money.usage import usage_by_role

# What the rule of a shard is called after the rule of the stage.
SUFFIX = "_shard"
# Role of the usage columns that do not name it themselves.
ROLES = {"query": "", "read": "reader", "judge": "judge"}


@dataclass(frozen=True)
class Shard:
    """One of `count` parts of all questions; `number` counts from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        """How titles name it; empty for the whole."""
        return f" {self.number}/{self.count}" if self.count > 1 else ""

    def holds(self, question_id: str) -> bool:
        """Whether the question is in this part; it is in exactly one."""
        digest = hashlib.sha256(question_id.encode()).digest()
        return int.from_bytes(digest) % self.count == self.number - 1


def shard_of(wildcards: Mapping[str, str]) -> Shard:
    """The shard of a job: its wildcards `shard` and `shards`, or the whole where it has none."""
    return Shard(int(wildcards.get("shard", 1)), int(wildcards.get("shards", 1)))


def gather(parts: Iterable[Sequence[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """The rows of all shards in the order of a stage file."""
    rows = [row for part in parts for row in part]
    return sorted(rows, key=lambda row: (row["question_id"], row["repeat"]))


def gathered_meta(
    stage: str, rows: Iterable[Mapping[str, Any]], metas: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the meta file of the whole says (`provenance.write_meta`), from those of its shards.

    Args:
        stage: query, read or judge.
        rows: of the whole.
        metas: meta files of the shards; they were made from the same params and inputs.
    """
    first = metas[0]
    return {
        "stage": first["stage"].removesuffix(SUFFIX),
        "params": first["params"],
        "counts": _sum([meta["counts"] for meta in metas]),
        # Added up row by row as a single job does, as sums of floats depend on their order; an arm that asks
        # no model through the door has none.
        "usage": usage_by_role(rows, ROLES[stage]) if any(meta["usage"] for meta in metas) else {},
        "inputs": first["inputs"],
    }


def _sum(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts, nested ones as well, added up key by key."""
    total: dict[str, Any] = {}
    for key in sorted({key for count in counts for key in count}):
        values = [count[key] for count in counts if key in count]
        total[key] = _sum(values) if isinstance(values[0], Mapping) else sum(values)
    return total

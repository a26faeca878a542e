"""The budget: a run stops before it spends more than its config allows.

What counts is all that the journal holds of model calls, whoever made them: parallel jobs and other
machines that share the journal share the budget, and a run that goes on after a stop does not begin at
nothing. The bound holds within what other jobs have in flight or have finished in the last second
(`STALE_SECONDS`); a job's own calls are reserved at their highest cost while they are in flight.
Attempts that failed are not journaled and do not count.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pyarrow.parquet as pq

from lmev2.llm.faults import EndpointError
from lmev2.process import is_gone

STALE_SECONDS = 1.0
# The journal of finished queries sums up calls that the other namespaces hold one by one; only what
# coding agents spent is nowhere else.
QUERIES, AGENT = "query", "agent"
# Records are canonical JSON: keys are sorted, and no text comes before the cost.
_COST = re.compile(rb'"cost":([-+.\deE]+)')
_AGENT_MARK = b'"role":"agent"'  # within a text its quotes would be escaped


class BudgetError(EndpointError):
    """The next call could take the costs beyond the budget: no further one is made."""


class Spending:
    """What a journal's model calls have cost, by namespace; cheap to look at again.

    Args:
        journal: folder of the journal.
    """

    def __init__(self, journal: str | Path) -> None:
        self._journal = Path(journal)
        self._sums: dict[Path, float] = {}
        self._read_to: dict[Path, int] = {}

    def by_role(self) -> dict[str, float]:
        """Namespace -> sum of the costs recorded in it until now."""
        listed = set(self._journal.glob("*/*.jsonl")) | set(self._journal.glob("*/*.parquet"))
        # A part that is just being compacted lies there twice.
        parts = {
            path for path in listed if path.suffix != ".jsonl" or path.with_suffix(".parquet") not in listed
        }
        sums: dict[str, float] = {}
        for path in sorted(parts):
            role = AGENT if path.parent.name == QUERIES else path.parent.name
            sums[role] = sums.get(role, 0.0) + self._cost_of(path)
        return {role: cost for role, cost in sums.items() if cost}

    def _cost_of(self, path: Path) -> float:
        cost = _agent_cost if path.parent.name == QUERIES else _call_cost
        if path.suffix == ".parquet":
            if path not in self._sums:
                batches = pq.ParquetFile(path).iter_batches(batch_size=256, columns=["value"])
                values = (value for batch in batches for value in batch.column("value").to_pylist())
                self._sums[path] = sum(cost(value.encode()) for value in values)
            return self._sums[path]
        start = self._read_to.get(path, 0)
        try:
            with path.open("rb") as part:
                part.seek(start)
                lines = part.read()
        except OSError as error:
            if not is_gone(error):
                raise
            # Compacted since it was listed.
            return self._cost_of(path.with_suffix(".parquet"))
        complete = lines[: lines.rfind(b"\n") + 1]  # the last line may still be being written
        self._sums[path] = self._sums.get(path, 0.0) + sum(map(cost, complete.split(b"\n")))
        self._read_to[path] = start + len(complete)
        return self._sums[path]


def _call_cost(record: bytes) -> float:
    found = _COST.search(record)
    return float(found[1]) if found else 0.0


def _agent_cost(record: bytes) -> float:
    if _AGENT_MARK not in record:
        return 0.0
    row = json.loads(record[record.index(b"{") :])
    return sum(usage["cost"] for usage in row["by_role"] if usage["role"] == AGENT)


class Budget:
    """Guards the calls of one job.

    Args:
        limit: in the currency of the config's prices; None for no limit.
        journal: folder of the journal.
    """

    def __init__(self, limit: float | None, journal: str | Path) -> None:
        self.limit = limit
        self._spending = Spending(journal)
        self._spent: Mapping[str, float] = {}
        self._looked_at = float("-inf")
        self._in_flight = 0.0
        self._calls = 0
        self._ended = asyncio.Event()

    def check(self, role: str, expected_cost: float) -> None:
        """See that a call of `role` that may cost `expected_cost` stays within the budget.

        Raises:
            BudgetError: it may not.
        """
        if not self._fits(expected_cost):
            by_role = ", ".join(f"{name} {cost:.4g}" for name, cost in sorted(self._spent.items()) if cost)
            raise BudgetError(
                f"budget: {sum(self._spent.values()):.4g} of {self.limit:g} is spent "
                f"({by_role or 'nothing yet'}) and the next {role} call may cost {expected_cost:.4g}. All "
                "finished work is kept: raise `budget` in the config and run the same command again to go "
                "on; `snakemake estimate` says what is left"
            )

    @asynccontextmanager
    async def reserved(self, role: str, expected_cost: float) -> AsyncIterator[None]:
        """Make a call in the block, with its cost set aside.

        Waits while calls of this job that are in flight may use up what is left, so that none of them
        is broken off when the budget ends.

        Raises:
            BudgetError: the call may pass the budget even when nothing else is in flight.
        """
        if self.limit is None or not expected_cost:
            yield
            return
        while self._calls and not self._fits(expected_cost):
            self._ended.clear()
            await self._ended.wait()
        self.check(role, expected_cost)
        self._calls += 1
        self._in_flight += expected_cost
        try:
            yield
        finally:
            self._calls -= 1
            self._in_flight = self._in_flight - expected_cost if self._calls else 0.0
            # No task waits between here and the record, so whoever looks next finds the true cost.
            self._looked_at = float("-inf")
            self._ended.set()

    def _fits(self, cost: float) -> bool:
        if self.limit is None or not cost:
            return True
        now = time.monotonic()
        if now - self._looked_at >= STALE_SECONDS:
            self._spent, self._looked_at = self._spending.by_role(), now
        # Sums of many small floats may miss the limit by a hair.
        return sum(self._spent.values()) + self._in_flight + cost <= self.limit * (1 + 1e-9)

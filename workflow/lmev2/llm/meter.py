"""Where a query's time goes, and what its model calls cost.

The meter of the running query lies in a context variable, so that methods need not hand it through.
A call that the journal answers books the latency that it had when it was first made, not the time of
the look-up: a query's latency is the same whether its calls were made now or before a crash.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from lmev2.llm.reply import Reply, usage_columns

PARTS = ("model_s", "embed_s", "search_s", "render_s")


class Meter:
    """Adds up one query: replies, embedding tokens, seconds by part."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.attempts: list[Reply] = []  # of a coding agent
        self.embeddings: dict[str, Any] = usage_columns([])
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self.trace: dict[str, Any] = {}  # what a method wants to be known of how it found its context
        self.not_latency_s = 0.0  # wall time of waits and look-ups, to be taken off the query's own
        self.booked_s = 0.0  # latency of calls, made now or recorded, to be added instead

    def chat(self, reply: Reply, *, elapsed: float) -> None:
        """Book one chat call that took `elapsed` seconds of wall time here."""
        self.replies.append(reply)
        self.seconds["model_s"] += reply.latency_s
        self.booked_s += reply.latency_s
        self.not_latency_s += elapsed

    def agent(self, attempt: Reply) -> None:
        """Book one attempt of a coding agent; its time is a part of the query's own."""
        self.attempts.append(attempt)
        self.seconds["model_s"] += attempt.latency_s

    def embed(self, records: Mapping[str, Mapping[str, Any]], *, elapsed: float) -> None:
        """Book the embedding of some distinct texts, by the key of their request."""
        seconds = 0.0
        for key, record in records.items():
            self.embeddings["model"] = record["model"]
            self.embeddings["request"] = key
            self.embeddings["calls"] += 1
            for name in ("attempts", "input_tokens", "cost", "latency_s", "queue_wait_s", "retry_wait_s"):
                self.embeddings[name] += record[name]
            seconds += record["latency_s"]
        self.seconds["embed_s"] += seconds
        self.booked_s += seconds
        self.not_latency_s += elapsed

    def by_role(self) -> list[dict[str, Any]]:
        """The usage columns of each role that was asked (`records.BY_ROLE`)."""
        found = {
            "controller": usage_columns(self.replies),
            "embedding": self.embeddings,
            "agent": usage_columns(self.attempts),
        }
        return [{"role": role, **usage} for role, usage in found.items() if usage["attempts"]]

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Book the block's time, less that of model calls in it, as `name` (one of PARTS)."""
        began, calls = time.perf_counter(), self.not_latency_s
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - began - (self.not_latency_s - calls)


METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """A new meter for the calls made in the block."""
    meter = Meter()
    token = METER.set(meter)
    try:
        yield meter
    finally:
        METER.reset(token)


def timed(part: str) -> AbstractContextManager[None]:
    """Book the time of a `with` block as `part` (one of PARTS) of the running query, if one is running."""
    meter = METER.get()
    return meter.part(part) if meter else nullcontext()

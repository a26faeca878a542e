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

from lmev2.llm.reply import Reply

PARTS = ("model_s", "embed_s", "search_s", "render_s")


class Meter:
    """Adds up one query: replies, embedding tokens, seconds by part."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.embedding_calls = 0
        self.embedding_tokens = 0
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self.trace: dict[str, Any] = {}  # what a method wants to be known of how it found its context
        self.queue_wait_s = 0.0
        self.not_latency_s = 0.0  # wall time of waits and look-ups, to be taken off the query's own
        self.booked_s = 0.0  # latency of calls, made now or recorded, to be added instead

    def chat(self, reply: Reply, *, elapsed: float) -> None:
        """Book one chat call that took `elapsed` seconds of wall time here."""
        self.replies.append(reply)
        self.seconds["model_s"] += reply.latency_s
        self.booked_s += reply.latency_s
        self.not_latency_s += elapsed

    def embed(self, records: Mapping[str, Mapping[str, Any]], *, elapsed: float) -> None:
        """Book the embedding of some distinct texts."""
        seconds = sum(record["latency_s"] for record in records.values())
        self.embedding_calls += len(records)
        self.embedding_tokens += sum(record["input_tokens"] for record in records.values())
        self.queue_wait_s += sum(record["queue_wait_s"] for record in records.values())
        self.seconds["embed_s"] += seconds
        self.booked_s += seconds
        self.not_latency_s += elapsed

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
    """`with timed("search_s"):` books the block's time on the running query, if one is running."""
    meter = METER.get()
    return meter.part(part) if meter else nullcontext()

"""The query stage: each question asked of its haystack's memory, timed, journaled once finished.

What a query may know is what this module reads: `query_questions` (id, text, image), the haystack
table, the trajectories and the shared pools. The id stays here; a method gets text and image.
"""

import asyncio
import hashlib
import inspect
import json
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image as Picture

from lmev2.image import Image
from lmev2.journal import Journal, JournalMissError, JournalWriteError, request_key
from lmev2.llm.meter import Meter, metered
from lmev2.llm.reply import usage_columns
from lmev2.memory.protocol import Item, Question
from lmev2.memory.services import Services
from lmev2.memory.view import HaystackView, Pool
from lmev2.records import Status
from lmev2.rows import gather_rows
from lmev2.store import canonical_json
from lmev2.trajectory import Trajectories

Haystack = tuple[str, ...]


@dataclass(frozen=True)
class Method:
    """One arm of the experiment: a memory class with its options, as the config names it.

    `identity` is what its results depend on besides question, haystack and pools: class, code digest,
    options, prompts, models.
    """

    cls: type[Any]
    options: Mapping[str, Any]
    identity: Mapping[str, Any]
    pools: tuple[str, ...] = ()
    concurrency: int = 1


@dataclass
class Runner:
    """Asks questions of one method.

    Args:
        method: the arm.
        trajectories: the ingested trajectories.
        pools: the shared pools that the method reads, by name.
        services: repeat -> what the method may call.
        journal: where finished queries are kept.
        again: statuses of finished queries that are to be asked again.
    """

    method: Method
    trajectories: Trajectories
    pools: Mapping[str, Pool]
    services: Callable[[int], Services]
    journal: Journal
    again: Collection[str] = ()
    made: int = 0
    _in_flight: int = field(default=0, init=False)

    async def run(
        self,
        questions: Mapping[str, Question],
        haystacks: Mapping[str, Haystack],
        repeats: int,
        progress: Callable[[], None],
    ) -> list[dict[str, Any]]:
        """Ask every question `repeats` times.

        Returns:
            the columns of the query table but for method, operating_point and tier, by id and repeat.
        """
        slots = asyncio.Semaphore(self.method.concurrency)
        rows: dict[tuple[str, int], dict[str, Any]] = {}
        for repeat in range(repeats):
            for haystack, ids in _by_haystack(questions, haystacks):
                memory = _Lazy(lambda haystack=haystack, repeat=repeat: self._build(haystack, repeat))
                digest = self._haystack_digest(haystack)

                async def ask(
                    id_: str, repeat: int = repeat, memory: _Lazy = memory, digest: str = digest
                ) -> None:
                    async with slots:
                        rows[id_, repeat] = await self._finished(questions[id_], digest, repeat, memory)

                await gather_rows([partial(ask, id_) for id_ in ids], progress)
        return [{"question_id": id_, "repeat": repeat, **rows[id_, repeat]} for id_, repeat in sorted(rows)]

    def _haystack_digest(self, haystack: Haystack) -> str:
        """Of all that the method can read of its haystack."""
        read = [
            [
                id_,
                self.trajectories.fingerprint(id_),
                *(self.pools[name].digest(id_) for name in self.method.pools),
            ]
            for id_ in haystack
        ]
        return request_key(read)

    async def _finished(
        self, question: Question, haystack: str, repeat: int, memory: "_Lazy"
    ) -> dict[str, Any]:
        request = {
            "kind": "query",
            **self.method.identity,
            "question": [question.text, question.image.sha256 if question.image else None],
            "haystack": haystack,
            "repeat": repeat,
        }

        async def make(_: str) -> dict[str, Any]:
            built, insert_s = await memory.get()
            return await self._ask(built, question, insert_s)

        return await self.journal.once(request, make, again=self.again)

    async def _build(self, haystack: Haystack, repeat: int) -> tuple[Any, float]:
        """A memory over `haystack`, and the seconds that inserting took."""
        memory = self.method.cls(self.method.options, self.services(repeat))
        began = time.perf_counter()
        if hasattr(memory, "insert"):
            for trajectory_id in haystack:
                await _settled(memory.insert(self.trajectories[trajectory_id]))
        insert_s = time.perf_counter() - began
        if hasattr(memory, "attach"):
            memory.attach(HaystackView(haystack, self.trajectories, self.pools))
        return memory, insert_s

    async def _ask(self, memory: Any, question: Question, insert_s: float) -> dict[str, Any]:
        self._in_flight += 1
        in_flight = self._in_flight
        self.made += 1
        status, error, items = Status.OK, "", []
        with metered() as meter:
            began = time.perf_counter()
            try:
                items = _checked(await _settled(memory.query(question)))
            except (JournalMissError, JournalWriteError):
                raise
            except Exception as raised:  # the method's own fault: a row with a status, not a lost run
                status, error = Status.QUERY_FAILED, f"{type(raised).__name__}: {raised}"
            finally:
                wall = time.perf_counter() - began
                self._in_flight -= 1
        return {
            "status": str(status),
            "error": error,
            "items": [item_row(item) for item in items],
            "insert_s": insert_s,
            "in_flight": in_flight,
            "trace": canonical_json(meter.trace),
            **_usage(meter, wall),
        }


class _Lazy:
    """A memory that is built when the first question needs it, and once."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self._task: asyncio.Task | None = None

    async def get(self) -> tuple[Any, float]:
        if self._task is None:
            self._task = asyncio.ensure_future(self._build())
        return await self._task


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _checked(items: Any) -> list[Item]:
    if not isinstance(items, Sequence) or not all(isinstance(item, Item) for item in items):
        raise TypeError(f"`query` must return a list of Item, not {items!r:.200}")
    return list(items)


def _usage(meter: Meter, wall: float) -> dict[str, Any]:
    """Usage columns and the parts of the latency (DESIGN: waits are columns of their own)."""
    usage = usage_columns(meter.replies)
    latency = max(0.0, wall - meter.not_latency_s + meter.booked_s)
    usage["calls"] += meter.embedding_calls
    usage["attempts"] += meter.embedding_calls
    usage["input_tokens"] += meter.embedding_tokens
    usage["queue_wait_s"] += meter.queue_wait_s
    usage["latency_s"] = latency
    return {**usage, **meter.seconds, "other_s": latency - sum(meter.seconds.values())}


def item_row(item: Item) -> dict[str, Any]:
    """An item as a value of the column `items` (`records.ITEM`)."""
    image = item.image
    return {
        "kind": item.kind,
        "text": item.text,
        "image": str(image.path) if image else None,
        "image_sha256": image.sha256 if image else None,
        "width": image.width if image else None,
        "height": image.height if image else None,
        "source": item.source,
        "trajectory_id": item.trajectory_id,
        "first_state": item.first_state,
        "last_state": item.last_state,
    }


def _by_haystack(
    questions: Mapping[str, Question], haystacks: Mapping[str, Haystack]
) -> Iterator[tuple[Haystack, list[str]]]:
    """Questions that share a haystack together, so that a memory is built once for all of them."""
    groups: dict[Haystack, list[str]] = defaultdict(list)
    for id_ in questions:
        groups[haystacks[id_]].append(id_)
    yield from groups.items()


def question_of(row: Mapping[str, Any]) -> Question:
    """The question as a method sees it, from a row of `query_questions`."""
    image = None
    if row["image"] is not None:
        path = Path(row["image"])
        with Picture.open(path) as picture:
            image = Image(path, row["image_sha256"], *picture.size)
    handle = hashlib.sha256(json.dumps([row["text"], row["image_sha256"]]).encode()).hexdigest()[:16]
    return Question(handle, row["text"], image)


def haystacks_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Haystack]:
    """Question id -> its trajectories in order, from the haystack table."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in rows:
        found[row["question_id"]].append((row["position"], row["trajectory_id"]))
    return {id_: tuple(trajectory for _, trajectory in sorted(places)) for id_, places in found.items()}

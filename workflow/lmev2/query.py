"""The query stage: each question asked of its haystack's memory, timed, journaled once finished.

What a query may know is what this module reads: `query_questions` (id, text, image), the haystack
table, the trajectories and the shared pools. The id stays here; a method gets text and image.
"""

import asyncio
import hashlib
import inspect
import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image as Picture

from lmev2.agent.interface import AgentFailedError
from lmev2.errors import UndeclaredError, UserError, describe
from lmev2.image import Image
from lmev2.journal import Journal, JournalMissError, JournalWriteError, request_key
from lmev2.llm.faults import ModelError
from lmev2.llm.meter import Meter, metered
from lmev2.llm.models import Model
from lmev2.llm.reply import usage_columns
from lmev2.memory.protocol import Item, Question
from lmev2.memory.registry import memory_class
from lmev2.memory.services import Services
from lmev2.memory.view import HaystackView, Pool
from lmev2.prompts import Prompts
from lmev2.records import Status
from lmev2.rows import gather_rows
from lmev2.store import canonical_json
from lmev2.trajectory import Trajectories

Haystack = tuple[str, ...]


class MemoryBuildError(UserError):
    """A method failed before its first query."""


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


def method_of(
    params: Mapping[str, Any], models: Mapping[str, Model], prompts: Prompts, concurrency: int
) -> Method:
    """The method that the params of the query stage describe (`Flow.query`).

    Args:
        params: of the rule, those of the arm unpacked.
        models: role -> the models that it may ask.
        prompts: its templates.
        concurrency: queries side by side.
    """
    reference = params["method"]["class"]
    return Method(
        cls=memory_class(reference),
        options=params["options"],
        identity={
            "class": reference,
            "code": params["method_code"],
            "options": params["options"],
            "prompts": prompts.sha256,
            "models": {role: model.identity() for role, model in models.items()},
            "best_chunks": params["best_chunks"],
            **({"agent": params["agent"]} if params["agent"] else {}),
        },
        pools=tuple(params["pools"]),
        concurrency=concurrency,
    )


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

        async def ask(id_: str, repeat: int, memory: _Lazy, digest: str) -> None:
            try:
                async with slots:
                    rows[id_, repeat] = await self._finished(questions[id_], digest, repeat, memory)
            finally:
                await memory.left()

        work = []
        for repeat in range(repeats):
            for haystack, ids in _by_haystack(questions, haystacks):
                asked = [questions[id_] for id_ in ids]
                memory = _Lazy(partial(self._build, haystack, asked, repeat), len(ids))
                digest = self._haystack_digest(haystack)
                work += [partial(ask, id_, repeat, memory, digest) for id_ in ids]
        await gather_rows(work, progress)
        prompts = {"prompt_sha256": self.method.identity.get("prompts", "")}
        return [
            {"question_id": id_, "repeat": repeat, **prompts, **rows[id_, repeat]}
            for id_, repeat in sorted(rows)
        ]

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
        async def make(_: str) -> dict[str, Any]:
            built, insert_s = await memory.get()
            return await self._ask(built, question, insert_s)

        return await self.journal.once(self._request(question, haystack, repeat), make, again=self.again)

    def recorded(
        self, questions: Mapping[str, Question], haystacks: Mapping[str, Haystack], repeats: int
    ) -> dict[tuple[str, int], dict[str, Any] | None]:
        """What the journal holds of `run`, by question id and repeat; None where a query is to be made."""
        digests = {haystack: self._haystack_digest(haystack) for haystack in set(haystacks.values())}
        return {
            (id_, repeat): self.journal.recorded(
                self._request(question, digests[haystacks[id_]], repeat), self.again
            )
            for repeat in range(repeats)
            for id_, question in questions.items()
        }

    def _request(self, question: Question, haystack: str, repeat: int) -> dict[str, Any]:
        return {
            "kind": "query",
            **self.method.identity,
            "question": question.identity,
            "haystack": haystack,
            "repeat": repeat,
        }

    async def _build(self, haystack: Haystack, asked: Sequence[Question], repeat: int) -> tuple[Any, float]:
        """A memory over `haystack`, and the seconds that inserting took.

        A class with `expect` is first told what will be `asked`: official backends look it up in a file.

        Raises:
            MemoryBuildError: the method failed; nothing can be asked of half a memory.
        """
        doing = "making the memory"
        try:
            memory = self.method.cls(self.method.options, self.services(repeat))
            if hasattr(memory, "expect"):
                memory.expect(asked)
            began = time.perf_counter()
            if hasattr(memory, "insert"):
                for trajectory_id in haystack:
                    doing = f"inserting trajectory {trajectory_id}"
                    await _settled(memory.insert(self.trajectories[trajectory_id]))
            insert_s = time.perf_counter() - began
            doing = "attaching the haystack"
            if hasattr(memory, "attach"):
                await _settled(memory.attach(HaystackView(haystack, self.trajectories, self.pools)))
        except UserError:
            raise
        except Exception as raised:  # whatever a method may do
            raise MemoryBuildError(f"{self.method.cls.__name__}: {doing}: {describe(raised)}") from raised
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
            except (JournalMissError, JournalWriteError, UndeclaredError, ModelError):
                raise
            except AgentFailedError as raised:
                status, error = Status.AGENT_FAILED, str(raised)
            except Exception as raised:  # the method's own fault: a row with a status, not a lost run
                status, error = Status.QUERY_FAILED, f"{type(raised).__name__}: {raised}"
                logging.warning("question %s", question.handle, exc_info=raised)
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
    """A memory that is built once, when the first of its questions needs it, and given up after the last."""

    def __init__(self, build: Callable[[], Any], questions: int) -> None:
        self._build = build
        self._questions = questions
        self._task: asyncio.Task | None = None

    async def get(self) -> tuple[Any, float]:
        if self._task is None:
            self._task = asyncio.ensure_future(self._build())
        return await self._task

    async def left(self) -> None:
        """One question is done with it; after the last one it is closed, if its class has `close`."""
        self._questions -= 1
        if self._questions or self._task is None:
            return
        task, self._task = self._task, None
        if task.done() and not task.cancelled() and task.exception() is None:
            memory, _ = task.result()
            if hasattr(memory, "close"):
                await _settled(memory.close())


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _checked(items: Any) -> list[Item]:
    if not isinstance(items, Sequence) or not all(isinstance(item, Item) for item in items):
        raise TypeError(f"`query` must return a list of Item, not {items!r:.200}")
    return list(items)


def _usage(meter: Meter, wall: float) -> dict[str, Any]:
    """Usage columns and the parts of the latency (waits are columns of their own)."""
    usage = usage_columns([*meter.replies, *meter.attempts])
    for name in ("calls", "attempts", "input_tokens", "cost", "queue_wait_s", "retry_wait_s"):
        usage[name] += meter.embeddings[name]
    usage["latency_s"] = latency = max(0.0, wall - meter.not_latency_s + meter.booked_s)
    other = latency - sum(meter.seconds.values())
    return {**usage, **meter.seconds, "other_s": other, "by_role": meter.by_role()}


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


def trace_counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For the meta file: how the controllers' replies came out, and the screenshots that were missing."""
    traces = [json.loads(row["trace"]) for row in rows]
    outcomes = Counter(trace["controller"] for trace in traces if "controller" in trace)
    missing = [trace["missing_screenshots"] for trace in traces if "missing_screenshots" in trace]
    return {
        **({"controller": dict(outcomes)} if outcomes else {}),
        **({"missing_screenshots": sum(missing)} if missing else {}),
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

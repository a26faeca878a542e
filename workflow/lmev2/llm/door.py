"""The one door to every model: journaled, paid once, measured.

A request is built once, as canonical JSON with images by their sha256; its sha256 is the key of the
journal. Endpoint, key, time limits and concurrency are not in it.
"""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lmev2.journal import Journal, request_key
from lmev2.llm.address import located
from lmev2.llm.attempts import Timing, attempt
from lmev2.llm.engine import Answer, Embedded, Engine, Message, estimated_tokens
from lmev2.llm.faults import EmbeddingError, OverlongError, RejectedError
from lmev2.llm.limits import Limits
from lmev2.llm.meter import METER
from lmev2.llm.models import Model
from lmev2.llm.reply import Reply
from lmev2.money.budget import Budget
from lmev2.records import Status
from lmev2.rows import gather_rows
from lmev2.tokens import approximate_tokens

# Replies that another asking may better; the others count at once.
FRUITLESS = (Status.LENGTH_NO_ANSWER, Status.EMPTY_REPLY, Status.CONTENT_FILTER, Status.REFUSAL)

Result = TypeVar("Result")


def engine_of(model: Model) -> Engine:
    """The engine behind `model`, for the running event loop.

    Raises:
        EndpointError: the environment lacks the model's key, or no server tells its address.
    """
    if model.provider == "embedded":
        return Embedded()
    from lmev2.llm.remote import Remote  # slow to import, and no embedded run needs it

    return Remote(located(model))


@dataclass(frozen=True)
class Embeddings:
    """Vectors of some texts, float32 [n, d] with unit rows, and which of the n texts have none.

    A text without a single known word has no direction: its row is zero and `empty` is True. `was_cut` is
    True where a text's end did not fit the model.
    """

    vectors: np.ndarray
    empty: np.ndarray
    was_cut: np.ndarray


class Line(NamedTuple):
    """A model as one event loop reaches it."""

    engine: Engine
    limits: Limits


class Door:
    """Calls models for one job; every reply goes through the journal.

    Args:
        models: role -> model.
        journal: folder of the journal; each role has a namespace in it.
        replay: True makes a call that is not in the journal an error; then no key and no network is needed.
        again: statuses of recorded replies that are to be asked again (config: retry_statuses).
        slots: role -> requests in flight that this job was granted; without: the role's concurrency.
        engines: makes the engine of a model, when it is first called.
        budget: stops the calls before they cost too much; without: no limit.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        journal: str | Path,
        *,
        replay: bool = False,
        again: Collection[str] = (),
        slots: Mapping[str, int] | None = None,
        engines: Callable[[Model], Engine] = engine_of,
        budget: Budget | None = None,
    ) -> None:
        self.models = dict(models)
        self._journals = {role: Journal(Path(journal) / role, replay=replay) for role in models}
        self._slots = dict(slots or {})
        self._engines = engines
        self.budget = budget or Budget(None, journal)
        self._lines: dict[asyncio.AbstractEventLoop, dict[str, Line]] = {}
        self._again = frozenset(again)
        self._dimension: int | None = None  # of all vectors that this door has seen
        self._largest_batch: int | None = None  # that the embedding server takes, once it has refused one
        self.calls_made = 0  # since this door was opened; replays do not count

    def __enter__(self) -> "Door":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for journal in self._journals.values():
            journal.__exit__(kind)

    @property
    def damaged(self) -> list[str]:
        """Journal records that could not be read."""
        return [notice for journal in self._journals.values() for notice in journal.damaged]

    def run(self, work: Awaitable[Result]) -> Result:
        """`asyncio.run`, with connections closed in the loop that opened them."""

        async def main() -> Result:
            try:
                return await work
            finally:
                await self.close()

        return asyncio.run(main())

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        for line in self._lines.pop(asyncio.get_running_loop(), {}).values():
            await line.engine.close()

    def _line(self, role: str) -> Line:
        # Connections, semaphores and limiters are of use only in the loop that they were made in.
        lines = self._lines.setdefault(asyncio.get_running_loop(), {})
        if role not in lines:
            model = self.models[role]
            lines[role] = Line(self._engines(model), Limits(model.limits, self._slots.get(role)))
        return lines[role]

    async def chat(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        repeat: int = 0,
        ask: int = 0,
        sampling: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The model's reply to `messages`.

        Args:
            role: "reader", "controller" or "judge".
            messages: OpenAI style; an image part is `Image.part()`.
            repeat: repeats are calls of their own.
            ask: number of times that the same was asked before because the reply was of no use.
            sampling: values that replace the role's own, e.g. thinking off.

        Raises:
            ItemError: this call came to nothing; nothing is recorded, others may succeed.
            EndpointError: no call to this model can succeed.
            BudgetError: it could cost more than what is left.
            JournalMissError: a replay, and this call was never made.
        """
        model = self.models[role]
        request = chat_request(model, messages, repeat=repeat, ask=ask, sampling=sampling)
        began = time.perf_counter()

        async def make(key: str) -> dict[str, Any]:
            dearest = model.cost(estimated_tokens(messages), request["sampling"].get("max_tokens", 0))
            async with self.budget.reserved(role, dearest):
                # Repeats lie far apart, so that the askings of one are not those of the next.
                reply = await self._chat(model, messages, request["sampling"], 1000 * repeat + ask, key)
            return reply.to_dict()

        reply = Reply.from_dict(await self._journals[role].once(request, make, again=self._again))
        if meter := METER.get():
            meter.chat(reply, elapsed=time.perf_counter() - began)
        return reply

    async def _chat(
        self, model: Model, messages: Sequence[Message], sampling: Mapping[str, Any], nth: int, key: str
    ) -> Reply:
        """Ask until there is a text, at most `answer_attempts` times."""
        line, estimate = self._line(model.role), estimated_tokens(messages)
        answers: list[Answer] = []
        timings: list[Timing] = []
        while not answers or (
            answers[-1].status in FRUITLESS and len(answers) < model.limits["answer_attempts"]
        ):
            asking = nth + len(answers)
            answer, timing = await attempt(
                lambda asking=asking: line.engine.chat(messages, sampling, asking),
                line.limits,
                model.limits,
                tokens=estimate,
            )
            line.limits.settle(estimate, answer.input_tokens + answer.output_tokens)
            answers.append(answer)
            timings.append(timing)
        self.calls_made += 1
        tokens = [
            sum(answer.input_tokens for answer in answers),
            sum(answer.output_tokens for answer in answers),
        ]
        return Reply(
            text=_encodable(answer.text),
            reasoning=_encodable(answer.reasoning),
            finish_reason=answer.finish_reason,
            status=answer.status,
            model=model.name,
            request=key,
            calls=1,
            attempts=sum(timing.attempts for timing in timings),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cost=model.cost(*tokens),
            latency_s=timing.latency_s,
            queue_wait_s=sum(timing.queue_wait_s for timing in timings),
            retry_wait_s=sum(timing.retry_wait_s for timing in timings)
            + sum(timing.latency_s for timing in timings[:-1]),
            error=_encodable(answer.error),
        )

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed `texts` with the embedding model, each distinct text once; returns them in order.

        Raises:
            ItemError: some could not be embedded; the others are recorded.
            EmbeddingError: a vector has another dimension than the others.
        """
        journal, model = self._journals["embedding"], self.models["embedding"]
        keys = {text: request_key(embedding_request(model, text)) for text in dict.fromkeys(texts)}
        text_of = {key: text for text, key in keys.items()}
        began = time.perf_counter()
        missing = [key for key in text_of if key not in journal]
        known = next((key for key in text_of if key in journal), None)
        if known and self._dimension is None:
            self._dimension = len(_values(journal.get(known)))
        size = model.limits["batch"]
        batches = [missing[start : start + size] for start in range(0, len(missing), size)]
        await gather_rows([lambda batch=batch: self._embed_batch(batch, text_of) for batch in batches])
        elapsed = time.perf_counter() - began
        records = {key: journal.get(key) for key in text_of}
        if meter := METER.get():
            meter.embed(records, elapsed=elapsed)
        rows = {key: _values(record) for key, record in records.items()}
        for key, row in rows.items():
            self._check_dimension(row, text_of[key])
        vectors = np.stack([rows[keys[text]] for text in texts]) if texts else np.zeros((0, 0), np.float32)
        was_cut = np.array([records[keys[text]].get("was_cut", False) for text in texts], bool)
        return Embeddings(vectors, ~vectors.any(axis=1), was_cut)

    async def _embed_batch(self, keys: list[str], text_of: Mapping[str, str]) -> None:
        """See that `keys` are recorded; a batch that the server refuses is asked in halves."""
        half = max(1, min(len(keys) // 2, self._largest_batch or len(keys)))
        refused = self._largest_batch is not None and len(keys) > self._largest_batch
        if not refused:
            try:
                await self._journals["embedding"].once_many(
                    keys, lambda missing: self._embed([text_of[key] for key in missing])
                )
            except RejectedError as error:
                if len(keys) == 1:
                    raise
                if not isinstance(error, OverlongError):
                    self._largest_batch = half
                refused = True
        if refused:
            await gather_rows(
                [
                    lambda start=start: self._embed_batch(keys[start : start + half], text_of)
                    for start in range(0, len(keys), half)
                ]
            )

    async def _embed(self, texts: list[str]) -> list[dict[str, Any]]:
        model, line = self.models["embedding"], self._line("embedding")
        estimate = sum(approximate_tokens(len(text)) for text in texts)
        async with self.budget.reserved("embedding", model.cost(estimate)):
            vectors, timing = await attempt(
                lambda: line.engine.embed(texts), line.limits, model.limits, tokens=estimate
            )
        line.limits.settle(estimate, sum(vector.input_tokens for vector in vectors))
        for text, vector in zip(texts, vectors, strict=True):
            self._check_dimension(vector.values, text)
        self.calls_made += len(texts)
        # A batch's time is shared out over its texts.
        return [
            {
                "vector": base64.b64encode(np.asarray(vector.values, "<f4").tobytes()).decode(),
                "was_cut": vector.was_cut,
                "model": model.name,
                "input_tokens": vector.input_tokens,
                "cost": model.cost(vector.input_tokens),
                "attempts": timing.attempts,
                "latency_s": timing.latency_s / len(texts),
                "queue_wait_s": timing.queue_wait_s / len(texts),
                "retry_wait_s": timing.retry_wait_s / len(texts),
            }
            for vector in vectors
        ]

    def _check_dimension(self, values: np.ndarray, text: str) -> None:
        """Before a vector is recorded, and before it is ranked."""
        self._dimension = self._dimension or len(values)
        if len(values) != self._dimension or not np.isfinite(values).all():
            model = self.models["embedding"]
            raise EmbeddingError(
                f"{model.place}: the vector of {text[:80]!r} has {len(values)} dimensions, others "
                f"{self._dimension}, or a value that is no number; it is never ranked. The server's model "
                "has changed: serve the old one again, or give the new one another name in "
                "models.embedding.model"
            )


def chat_request(
    model: Model, messages: Sequence[Message], *, repeat: int, ask: int, sampling: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The canonical form of a chat request, images by sha256."""
    identity = model.identity()
    return {
        "kind": "chat",
        **identity,
        "sampling": {**identity["sampling"], **(sampling or {})},
        "messages": [_canonical(message) for message in messages],
        "repeat": repeat,
        "ask": ask,
    }


def embedding_request(model: Model, text: str) -> dict[str, Any]:
    """The canonical form of the request to embed one text."""
    return {"kind": "embedding", **model.identity(), "input": text}


def _canonical(message: Message) -> dict[str, Any]:
    content = message["content"]
    if not isinstance(content, str):
        content = [
            {"type": "image", "sha256": part["sha256"]} if part["type"] == "image" else dict(part)
            for part in content
        ]
    return {**message, "content": content}


def _encodable(text: str) -> str:
    # A model can emit half a surrogate pair as a JSON escape; no file could hold it.
    return (
        text.encode("utf-8", "replace").decode()
        if any("\ud800" <= char <= "\udfff" for char in text)
        else text
    )


def _values(record: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4")

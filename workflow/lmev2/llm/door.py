"""The one door to every model: journaled, paid once, measured.

A request is built once, as canonical JSON with images by their sha256; its sha256 is the key of the
journal. Endpoint, key, time limits and concurrency are not in it.
"""

import asyncio
import base64
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lmev2.errors import UserError
from lmev2.journal import Journal, request_key
from lmev2.llm.embedded import provider as embedded
from lmev2.llm.meter import METER
from lmev2.llm.models import Model
from lmev2.llm.reply import Reply
from lmev2.records import Status

Message = Mapping[str, Any]


class EmbeddingError(UserError):
    """A model returned vectors that must not be ranked."""


@dataclass(frozen=True)
class Embeddings:
    """Vectors of some texts, float32 [n, d] with unit rows, and which of the n texts have none.

    A text without a single known word has no direction: its row is zero and `empty` is True.
    """

    vectors: np.ndarray
    empty: np.ndarray


class Door:
    """Calls models for one job; every reply goes through the journal.

    Args:
        models: role -> model.
        journal: folder of the journal; each role has a namespace in it.
        replay: True makes a call that is not in the journal an error.
        again: statuses of recorded replies that are to be asked again (config: retry_statuses).
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        journal: str | Path,
        *,
        replay: bool = False,
        again: Collection[str] = (),
    ) -> None:
        self.models = dict(models)
        self._journals = {role: Journal(Path(journal) / role, replay=replay) for role in models}
        self._slots = {role: asyncio.Semaphore(model.limits["concurrency"]) for role, model in models.items()}
        self._again = frozenset(again)
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
        """
        model = self.models[role]
        request = chat_request(model, messages, repeat=repeat, ask=ask, sampling=sampling)
        began = time.perf_counter()
        record = await self._journals[role].once(
            request, lambda key: self._chat(model, messages, key), again=self._again
        )
        reply = Reply.from_dict(record)
        if meter := METER.get():
            meter.chat(reply, elapsed=time.perf_counter() - began)
        return reply

    async def _chat(self, model: Model, messages: Sequence[Message], key: str) -> dict[str, Any]:
        queued = time.perf_counter()
        async with self._slots[model.role]:
            began = time.perf_counter()
            raw = embedded.chat(messages)
            ended = time.perf_counter()
        self.calls_made += 1
        return Reply(
            text=_encodable(raw["text"]),
            reasoning=_encodable(raw["reasoning"]),
            finish_reason=raw["finish_reason"],
            status=Status.OK if raw["text"].strip() else Status.EMPTY_REPLY,
            model=model.name,
            request=key,
            calls=1,
            attempts=1,
            input_tokens=raw["input_tokens"],
            output_tokens=raw["output_tokens"],
            cost=_cost(model, raw["input_tokens"], raw["output_tokens"]),
            latency_s=ended - began,
            queue_wait_s=began - queued,
            retry_wait_s=0.0,
        ).to_dict()

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed `texts` with the embedding model, each distinct text once; returns them in order.

        Raises:
            EmbeddingError: a vector has another dimension or is not finite.
        """
        model = self.models["embedding"]
        journal = self._journals["embedding"]
        distinct = list(dict.fromkeys(texts))
        keys = {text: request_key(embedding_request(model, text)) for text in distinct}
        text_of = {key: text for text, key in keys.items()}
        size = model.limits["batch"]
        began = time.perf_counter()
        for start in range(0, len(distinct), size):
            batch = [keys[text] for text in distinct[start : start + size]]
            await journal.once_many(
                batch, lambda missing: self._embed(model, [text_of[key] for key in missing])
            )
        elapsed = time.perf_counter() - began
        records = {key: journal.get(key) for key in text_of}
        if meter := METER.get():
            meter.embed(records, elapsed=elapsed)
        rows = {
            key: np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4")
            for key, record in records.items()
        }
        _check_dimensions(rows, text_of)
        vectors = np.stack([rows[keys[text]] for text in texts]) if texts else np.zeros((0, 0), np.float32)
        return Embeddings(vectors, ~vectors.any(axis=1))

    async def _embed(self, model: Model, texts: list[str]) -> list[dict[str, Any]]:
        queued = time.perf_counter()
        async with self._slots[model.role]:
            began = time.perf_counter()
            vectors = embedded.embed(texts)
            elapsed = time.perf_counter() - began
        self.calls_made += len(texts)
        # A batch's time and tokens are shared out over its texts.
        return [
            {
                "vector": base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode(),
                "input_tokens": embedded.approximate_tokens(len(text)),
                "latency_s": elapsed / len(texts),
                "queue_wait_s": (began - queued) / len(texts),
            }
            for text, vector in zip(texts, vectors, strict=True)
        ]


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


def _cost(model: Model, input_tokens: int, output_tokens: int) -> float:
    """In the currency of the config's prices, which are for a million tokens."""
    prices = model.prices
    return (input_tokens * prices.get("input", 0.0) + output_tokens * prices.get("output", 0.0)) / 1e6


def _check_dimensions(rows: Mapping[str, np.ndarray], text_of: Mapping[str, str]) -> None:
    dimension = next((len(row) for row in rows.values()), 0)
    for key, row in rows.items():
        if len(row) != dimension or not np.isfinite(row).all():
            raise EmbeddingError(
                f"the vector of {text_of[key][:80]!r} has {len(row)} dimensions (others {dimension}) or a value that is "
                "not finite; it is never ranked. Check the embedding server, then remove this record from the journal"
            )

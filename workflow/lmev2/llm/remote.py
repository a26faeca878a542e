"""A model on a server that speaks OpenAI's protocol: vLLM, SGLang, llama.cpp, Ollama, OpenAI, gateways.

One call is one request: retries, limits and the journal are the door's. A client belongs to one event loop:
its pooled connections cannot be used from another.
"""

import base64
import hashlib
import json
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openai

from lmev2.errors import UserError
from lmev2.llm.engine import Answer, Message, Vector, estimated_tokens
from lmev2.llm.faults import (
    EmbeddingError,
    EndpointError,
    FilteredError,
    OverlongError,
    TransientError,
    fault_of,
    fault_of_status,
    is_overlong,
    share_that_fits,
    shortened,
)
from lmev2.llm.models import OPENAI, Model
from lmev2.records import Status
from lmev2.tokens import approximate_tokens

# Its lines name every request's address, once per call.
logging.getLogger("httpx2").setLevel(logging.WARNING)

# The first bytes of the kinds of pictures that servers take.
KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
SHORTEST_CUT = 16  # characters; a text of which not even these fit is not too long


class ImageError(UserError):
    """A picture that is to be sent is gone or has changed."""


class Remote:
    """The model of one role on its server.

    Raises:
        EndpointError: the environment lacks the key.
    """

    def __init__(self, model: Model) -> None:
        if model.api_key_env and not model.key:
            raise EndpointError(
                f"models.{model.role}.api_key_env: the environment variable {model.api_key_env} is not set; "
                f"put the key for {model.endpoint} in it, or set the option to null if the server wants none"
            )
        self.model = model
        limits = model.limits
        self._client = openai.AsyncOpenAI(
            api_key=model.key or "none",  # never OPENAI_API_KEY by default: it is not this server's business
            base_url=model.base_url or OPENAI,
            max_retries=0,  # the door's business
            timeout=openai.Timeout(limits["read_timeout_s"], connect=limits["connect_timeout_s"]),
        )
        # Taken now, as the package imports its parts at their first use: not in the first call's latency.
        self._chat = self._client.chat.completions.with_raw_response
        self._embeddings = self._client.embeddings.with_raw_response

    async def close(self) -> None:
        """Close all connections; in the event loop that made them."""
        await self._client.close()

    async def list_models(self) -> list[Mapping[str, Any]]:
        """What the server says that it serves: entries with an `id`, some also with `max_model_len`."""
        try:
            raw = await self._client.models.with_raw_response.list()
        except openai.APIError as error:
            raise fault_of(error, self.model) from None
        try:
            entries = json.loads(raw.content)["data"]
            return [entry for entry in entries if isinstance(entry, Mapping)]
        except (ValueError, TypeError, KeyError):
            raise TransientError(
                f"{self.model.place} answers /models with something that is no list"
            ) from None

    async def chat(self, messages: Sequence[Message], sampling: Mapping[str, Any], nth: int) -> Answer:
        """Ask once; an answer without usable text has the status that says why."""
        body = chat_body(self.model, messages, sampling, nth)
        try:
            payload = await self._post(self._chat, body)
        except OverlongError as error:
            return Answer(status=Status.CONTEXT_OVERFLOW, error=str(error))
        except FilteredError as error:
            return Answer(status=Status.CONTENT_FILTER, error=str(error))
        if not isinstance(choices := payload.get("choices"), list) or not choices:
            raise TransientError(f"{self.model.place} answers without choices")
        return answer_of(payload, estimated_tokens(messages))

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed all texts with one request, a single one as far as the server takes it.

        Raises:
            RejectedError: the server does not take these texts, or not so many at once.
            EmbeddingError: what came back are not the vectors of these texts.
        """
        sent = list(texts)
        while True:
            body = {"model": self.model.model, "input": sent, "encoding_format": "float"}
            try:
                payload = await self._post(self._embeddings, body)
                break
            except OverlongError as error:
                length = int(len(sent[0]) * share_that_fits(str(error)))
                if len(sent) > 1 or length < SHORTEST_CUT:
                    raise OverlongError(
                        f"{self.model.place}: {len(sent)} texts, the first {texts[0][:80]!r}, do not fit: "
                        f"{error}"
                    ) from None
                sent = [sent[0][:length]]
        vectors = vectors_of(payload, texts, self.model.place)
        tokens = _shared_out(_count(payload.get("usage"), "prompt_tokens"), sent)
        return [
            Vector(vector, count, was_cut=kept != text)
            for vector, count, kept, text in zip(vectors, tokens, sent, texts, strict=True)
        ]

    async def _post(self, resource: Any, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that the server answers."""
        try:
            raw = await resource.create(**body)
        except openai.APIError as error:
            raise fault_of(error, self.model) from None
        try:
            payload = json.loads(raw.content)
        except ValueError:
            payload = None
        if not isinstance(payload, dict):
            raise TransientError(f"{self.model.place} answers 200 with something that is not a JSON object")
        if error := payload.get("error"):
            raise self._error_in(error)
        return payload

    def _error_in(self, error: object) -> Exception:
        """A gateway can pass on an error of the server behind it under status 200."""
        known = error if isinstance(error, Mapping) else {}
        said = shortened(self.model.redacted(str(known.get("message") or error)))
        if is_overlong(said) or known.get("code") in ("context_length_exceeded", "content_filter"):
            return fault_of_status(400, said, str(known.get("code")), {}, self.model)
        return TransientError(f"{self.model.place} answers 200 with an error: {said}")


def chat_body(
    model: Model, messages: Sequence[Message], sampling: Mapping[str, Any], nth: int
) -> dict[str, Any]:
    """The request as the client takes it.

    `thinking` is sent only if the role's own sampling names it: a model without such a switch refuses the
    parameter. A seed is counted up for each further asking, or all askings would get the same answer.
    """
    body: dict[str, Any] = {"model": model.model, "messages": [_message(message) for message in messages]}
    for name in ("temperature", "top_p", "reasoning_effort"):
        if name in sampling:
            body[name] = sampling[name]
    if "max_tokens" in sampling:
        # OpenAI has given the parameter a new name, which older servers do not know.
        body["max_completion_tokens" if model.is_openai else "max_tokens"] = sampling["max_tokens"]
    if "seed" in sampling:
        body["seed"] = sampling["seed"] + nth
    extra = {}
    if "top_k" in sampling:
        extra["top_k"] = sampling["top_k"]
    if "thinking" in sampling and "thinking" in model.sampling:
        extra["chat_template_kwargs"] = {"enable_thinking": sampling["thinking"]}
    return {**body, "extra_body": extra} if extra else body


def _message(message: Message) -> dict[str, Any]:
    content = message["content"]
    if not isinstance(content, str):
        content = [_image(part) if part["type"] == "image" else dict(part) for part in content]
    return {**message, "content": content}


def _image(part: Mapping[str, Any]) -> dict[str, Any]:
    path = Path(part["path"])
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImageError(
            f"{path}: cannot read this picture ({error.strerror}); run the ingest stage again"
        ) from error
    if hashlib.sha256(data).hexdigest() != part["sha256"]:
        raise ImageError(
            f"{path}: this picture has changed since it was ingested; run the ingest stage again"
        )
    kind = next((kind for start, kind in KINDS.items() if data.startswith(start)), None)
    if kind is None:
        raise ImageError(f"{path}: not a PNG, JPEG, GIF or WebP picture")
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/{kind};base64,{base64.b64encode(data).decode()}"},
    }


def answer_of(payload: Mapping[str, Any], estimate: int) -> Answer:
    """Read a chat completion; the reasoning is told apart and never taken for the text.

    Args:
        payload: the server's answer, with at least one choice.
        estimate: input tokens to book if the server counts none.
    """
    choice = payload["choices"][0]
    message = choice.get("message") or {}
    text = _text(message.get("content"))
    reasoning = _text(message.get("reasoning")) or _text(message.get("reasoning_content"))
    if not reasoning:
        reasoning, text = _thought_apart(text)
    finish, refusal = choice.get("finish_reason") or "", _text(message.get("refusal"))
    if finish == "content_filter":
        status = Status.CONTENT_FILTER
    elif refusal:
        status = Status.REFUSAL
    elif finish == "length" or (reasoning and not text.strip()):
        status = Status.LENGTH_NO_ANSWER
    else:
        status = Status.OK if text.strip() else Status.EMPTY_REPLY
    usage = payload.get("usage")
    return Answer(
        text=text,
        reasoning=reasoning,
        finish_reason=finish,
        status=status,
        input_tokens=_count(usage, "prompt_tokens", estimate),
        output_tokens=_count(usage, "completion_tokens", approximate_tokens(len(text) + len(reasoning))),
        error=refusal,
    )


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _thought_apart(text: str) -> tuple[str, str]:
    """Reasoning and text of a server that leaves both in the content."""
    before, mark, after = text.rpartition("</think>")
    if mark:
        return before.replace("<think>", "", 1).strip(), after.lstrip()
    if text.lstrip().startswith("<think>"):
        return text.lstrip().removeprefix("<think>").strip(), ""  # cut in the middle of it
    return "", text


def _count(usage: object, name: str, otherwise: int | None = None) -> int | None:
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if isinstance(count, int) else otherwise


def _shared_out(total: int | None, texts: Sequence[str]) -> list[int]:
    """A batch's tokens by the lengths of its texts; an estimate if the server counted none."""
    if total is None:
        return [approximate_tokens(len(text)) for text in texts]
    lengths = np.cumsum([0, *map(len, texts)])
    return np.diff(np.round(lengths * (total / max(1, lengths[-1])))).astype(int).tolist()


def vectors_of(payload: Mapping[str, Any], texts: Sequence[str], place: str) -> list[np.ndarray]:
    """The unit vectors of `texts`, in their order, whatever order the server gave them in.

    Raises:
        TransientError: there are none at all.
        EmbeddingError: one is missing, has a null, a NaN, only zeros or another length than the first.
    """
    data = payload.get("data")
    if not isinstance(data, list) or not data:  # like a chat answer without choices
        raise TransientError(f"{place} answers without vectors")
    if len(data) != len(texts):
        raise EmbeddingError(
            f"{place} gives {len(data)} vectors for {len(texts)} texts, "
            f"the first {texts[0][:80]!r}: none is kept"
        )
    indexes = [entry.get("index") if isinstance(entry, Mapping) else None for entry in data]
    if all(index is None for index in indexes):
        indexes = list(range(len(texts)))
    if sorted(map(str, indexes)) != sorted(map(str, range(len(texts)))):
        raise EmbeddingError(
            f"{place} numbers the vectors of {len(texts)} texts {indexes[:10]}, the first {texts[0][:80]!r}: "
            "none is kept"
        )
    by_index = dict(zip(map(int, indexes), data, strict=True))
    rows = [by_index[index].get("embedding") for index in range(len(texts))]
    dimension = next((len(row) for row in rows if isinstance(row, list)), 0)
    return [_unit(row, text, dimension, place) for row, text in zip(rows, texts, strict=True)]


def _unit(row: object, text: str, dimension: int, place: str) -> np.ndarray:
    fault = None
    if not isinstance(row, list) or not row:
        fault = "is missing"
    elif not all(isinstance(value, int | float) and math.isfinite(value) for value in row):
        fault = "has a value that is no number"
    elif len(row) != dimension:
        fault = f"has {len(row)} dimensions, others {dimension}"
    elif not any(row):
        fault = "is zero"
    if fault:
        raise EmbeddingError(
            f"{place}: the vector of {text[:80]!r} {fault}; it is never ranked: check the server"
        )
    values = np.asarray(row, np.float64)
    return (values / np.linalg.norm(values)).astype(np.float32)

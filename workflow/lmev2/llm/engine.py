"""The face that all models have behind the door: the embedded engines and remote servers alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lmev2.llm.embedded import provider as embedded
from lmev2.records import Status
from lmev2.tokens import approximate_tokens
from lmev2.truncation import ApproximateCounter

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What one attempt at a chat call brought.

    `status` is `OK` where there is a text to be used; `error` has the server's words where it gave none.
    """

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    status: Status = Status.OK
    input_tokens: int = 0
    output_tokens: int = 0
    error: str = ""


@dataclass(frozen=True)
class Vector:
    """The embedding of one text: float32 [d] of unit length; zero if the text has no direction."""

    values: np.ndarray
    input_tokens: int
    was_cut: bool = False  # the text's end did not fit the model


def estimated_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens a chat request has, pictures by their area; for rate limits and missing usage."""
    contents = [message["content"] for message in messages]
    texts = sum(len(content) for content in contents if isinstance(content, str))
    counter, pictures = ApproximateCounter(), 0
    for part in (part for content in contents if not isinstance(content, str) for part in content):
        if part["type"] == "image":
            pictures += counter.image(part["width"], part["height"])
        else:
            texts += len(part["text"])
    return approximate_tokens(texts) + pictures


class Engine(Protocol):
    """A model that can be asked once; it raises the errors of `lmev2.llm.faults`."""

    async def chat(self, messages: Sequence[Message], sampling: Mapping[str, Any], nth: int) -> Answer:
        """Answer `messages`; `nth` tells askings of the same apart where `sampling` has a seed."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed `texts`, all or none."""

    async def close(self) -> None:
        """Let go of connections."""


class Embedded:
    """The embedded engines."""

    async def chat(self, messages: Sequence[Message], sampling: Mapping[str, Any], nth: int) -> Answer:
        """Answer `messages`; the engine has no sampling."""
        raw = embedded.chat(messages)
        return Answer(**raw, status=Status.OK if raw["text"].strip() else Status.EMPTY_REPLY)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed `texts`."""
        return [
            Vector(vector, approximate_tokens(len(text)))
            for text, vector in zip(texts, embedded.embed(texts), strict=True)
        ]

    async def close(self) -> None:
        """Nothing to let go of."""

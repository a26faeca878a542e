"""Asking a model for JSON: reading it out of what models write, and one repair call.

This decides results, so it lies outside `llm/`, whose modules only carry calls.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from lmev2.llm.reply import Reply
from lmev2.records import EntryStatus, Status

Message = Mapping[str, Any]
Value = TypeVar("Value")


class Chat(Protocol):
    """A model to ask: `Services.chat`, or the door with its role filled in."""

    def __call__(
        self, messages: Sequence[Message], *, sampling: Mapping[str, Any] | None = None
    ) -> Awaitable[Reply]:
        """The reply to `messages`; `sampling` replaces values of the role's own."""


@dataclass(frozen=True)
class Asked(Generic[Value]):
    """What came of a request: the value read (None: no reply could be used) and all replies."""

    value: Value | None
    replies: list[Reply]
    repaired: bool = False
    shortened: bool = False

    @property
    def status(self) -> EntryStatus:
        """How a memory entry made of it came about."""
        if self.value is None:
            return EntryStatus.TEMPLATE
        return EntryStatus.REPAIRED if self.repaired else EntryStatus.OK


async def ask_with_repair(
    chat: Chat,
    messages: Sequence[Message],
    read: Callable[[str], Value | None],
    repair: str,
    *,
    sampling: Mapping[str, Any] | None = None,
    shorter: Sequence[Message] | None = None,
) -> Asked[Value]:
    """Ask, and once more where the reply cannot be used.

    Args:
        chat: the model.
        messages: the request.
        read: takes the value out of a reply's text; None if it cannot be used.
        repair: what the one further request says; it goes without thinking, as in the paper.
        sampling: values that replace the role's own, for the first request.
        shorter: a request to put in place of `messages` if the model gives no reply to them, as when
            they do not fit it.
    """
    replies = [await chat(messages, sampling=sampling)]
    shortened = replies[-1].status != Status.OK and shorter is not None and shorter != messages
    if shortened:
        messages = shorter
        replies.append(await chat(messages, sampling=sampling))
    value = _read(replies[-1], read)
    # What did not fit will not fit with a further request behind it.
    if value is not None or replies[-1].status == Status.CONTEXT_OVERFLOW:
        return Asked(value, replies, shortened=shortened)
    further = [
        *messages,
        {"role": "assistant", "content": replies[-1].text},
        {"role": "user", "content": repair},
    ]
    replies.append(await chat(further, sampling={**(sampling or {}), "thinking": False}))
    return Asked(_read(replies[-1], read), replies, repaired=True, shortened=shortened)


def _read(reply: Reply, read: Callable[[str], Value | None]) -> Value | None:
    return read(reply.text) if reply.status == Status.OK else None


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The complete JSON objects in `text`; fences, prose and a think block around them do not matter."""
    text = text.rpartition("</think>")[2]
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            end = start + 1
        else:
            yield found
        start = text.find("{", end)


def json_object(text: str) -> dict[str, Any] | None:
    """The first complete JSON object in `text`, None without one."""
    return next(json_objects(text), None)


def plain_text(value: Any) -> str:
    """A field of a reply as text: a JSON array becomes a bullet list, anything but text nothing."""
    if isinstance(value, list):
        lines = [
            entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False) for entry in value
        ]
        bare = [re.sub(r"^[-*•]\s+", "", line.strip()) for line in lines]
        return "\n".join(f"- {line}" for line in bare if line)
    return value.strip() if isinstance(value, str) else ""

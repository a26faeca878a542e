"""The embedded chat model: one deterministic function from chat messages to a reply.

It tells its task from the messages alone: a judge's prompt holds a ``<reference>`` section, that of a note
writer begins with a ``<trajectory>``, of an event writer with a ``<step>``, of a query writer with a
``<memory>``; anything else is a question to be read from the texts before it. `docs/embedded-models.md`
describes the rules.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lmev2.llm.embedded.bundle import write_bundle
from lmev2.llm.embedded.events import write_event
from lmev2.llm.embedded.judge import judge
from lmev2.llm.embedded.notes import write_notes
from lmev2.llm.embedded.reader import read

_QUESTION = re.compile(r"<question>(.*?)</question>", re.S)
_JUDGED = re.compile(
    r"<reference>.*</reference>.*<(?:response|answer)>|<(?:response|answer)>.*<reference>", re.S
)


def complete(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer OpenAI-style chat messages; images are not looked at.

    Args:
        messages: ``{"role", "content"}`` mappings; content is a text or a list of ``{"type": "text",
            "text": str}`` and
            image parts.

    Returns:
        The reply: JSON for the judge and the writers of notes, events and queries, a text with one
        ``\\boxed{…}`` for the reader. The same messages always give the same reply.
    """
    system, parts = _texts(messages)
    if parts and _JUDGED.search(parts[-1]):
        return judge(system, parts[-1])
    if (
        parts
        and parts[0].lstrip().startswith("<trajectory>")
        and any("</trajectory>" in part for part in parts)
    ):
        return write_notes(parts)
    if parts and parts[0].startswith("<step>\n"):
        return write_event(parts)
    if parts and parts[0].startswith("<memory>\n"):
        return write_bundle(parts)
    return _read(parts)


def _texts(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """Return the system text and the text parts of the other messages, in order."""
    system: list[str] = []
    parts: list[str] = []
    for message in messages:
        content = message.get("content") or ""
        if isinstance(content, str):
            texts = [content]
        else:
            texts = [part["text"] for part in content if part.get("type") == "text"]
        (system if message.get("role") == "system" else parts).extend(texts)
    return "\n".join(system), parts


def _read(parts: list[str]) -> str:
    """Split the parts into memory and question (the last ``<question>``, else the last part) and read."""
    for at in range(len(parts) - 1, -1, -1):
        found = list(_QUESTION.finditer(parts[at]))
        if found:
            return read(found[-1][1].strip(), [*parts[:at], parts[at][: found[-1].start()]])
    return read(parts[-1] if parts else "", parts[:-1])

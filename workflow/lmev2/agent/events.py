"""An agent's event stream, as `codex exec --json` prints it and all our agents do: one JSON object a line."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

_SHELLS = ("bash", "sh", "zsh")
_ITEM_EVENTS = ("item.started", "item.updated", "item.completed")
_MOST_OUTPUT = 2_000  # characters kept of one command's output
_MOST_KEPT = 200_000  # characters kept of one attempt's stream
DURATION = "duration_s"  # key of an event: how long its item took


@dataclass(frozen=True)
class Command:
    """One shell command (or "view_image PATH"), without the shell around it."""

    command: str
    exit_code: int | None
    duration_s: float | None = None  # None where it is not known


@dataclass(frozen=True)
class Stream:
    """What an attempt did.

    Attributes:
        commands: in order of their beginnings; exit_code is None for one whose end is not told, as when
            Codex ends before it has told of its last command.
        last_message: the agent's last words.
        error: the last error that it reports.
        input_tokens, output_tokens: of all its model calls, 0 where it does not say.
        unreadable: lines that are no JSON object.
    """

    commands: tuple[Command, ...]
    last_message: str
    error: str
    input_tokens: int
    output_tokens: int
    unreadable: int


def read_stream(text: str) -> Stream:
    """Read a stream; unknown events are passed over, a torn last line counts as unreadable."""
    commands: list[Command] = []
    last_message, error = "", ""
    tokens = [0, 0]
    unreadable = 0
    for event in _settled(text):
        if event is None:
            unreadable += 1
            continue
        item = event.get("item") if isinstance(event.get("item"), Mapping) else {}
        kind, item_kind = event.get("type"), item.get("type")
        if kind in _ITEM_EVENTS and item_kind == "command_execution":
            command = unwrapped(str(item.get("command", "")))
            commands.append(Command(command, _code(item.get("exit_code")), _seconds(event.get(DURATION))))
        elif kind == "item.completed" and item_kind in ("view_image", "image_view"):
            seen = f"view_image {item.get('path', '')}"
            commands.append(Command(seen, 0, _seconds(event.get(DURATION))))
        elif kind == "item.completed" and item_kind == "agent_message":
            last_message = str(item.get("text", ""))
        elif kind == "turn.completed" and isinstance(event.get("usage"), Mapping):
            for position, name in enumerate(("input_tokens", "output_tokens")):
                tokens[position] += int(event["usage"].get(name) or 0)
        elif kind in ("error", "turn.failed"):
            found = event.get("message") or event.get("error") or ""
            error = str(found.get("message", found) if isinstance(found, Mapping) else found)
    return Stream(tuple(commands), last_message, error, *tokens, unreadable)


def kept_stream(text: str, line_seconds: Sequence[float] = ()) -> list[Any]:
    """The events to store with a row: an item once, long outputs and the whole bounded.

    Args:
        text: the stream.
        line_seconds: when each of its lines came; each item then has its DURATION.
    """
    kept, size = [], 0
    for event in _settled(text, line_seconds):
        if event is None:
            continue
        item = event.get("item")
        if isinstance(item, Mapping) and len(str(item.get("aggregated_output", ""))) > _MOST_OUTPUT:
            output = str(item["aggregated_output"])
            note = f"\n… {len(output) - _MOST_OUTPUT} characters left out"
            event = {**event, "item": {**item, "aggregated_output": output[:_MOST_OUTPUT] + note}}
        size += len(json.dumps(event))
        if size > _MOST_KEPT:
            kept.append({"type": "cut", "message": "the rest of the stream is left out"})
            break
        kept.append(event)
    return kept


def commands_of(events: list[Mapping[str, Any]]) -> list[Command]:
    """The commands in stored events."""
    return list(read_stream("\n".join(json.dumps(event) for event in events)).commands)


def unwrapped(command: str) -> str:
    """The command inside `/bin/bash -lc '…'`; any other as it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc"):
        return words[2]
    return command


def _settled(text: str, line_seconds: Sequence[float] = ()) -> list[Mapping[str, Any] | None]:
    """The events with one for each item: its last one, where its first one stood.

    On a busy machine the ends of commands come late, and out of order. An item lasts from its first event to
    its last; one that is told of only when it is done, from the event before.
    """
    found: list[Mapping[str, Any] | None] = []
    places: dict[str, int] = {}
    began: dict[str, float] = {}
    before = 0.0
    for event, now in _events(text, line_seconds):
        item = event.get("item") if event is not None and event.get("type") in _ITEM_EVENTS else None
        if item is not None and now is not None:
            start = before if event["type"] == "item.completed" else now
            start = began.setdefault(item["id"], start) if isinstance(item.get("id"), str) else start
            event = {**event, DURATION: round(now - start, 3)}
        before = before if now is None else now
        id_ = item.get("id") if isinstance(item, Mapping) else None
        if isinstance(id_, str) and id_ in places:
            found[places[id_]] = event
        else:
            if isinstance(id_, str):
                places[id_] = len(found)
            found.append(event)
    return found


def _events(
    text: str, line_seconds: Sequence[float] = ()
) -> Iterator[tuple[Mapping[str, Any] | None, float | None]]:
    """Each line's event, None where it is no JSON object, and when it came."""
    for line, now in zip_longest(text.split("\n"), line_seconds):
        if line and line.strip():
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                event = None
            yield (event if isinstance(event, Mapping) else None), now


def _code(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

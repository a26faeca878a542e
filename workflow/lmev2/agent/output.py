"""The agent's answer, memory_module_output.json: read, checked against the haystack, mended if allowed.

    {"memory_markdown": str,
     "trajectory_spans": [{"trajectory_id": str, "start_state_index": int, "end_state_index": int}, …]}

State numbers count from 0 and both ends belong to a span.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MODES = ("official", "lenient")
MOST_STATES = 20
_KEYS = ("trajectory_id", "start_state_index", "end_state_index")


class OutputError(ValueError):
    """The output is of no use: the attempt has failed."""


@dataclass(frozen=True)
class Span:
    """States `first` to `last`, both included, of one trajectory of the haystack."""

    trajectory_id: str
    first: int
    last: int


@dataclass(frozen=True)
class Evidence:
    """What an agent found.

    Attributes:
        dropped: spans left out, each with the reason: unknown trajectories, states that do not exist.
        mended: what was put right (mode "lenient" only).
    """

    markdown: str
    spans: tuple[Span, ...]
    dropped: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()


def parse_output(data: bytes, n_states: Mapping[str, int], mode: str = "official") -> Evidence:
    """Read an output.

    Args:
        data: the file's bytes.
        n_states: trajectory id -> number of its states, for the haystack's trajectories.
        mode: "official" takes exactly the form above and rejects the rest; "lenient" also takes JSON in a
            fence or in prose and mends reversed, negative and boolean numbers and too many states.

    Raises:
        OutputError: with the reason.
    """
    mended: list[str] = []
    value = _json(data, mode == "lenient", mended)
    if not isinstance(value, dict):
        raise OutputError(f"the output is a {type(value).__name__}, not an object")
    markdown, given = value.get("memory_markdown"), value.get("trajectory_spans")
    if mode == "lenient":
        if markdown is None:
            markdown = ""
            mended.append("memory_markdown was missing")
        if given is None:
            given = []
            mended.append("trajectory_spans was missing")
    if not isinstance(markdown, str):
        raise OutputError(f"memory_markdown is {_kind(markdown)}, not a text")
    if not isinstance(given, list):
        raise OutputError(f"trajectory_spans is {_kind(given)}, not a list")
    spans, dropped = [], []
    for position, item in enumerate(given):
        trajectory_id, first, last = _span(item, f"trajectory_spans[{position}]", mode == "lenient", mended)
        known = n_states.get(trajectory_id)
        if known is None:
            dropped.append(f"{trajectory_id[:100]}: no trajectory of this haystack")
        elif last >= known:
            dropped.append(f"{trajectory_id} {first}-{last}: it has the states 0 to {known - 1}")
        else:
            spans.append(Span(trajectory_id, first, last))
    total = sum(span.last - span.first + 1 for span in spans)
    if total > MOST_STATES:
        if mode == "official":
            raise OutputError(f"the spans hold {total} states, {MOST_STATES} are allowed")
        spans = _first_states(spans)
        mended.append(f"of {total} states the first {MOST_STATES} were kept")
    if not markdown.strip() and not spans and mode == "lenient" and mended:
        raise OutputError("the output holds neither markdown nor a span")
    return Evidence(_storable(markdown), tuple(spans), tuple(dropped), tuple(mended))


def parse_answer(data: bytes) -> str:
    """Read the output of an agent that answers the question itself: `{"answer": str}`.

    Raises:
        OutputError: with the reason.
    """
    value = _json(data, False, [])
    answer = value.get("answer") if isinstance(value, dict) else None
    if not isinstance(answer, str) or not answer.strip():
        raise OutputError('the output is not of the form {"answer": "…"}')
    return _storable(answer)


def _storable(text: str) -> str:
    """JSON can hold half a surrogate pair, which no file could."""
    return text.encode("utf-8", "replace").decode()


def _json(data: bytes, lenient: bool, mended: list[str]) -> Any:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OutputError(f"the output is not UTF-8 ({error.reason} at byte {error.start})") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise OutputError("the output is nested too deeply") from None
    except ValueError as error:
        if not lenient:
            raise OutputError(f"the output is not JSON: {error}") from None
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if "memory_markdown" in value or "trajectory_spans" in value:
            mended.append("the JSON stood in a fence or in prose")
            return value
        start = text.find("{", start + 1)
    raise OutputError("the output holds no JSON object with memory_markdown or trajectory_spans")


def _span(item: Any, place: str, lenient: bool, mended: list[str]) -> tuple[str, int, int]:
    if not isinstance(item, dict) or any(key not in item for key in _KEYS):
        raise OutputError(f"{place} must have {', '.join(_KEYS)}")
    trajectory_id, *numbers = (item[key] for key in _KEYS)
    if not isinstance(trajectory_id, str):
        raise OutputError(f"{place}.trajectory_id is {_kind(trajectory_id)}, not a text")
    first, last = (
        _number(number, f"{place}.{key}", lenient, mended)
        for number, key in zip(numbers, _KEYS[1:], strict=True)
    )
    if first > last:
        if not lenient:
            raise OutputError(f"{place} is reversed: {first} to {last}")
        mended.append(f"{place} was reversed")
        first, last = last, first
    return trajectory_id, first, last


def _number(value: Any, place: str, lenient: bool, mended: list[str]) -> int:
    if type(value) is int and value >= 0:
        return value
    if not lenient:
        raise OutputError(f"{place} is {_kind(value)}, not a state number")
    try:
        number = max(0, int(value))
    except (TypeError, ValueError, OverflowError):
        raise OutputError(f"{place} is {_kind(value)}, not a state number") from None
    mended.append(f"{place} was {value!r:.40}")
    return number


def _first_states(spans: list[Span]) -> list[Span]:
    kept, left = [], MOST_STATES
    for span in spans:
        if left:
            last = min(span.last, span.first + left - 1)
            kept.append(Span(span.trajectory_id, span.first, last))
            left -= last - span.first + 1
    return kept


def _kind(value: Any) -> str:
    return "missing" if value is None else f"{type(value).__name__} {value!r:.40}"

"""Reading a judge's verdict out of its reply: one unambiguous label, or nothing.

A model told to answer with `{"label": 0|1, "reason": "…"}` wraps it in fences and prose, quotes
labels of others, and breaks its JSON. What is read here is never a guess: where two readings are
possible there is no verdict, and the judge is asked again.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

# `label: 1` outside a readable object, up to the end of its clause.
_LOOSE_LABEL = re.compile(
    r"""(?<!\w)label["'`*\\]*\s*:\s*(.*?)\s*(?=[\n,;(){}]|\.\s|\s[-–—]\s|$)""", re.IGNORECASE
)
_LOOSE_REASON = re.compile(r"""(?<!\w)reason["'`*\\]*\s*:\s*(.*)""", re.IGNORECASE | re.DOTALL)
_QUOTES = "\"'`*\\. "

# A Python literal may end at this many closing braces, enough for braces in its reason; the second
# number bounds the work on a reply that is full of them.
_MAX_ENDS = 20
_MAX_ENDS_PER_REPLY = 200


@dataclass(frozen=True)
class Verdict:
    """A judge's label, 0 or 1, with its reason ("" if it gave none)."""

    label: int
    reason: str


def parse_verdict(reply: str) -> Verdict | None:
    """Read the verdict from a judge's reply, None if there is none or more than one reading.

    Thoughts (up to the last `</think>`) do not count. Of several objects with a label the last one
    counts, for a judge that quotes an answer does so before it decides; its label must be 0 or 1
    (also as a float, a truth value or a string of these), and no `label: …` after it may say
    otherwise. An object inside something unreadable is not trusted: it may be a quotation in the
    reason of a broken verdict. Without any object, all the `label: …` in the text must agree.
    """
    objects = _objects(reply)
    text = _blank(reply, [(start, end) for start, end, _ in objects])
    begin = text.rfind("</think>") + len("</think>") if "</think>" in text else 0
    stop = text.find("<think>", begin)
    text = " " * begin + (text[begin:stop] if stop >= 0 else text[begin:])

    depths = list(accumulate(text, _depth, initial=0))
    verdicts = [
        (end, value)
        for start, end, value in objects
        if begin <= start < len(text) and depths[start] == 0 and "label" in value
    ]
    if not verdicts:
        return _loose_verdict(text)
    end, value = verdicts[-1]
    label = _label(value["label"])
    later = {_label(match[1].strip(_QUOTES)) for match in _LOOSE_LABEL.finditer(text, end)} - {None}
    if label is None or later - {label}:
        return None
    reason = value.get("reason")
    return Verdict(label, reason.strip() if isinstance(reason, str) else "")


def _loose_verdict(text: str) -> Verdict | None:
    labels = {_label(match[1].strip(_QUOTES)) for match in _LOOSE_LABEL.finditer(text)}
    if len(labels) != 1 or None in labels:
        return None
    reason = _LOOSE_REASON.search(text)
    return Verdict(labels.pop(), reason[1].strip(_QUOTES + "{}\n") if reason else "")


def _label(value: Any) -> int | None:
    """0 or 1 for what clearly says so, else None."""
    if isinstance(value, str):
        return {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}.get(value.strip().lower())
    if isinstance(value, bool | int | float) and value in (0, 1):
        return int(value)
    return None


def _objects(text: str) -> list[tuple[int, int, dict[str, Any]]]:
    """The outermost readable objects of `text`, as (start, end, value)."""
    objects = []
    budget = iter(range(_MAX_ENDS_PER_REPLY))
    start = text.find("{")
    while start >= 0:
        found = _json_object(text, start) or _python_object(text, start, budget)
        if found:
            objects.append((start, found[1], found[0]))
        start = text.find("{", found[1] if found else start + 1)
    return objects


def _json_object(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_without_double_label)
    try:
        return decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _without_double_label(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of `pairs`; one that names its label twice has none that can be read."""
    fields = dict(pairs)
    if sum(key == "label" for key, _ in pairs) > 1:
        fields["label"] = None
    return fields


def _python_object(text: str, start: int, budget: Iterator[int]) -> tuple[dict[str, Any], int] | None:
    """The dict literal at `start`: models write single quotes, True and trailing commas."""
    end = start
    for _ in zip(range(_MAX_ENDS), budget, strict=False):
        end = text.find("}", end) + 1
        if end == 0:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # of stray backslashes
                warnings.simplefilter("ignore", DeprecationWarning)
                node = ast.parse(text[start:end], mode="eval").body
            if not isinstance(node, ast.Dict):
                return None
            pairs = [
                (ast.literal_eval(key), ast.literal_eval(value))
                for key, value in zip(node.keys, node.values, strict=True)
            ]
            return _without_double_label(pairs), end
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
    return None


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """`text` with the spans replaced by as many spaces."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _depth(depth: int, character: str) -> int:
    return max(0, depth + (character == "{") - (character == "}"))

"""The reader's answer: what stands in the last `\\boxed{…}` of its response (docs/benchmark.md)."""

from dataclasses import dataclass
from enum import StrEnum

_OPENING = "\\boxed{"


class Found(StrEnum):
    """What a response held in the way of boxes."""

    NONE = "none"
    ONE = "one"
    SEVERAL = "several"  # the last one counts
    UNCLOSED = "unclosed"  # the last one runs to the end of the text
    EMPTY = "empty"  # the last one holds nothing


@dataclass(frozen=True)
class Boxed:
    """The answer taken from a response, and what was found there."""

    prediction: str
    found: Found


def parse_boxed(response: str) -> Boxed:
    """Take the answer from a reader's `response`.

    It is the content of the last `\\boxed{…}` with balanced braces, stripped; an unclosed box runs
    to the end of the text. Without a box, or with nothing in the last one, it is the whole
    response, stripped.
    """
    boxes = response.count(_OPENING)
    if boxes == 0:
        return Boxed(response.strip(), Found.NONE)
    start = response.rindex(_OPENING) + len(_OPENING)
    end = _closing_brace(response, start)
    content = response[start:end].strip()
    if not content:
        return Boxed(response.strip(), Found.EMPTY)
    if end is None:
        return Boxed(content, Found.UNCLOSED)
    return Boxed(content, Found.ONE if boxes == 1 else Found.SEVERAL)


def _closing_brace(text: str, start: int) -> int | None:
    """Index of the brace that closes the one just before `start`, None if there is none."""
    depth = 1
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index
    return None


def is_unknown(prediction: str) -> bool:
    """Whether the answer is UNKNOWN, in any case; such an answer always scores 0."""
    return prediction.strip().lower() == "unknown"

"""Find what could be an answer: names, values, phrases inside texts, and lists of sibling items."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from lmev2.llm.embedded.page import TEXT_ROLES, Context
from lmev2.llm.embedded.text import STOPWORDS, sentences, stems, word_set, words

_SPAN = re.compile(
    r"'([^']{1,60})'|\"([^\"]{1,60})\"|“([^”]{1,60})”"
    r"|((?:[A-Z][\w-]*)(?: (?:[A-Z0-9][\w-]*|of|and|to|the|for|in)){0,5}"
    r"(?<! of)(?<! and)(?<! to)(?<! the)(?<! for)(?<! in))"
    r"|(\d[\d.,:/-]*\d|\d)(?: ?(?:%|[a-z]+))?"
)
_CODE = re.compile(r"^(?=.*\d)(?=.*[A-Za-z])[\w./#-]+$|^[A-Z]{2,}[\w-]*$")
_ENUMERATION = re.compile(r"\s*(?:,|;|\bor\b|\band\b)\s*")
_UNSET = re.compile(r"[-–—]{2,}.*[-–—]{2,}$|(?:please )?(?:select|choose)\b.*(?:\.\.\.|…)$", re.I)
# Dates and times have commas, and examples are no complete list.
_NO_LIST = re.compile(
    r"\b(?:for example|such as|e\.g\.|for instance)"
    r"|\b\d{1,2},? \d{4}\b|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d\b|\b[ap]\.m\.",
    re.I,
)
_FAMILIES = {
    "option": "option",
    "radio": "radio",
    "menuitemradio": "option",
    "tab": "tab",
    "link": "entry",
    "button": "entry",
    "menuitem": "entry",
    "checkbox": "checkbox",
    "textbox": "field",
    "combobox": "field",
    "searchbox": "field",
    "spinbutton": "field",
    "heading": "heading",
    "columnheader": "columnheader",
    "statictext": "text",
    "cell": "cell",
    "gridcell": "cell",
    "listitem": "text",
}
_TEXT_HOLDERS = word_set("list listbox table grid rowgroup group radiogroup menu dialog tree feed")
_LEVELS = 4  # how many enclosing elements an item is listed under


@dataclass(slots=True, frozen=True)
class Candidate:
    """A possible answer: its text, where it stands and what it is."""

    text: str
    line: int
    role: str
    kind: str  # 'name', 'value', 'rest' (after a label on one line), 'span' (inside a text) or 'sentence'


@dataclass(slots=True, frozen=True)
class Group:
    """Sibling items of one kind under one element, or a list written out in a text."""

    items: tuple[str, ...]
    line: int  # the enclosing element, or the text
    first: int  # the first item
    role: str


def is_placeholder(name: str) -> bool:
    """Tell whether a name is no answer: no word at all, or an unset choice such as ``-- select --``."""
    return not words(name) or bool(_UNSET.match(name))


def is_code(text: str) -> bool:
    """Tell whether a text looks like a code: letters with digits, or capitals only."""
    return len(text) < 30 and bool(_CODE.match(text))


def spans(text: str) -> Iterator[str]:
    """Yield the phrases inside a text that stand out: quoted, capitalised, coded or numeric ones."""
    for match in _SPAN.finditer(text):
        yield "".join(group or "" for group in match.groups()[:3]) or match[0].strip(" .,;:")


def candidates(context: Context, question_words: tuple[str, ...]) -> list[Candidate]:
    """Return the possible answers of a context, in its order, each (text, line) once.

    Args:
        context: The parsed context.
        question_words: The stems of the question in order, to split ``label value`` texts at the label.
    """
    pairs = set(pairwise(question_words))
    found: dict[tuple[str, int], Candidate] = {}

    def add(text: str, line: int, role: str, kind: str) -> None:
        if text and not is_placeholder(text):
            found.setdefault((text, line), Candidate(text, line, role, kind))

    for index, line in enumerate(context.lines):
        name = line.name
        if line.role in ("url", "step", "action", "goal", "outcome", "rootwebarea"):
            continue
        prose = line.role in TEXT_ROLES or line.role in ("bullet", "thought")
        count = len(name.split())
        longest = 12 if not prose else 0 if line.role in ("bullet", "thought") else 8
        if count <= longest:
            add(name.rstrip(" *:"), index, line.role, "name")
        if line.value:
            add(line.value, index, "option" if line.role == "combobox" else "value", "value")
        if prose or count > 6:
            label, colon, rest = name.partition(": ")
            if colon and len(label.split()) <= 6:
                add(rest.strip(), index, line.role, "rest")
            if 1 < count <= 10:
                split = _label_end(stems(name), pairs)
                if split:
                    add(" ".join(name.split()[split:]), index, line.role, "rest")
            if count >= 3:
                for sentence in sentences(name):
                    if len(sentence.split()) > 3:
                        add(sentence, index, line.role, "sentence")
                for span in spans(name):
                    if span != name and span.lower() not in STOPWORDS:
                        add(span, index, line.role, "span")
    return list(found.values())


def _label_end(sequence: tuple[str, ...], pairs: set[tuple[str, str]]) -> int:
    """Return how many leading words of a text repeat the question's wording (0 if fewer than two)."""
    end = 0
    while end + 1 < len(sequence) and (sequence[end], sequence[end + 1]) in pairs:
        end += 1
    return end + 1 if end and end + 1 < len(sequence) else 0


def groups(context: Context) -> list[Group]:
    """Return the lists of sibling items of a context, and the enumerations in its texts."""
    collected: dict[tuple[int, str, int], dict[str, int]] = {}
    found: list[Group] = []
    lines = context.lines
    for index, line in enumerate(lines):
        if line.role in TEXT_ROLES or line.role == "bullet":
            items = enumeration(line.name)
            if items:
                found.append(Group(items, index, index, "text"))
        family = _FAMILIES.get(line.role)
        if family is None or is_placeholder(line.name):
            continue
        if family == "text" and len(line.name.split()) > 6:
            continue
        at = line.parent
        depth = line.depth if family in ("text", "cell") else 0
        for _ in range(_LEVELS):
            if family != "text" or (at >= 0 and lines[at].role in _TEXT_HOLDERS):
                key = (at if at >= 0 else -1 - line.segment, family, depth)
                collected.setdefault(key, {}).setdefault(line.name, index)
            if at < 0:
                break
            at = lines[at].parent
    for (at, family, _), items in collected.items():
        if 2 <= len(items) <= 40:
            first = min(items.values())
            role = lines[first].role
            found.append(
                Group(tuple(items), at if at >= 0 else first, first, "text" if family == "text" else role)
            )
    return found


def enumeration(text: str) -> tuple[str, ...]:
    """Return the items of a list written out in a text (``…: a, b or c``), or nothing.

    >>> enumeration("Sizes: small, large or huge.")
    ('small', 'large', 'huge')
    """
    if ("," not in text and ":" not in text) or _NO_LIST.search(text):
        return ()
    best: tuple[str, ...] = ()
    for sentence in sentences(text):
        head, colon, tail = sentence.rstrip(" .!?").partition(": ")
        for body, least in ((tail, 2), (head + colon + tail, 3)) if colon else ((head, 3),):
            items = tuple(item.strip(" :'\"“”‘’") for item in _ENUMERATION.split(body))
            items = tuple(item for item in items if item)
            if (
                len(items) >= least
                and len(items) > len(best)
                and all(len(item.split()) <= 5 for item in items)
            ):
                best = items
    return best

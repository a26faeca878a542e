"""The embedded logbook writer: what one step changed, from the difference between the two trees.

Elements are told apart by role and name; what only the second tree has is new, what only the first has is
gone, and what both have with another value or state has changed. Nothing is said that the trees do not say.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from lmev2.accessibility import TreeLine, iterate_lines, page_title, parse_attributes
from lmev2.llm.embedded.notes import describe
from lmev2.llm.embedded.text import display

_GOAL = re.compile(r"^Goal: (.*?)\nOutcome: ", re.S | re.M)
_ACTION = re.compile(r"^Action of this step: (.*)\Z", re.S | re.M)
_STATE = re.compile(
    r"^URL: (?P<url>[^\n]*)\n(?:Thought: (?P<thought>.*?)\n)?(?:Action that led here: .*?\n)?Tree:\n",
    re.S | re.M,
)
_SHOWN = ("value", "valuetext", "checked", "selected", "expanded", "disabled", "required", "invalid")
_NOT_SET = frozenset({"False", "false"})
_MOST_NEW, _MOST_GONE, _MOST_CHANGED = 60, 15, 20


class Element(NamedTuple):
    """What a user sees of an element."""

    role: str
    name: str
    state: str

    def __str__(self) -> str:
        named = f"{self.role} {self.name!r}"
        return f"{named}, {self.state}" if self.state else named


class Page(NamedTuple):
    """One state of the step."""

    url: str
    title: str
    thought: str
    elements: list[Element]


def write_event(parts: Sequence[str]) -> str:
    """Return the entry as JSON: ``{"overview", "state_transition"}``.

    Args:
        parts: The text parts of the prompt: the step's head, the state before, the state after, instructions.
    """
    head = parts[0].split("<step>", 1)[1]
    goal, action = (match[1] if (match := pattern.search(head)) else "" for pattern in (_GOAL, _ACTION))
    before, after = (_page(part) for part in parts[1:3])
    done = describe(action) or action or "no action"
    overview = [f"On the page {before.title!r}: {done}."]
    if after.thought:
        overview.append(after.thought)
    overview.append(f"It was part of the task: {goal}")
    return json.dumps(
        {"overview": " ".join(overview), "state_transition": "\n".join(_transition(before, after))},
        ensure_ascii=False,
    )


def _page(part: str) -> Page:
    match = _STATE.search(part)
    if match is None:
        return Page("", "", "", [])
    tree = part[match.end() :].rpartition("\n")[0]
    return Page(match["url"], display(page_title(tree)), match["thought"] or "", _elements(tree))


def _elements(tree: str) -> list[Element]:
    """The elements with a name or a state, in order, without texts that repeat their element's name."""
    elements: list[Element] = []
    above: list[TreeLine] = []
    for line in iterate_lines(tree):
        while above and above[-1].depth >= line.depth:
            above.pop()
        repeats = line.role == "StaticText" and above and line.name in above[-1].name
        above.append(line)
        if repeats or line.role in ("RootWebArea", ""):
            continue
        attributes = parse_attributes(line.attributes)
        state = ", ".join(
            f"{key}={attributes[key]}" if attributes[key] not in ("", "True", "true") else key
            for key in _SHOWN
            if key in attributes and attributes[key] not in _NOT_SET
        )
        name = display(line.name)
        if name or state:
            elements.append(Element(line.role, name, state))
    return elements


def _transition(before: Page, after: Page) -> list[str]:
    moved = (before.title, before.url) != (after.title, after.url)
    lines = [
        f"It led from {before.title!r} to the page {after.title!r} ({after.url})."
        if moved
        else "The page stayed."
    ]
    new, gone, changed = _difference(before.elements, after.elements)
    if changed:
        lines += ["Changed:", *changed[:_MOST_CHANGED]]
    if new:
        lines += ["New:", *map(str, new[:_MOST_NEW])]
    if gone and not moved:
        lines += ["Gone:", *map(str, gone[:_MOST_GONE])]
    if not (new or gone or changed):
        lines.append("Nothing on it changed.")
    return lines


def _difference(
    before: Sequence[Element], after: Sequence[Element]
) -> tuple[list[Element], list[Element], list[str]]:
    """Return what is new, what is gone, and what changed its state (as lines of text), in order."""
    new = _without(after, before)
    gone = _without(before, after)
    states = {element[:2]: element.state for element in gone}
    changed = [element for element in new if element.name and element[:2] in states]
    lines = [f"{element} (before: {states[element[:2]] or 'nothing set'})" for element in changed]
    keys = {element[:2] for element in changed}
    return (
        [element for element in new if element[:2] not in keys],
        [element for element in gone if element[:2] not in keys],
        lines,
    )


def _without(elements: Sequence[Element], others: Sequence[Element]) -> list[Element]:
    """Return ``elements`` less as many equal ones as ``others`` has."""
    left = Counter(others)
    kept = []
    for element in elements:
        if left[element]:
            left[element] -= 1
        else:
            kept.append(element)
    return kept

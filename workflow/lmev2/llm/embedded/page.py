"""Read a memory context into lines with a role, a name, a parent and the page state they belong to.

The reader's context can hold anything: accessibility trees, notes, lists of actions, prose. Each line
becomes one `Line`; a line that is not a tree line is kept as plain text. Nothing here fails on odd input.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lmev2.llm.embedded.text import display

_TREE = re.compile(
    r"(?:\[(?P<bid>\w+)\] )?(?P<role>[A-Za-z]\w*) "
    r"(?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?P<rest>.*)$"
)
_VALUE = re.compile(r"\bvalue=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_HEADER = re.compile(
    r"(goal|url|action|thought|next action|outcome|start|tree)(?:: *|$)(.*)$"
    r"|(?P<scaffold>actions\b[^.]*:|slice of trajectory .*|state \d+[:.]?)$",
    re.I,
)
_STEP = re.compile(
    r"(?:\d+[.)] *|- *)?(?:\[?\d+\]? *)?(?P<call>[a-z_]+\(.*?\))"
    r"(?: *# *(?P<role>\w+) (?P<name>'.*'|\".*\"))? *$"
)
_STATE = re.compile(r"state\s+\d+\b", re.I)

TEXT_ROLES = frozenset({"statictext", "text", "note", "paragraph", "alert", "status"})

PROSE = frozenset({"text", "bullet", "step", "goal", "url", "action", "thought", "outcome"})
_SCAFFOLD = frozenset({"actions", "tree"})  # lines that only say what follows


@dataclass(slots=True)
class Line:
    """One line of the context."""

    role: str  # lower-case ARIA role; 'text' for prose; for headers 'goal', 'url', 'action', 'step' and so on
    name: str
    value: str = ""
    rest: str = ""
    bid: str = ""
    depth: int = 0
    parent: int = -1  # index of the parent line in the context, -1 at the top
    segment: int = 0  # index of the page state (or block of prose) that the line belongs to


@dataclass(slots=True)
class Segment:
    """A run of lines that belong together: one page state, one slice header or one block of notes."""

    start: int
    end: int
    part: int  # number of the text part (memory item) it came from


@dataclass(slots=True)
class Context:
    """All lines of a memory context with their segments."""

    lines: list[Line] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)


def _unquote(literal: str) -> str:
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return ast.literal_eval(literal)
    except (SyntaxError, ValueError):  # not Python's quoting after all: take the characters as they are
        return literal[1:-1]


def _parse_line(text: str) -> Line:
    match = _TREE.match(text)
    if match:
        rest = match["rest"]
        value = _VALUE.search(rest) if "value=" in rest else None
        return Line(
            role=match["role"].lower(),
            name=display(_unquote(match["name"])),
            value=display(_unquote(value[1])) if value else "",
            rest=rest,
            bid=match["bid"] or "",
        )
    step = _STEP.match(text)
    if step:
        return Line(
            "step",
            text,
            value=_unquote(step["name"]) if step["name"] else "",
            rest=(step["role"] or "").lower(),
        )
    header = _HEADER.match(text)
    if header:
        if header["scaffold"]:
            return Line("actions", text)
        kind = header[1].lower()
        kind = {"start": "url", "next action": "action"}.get(kind, kind)
        if kind == "action" and (step := _STEP.match(header[2])):
            name = display(_unquote(step["name"])) if step["name"] else ""
            return Line("action", header[2], value=name, rest=(step["role"] or "").lower(), bid=step["call"])
        return Line(kind, header[2])
    if text[:2] in ("- ", "* ", "• "):
        return Line("bullet", text[2:].strip())
    return Line("text", display(text))


def parse_context(parts: Iterable[str]) -> Context:
    """Parse the text parts of a memory context.

    A new segment begins at each part, at a line such as ``State 3``, at a second page root, and at a goal
    line that follows a tree. A static text that only repeats its parent's name is left out; a nameless
    label takes its text.
    """
    context = Context()
    lines, segments = context.lines, context.segments
    known: dict[str, Line] = {}
    for part_number, part in enumerate(parts):
        segments.append(Segment(len(lines), len(lines), part_number))
        stack: list[int] = []
        seen_root = False
        for raw in part.split("\n"):
            stripped = raw.strip()
            if not stripped:
                continue
            model = known.get(stripped)
            if model is None:
                model = known[stripped] = _parse_line(stripped)
            is_tree = bool(model.rest or model.bid) or model.role not in PROSE
            if _STATE.match(stripped) or (seen_root and model.role in ("rootwebarea", "goal")):
                if segments[-1].start < len(lines):
                    segments.append(Segment(len(lines), len(lines), part_number))
                stack, seen_root = [], False
            seen_root = seen_root or model.role == "rootwebarea"
            depth = len(raw) - len(raw.lstrip("\t")) if is_tree else -1
            while stack and lines[stack[-1]].depth >= depth:
                stack.pop()
            parent = stack[-1] if stack and depth > 0 else -1
            if model.role == "statictext" and parent >= 0:
                owner = lines[parent]
                if not model.name or model.name in owner.name or model.name == owner.value:
                    continue
                if owner.role == "labeltext" and not owner.name:
                    owner.name = model.name
                    continue
            elif model.role in _SCAFFOLD:
                continue
            index = len(lines)
            lines.append(
                Line(
                    model.role,
                    model.name,
                    model.value,
                    model.rest,
                    model.bid,
                    depth,
                    parent,
                    len(segments) - 1,
                )
            )
            segments[-1].end = index + 1
            if depth >= 0:
                stack.append(index)
    return context

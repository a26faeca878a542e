"""Premises that do not hold: a named thing that occurs nowhere, is switched off, or is not offered here.

A flaw is only reported when the surroundings of the named thing are well covered by the context; otherwise
the memory may just lack the page, and the reader goes on (and possibly says UNKNOWN).
"""

import re

from lmev2.llm.embedded.evidence import Evidence
from lmev2.llm.embedded.extract import Group, groups, is_placeholder
from lmev2.llm.embedded.page import PROSE, Context
from lmev2.llm.embedded.question import CHOICES, CONTROLS, Question
from lmev2.llm.embedded.text import contains, stems, terms, words

_COVERED = 0.5  # evidence that the rest of the question must have somewhere
_MOST_ITEMS = 8
_EXAMPLE = re.compile(
    r"\b(?:such as|like|for example|e\.g\.|typed?|types|typing|enter(?:s|ed|ing)?|writes?|wrote"
    r"|search(?:es|ed|ing)? for"
    r"|says?|said|named?|called|instead of)\W*$",
    re.I,
)
_ENTERED = re.compile(
    r"\W*(?:(?:is|was|are|were|has been)\s+)?(?:typed|entered|written|searched|filled|pasted)\b", re.I
)
_AWARE = re.compile(
    r"\b(?:disabled|gr[ea]yed|inactive|unavailable|switched off|why|cannot|can't|not possible|missing)\b",
    re.I,
)
_CODE = re.compile(r"\b[A-Z]{1,4}-?\d{1,2}\b")
_MOVE = re.compile(r"\bfrom\s+['\"“‘]([^'\"”’]+)['\"”’].{0,40}?\bto\s+['\"“‘]([^'\"”’]+)['\"”’]", re.S)
_NUMBER = re.compile(r"\b\d+\b")


def flaw(question: Question, context: Context, evidence: Evidence) -> str:
    """Return an explanation of the question's flaw, or an empty text when none is seen."""
    if question.options or question.given or question.answer_format == "truth":
        return ""
    return (
        _switched_off(question, context, evidence)
        or _not_offered(question, context)
        or _missing_name(question, context)
        or _missing_code(question, context)
    )


def _missing_name(question: Question, context: Context) -> str:
    """A quoted name that no element of any page has, while the rest of the question is well covered."""
    names = [name for name in question.quotes if len(name.split()) <= 5]
    missing = [name for name in names if not is_shown(name, context) and not _is_example(name, question.text)]
    if len(missing) != 1:  # several missing names: the memory rather lacks the page
        return ""
    name = missing[0]
    others = [other for other in names if other != name and is_shown(other, context)]
    around = Evidence(context, question.text.replace(name, " "), others, question.focus)
    if max(around.at(i) for i in range(len(context.lines))) < _COVERED:
        return ""
    return f"There is no '{name}' here" + _offer(others, context, around) + "."


def _is_example(name: str, text: str) -> bool:
    """Tell whether a question brings up a quoted text as an example, an input or an utterance."""
    before, _, after = text.partition(name)
    return bool(_EXAMPLE.search(before.rstrip("'\"“‘`")) or _ENTERED.match(after))


def is_shown(name: str, context: Context) -> bool:
    """Tell whether an element of a page has a name: as its own, or within a text."""
    wanted = stems(name)
    for line in context.lines:
        # Of prose only the controls that actions used count: goals may name what the pages lack.
        for text in (line.value,) if line.role in PROSE else (line.name, line.value):
            if text and contains(stems(text), wanted) and (len(wanted) > 1 or len(text.split()) <= 6):
                return True
    return False


def _offer(others: list[str], context: Context, around: Evidence) -> str:
    """Say which items stand where the missing one should: the list that another quoted name labels."""
    labels = {stems(other) for other in others}
    best, chosen = 0.0, ()
    for group in groups(context):
        items = tuple(item for item in group.items if not is_placeholder(item))
        named = {stems(context.lines[at].name) for at in (group.line, around.label(group.line)) if at >= 0}
        if named & labels and group.role in CHOICES | CONTROLS and 2 <= len(items) <= _MOST_ITEMS:
            score = around.at(group.line)
            if score > best:
                best, chosen = score, items
    return f"; it offers only {', '.join(chosen)}" if chosen else ""


def _missing_code(question: Question, context: Context) -> str:
    """A short code (letters and a number) that occurs nowhere, while codes of the same series do."""
    for code in _CODE.findall(question.text):
        series = re.compile(rf"\b{re.escape(code.rstrip('0123456789'))}\d{{1,2}}\b")
        shown: dict[str, str] = {}
        for line in context.lines:
            if line.role not in PROSE and len(line.name) < 200:
                for found in series.findall(line.name):
                    if found not in shown or (line.role in CHOICES and line.name.startswith(found)):
                        shown[found] = (
                            line.name if line.name.startswith(found) and len(line.name) < 60 else found
                        )
        if code not in shown and len(shown) >= 2 and not any(code in line.name for line in context.lines):
            return f"There is no {code} here; only {', '.join(shown[key] for key in sorted(shown))}."
    return ""


def _switched_off(question: Question, context: Context, evidence: Evidence) -> str:
    """A control that the question uses but that is disabled wherever it is shown."""
    if _AWARE.search(question.text):
        return ""
    quotes = {stems(name) for name in question.quotes}
    state: dict[str, bool] = {}
    for line in context.lines:
        if line.bid and line.role in ("button", "link", "tab", "menuitem"):
            own = terms(line.name)
            if stems(line.name) in quotes or (len(own) > 1 and own <= evidence.asked):
                state[line.name] = state.get(line.name, True) and "disabled=True" in line.rest
    for name, disabled in state.items():
        if disabled:
            reason = _reason(name, context)
            return f"'{name}' is disabled here and cannot be used, so this does not happen." + reason
    return ""


def _reason(name: str, context: Context) -> str:
    """The denying text that stands next to a control, if any."""
    at = next(i for i, line in enumerate(context.lines) if line.name == name)
    segment = context.lines[at].segment
    for index in sorted(
        range(max(0, at - 4), min(len(context.lines), at + 5)), key=lambda i: (abs(i - at), i)
    ):
        line = context.lines[index]
        if line.segment == segment and len(line.name.split()) > 4 and _DENIAL.search(line.name):
            return f" The page says: {line.name}"
    return ""


_DENIAL = re.compile(r"\b(?:not|no|cannot|only|instead|moved|off|disabled|unavailable)\b", re.I)


def _not_offered(question: Question, context: Context) -> str:
    """A move from one named value to another that the choices on that thing's page do not offer."""
    move = _MOVE.search(question.text)
    if not move:
        return ""
    start, target = stems(move[1]), stems(move[2])
    numbers = set(_NUMBER.findall(question.text))
    choices = [
        (group, {stems(item) for item in group.items}) for group in groups(context) if group.role in CHOICES
    ]
    best: Group | None = None
    for group, items in choices:
        segment = context.segments[context.lines[group.line].segment]
        shown = context.lines[segment.start : segment.end]
        if target in items or not any(start in (stems(line.name), stems(line.value)) for line in shown):
            continue
        if numbers and not any(
            numbers.intersection(words(line.name)) for line in shown if line.role != "url"
        ):
            continue
        related = start in items or any(target in other and len(items & other) >= 2 for _, other in choices)
        if related and (best is None or len(items) < len(best.items)):
            best = group
    if best is None:
        return ""
    offered = ", ".join(item for item in best.items if not is_placeholder(item))
    return f"'{move[2]}' is not offered from '{move[1]}'; it offers only {offered}."

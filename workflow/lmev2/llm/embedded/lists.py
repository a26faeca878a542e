"""Answers that are lists: sibling items, written-out enumerations, several parts, and orders of actions."""

import re

from lmev2.llm.embedded.evidence import Evidence
from lmev2.llm.embedded.extract import Group, groups, is_placeholder
from lmev2.llm.embedded.page import Context
from lmev2.llm.embedded.phrases import MINIMUM, RECURRENCE_COST, best_candidates, freshness, phrase_answer
from lmev2.llm.embedded.question import CHOICES, Question, parse_question, roles_of
from lmev2.llm.embedded.text import contains, display, quoted, stems, terms

_ASKING = re.compile(r"\b(?:give|name|list|what|which|how|state)\b", re.I)
_WH = re.compile(r"\b(?:what|which|how|give|name|list)\b", re.I)
_USING = re.compile(
    r"\b(?:opened|open|press|pressed|click|clicked|choose|chosen|select|selected|used?)\b", re.I
)
_PRESSED = re.compile(r"\b(?:press(?:ed)?|click(?:ed|s)?|buttons|links)\b", re.I)
_CONTROLS = re.compile(r"\b(?:controls|buttons|links|clicks|steps|actions)\b", re.I)
_RUN_COVERED = 0.25  # share of the question's weight that a run must cover to stand for the procedure
_MOST = 12  # items of a list whose length the question does not say
_PARTS = re.compile(r",? and (?=the |which |what |how )|; ")


def list_answer(question: Question, context: Context, evidence: Evidence) -> str:
    """Return a comma-separated list, or an empty text when the context does not support one."""
    if question.given:
        items = order_given(question, context)
    elif question.steps:
        items = align_steps(question, context, evidence)
    else:
        items = parts_answer(question, context, evidence)
        if not items and question.answer_format == "ordered" and _CONTROLS.search(question.text):
            items = pressed_in_order(question, context, evidence)
        if not items and question.numeric and question.count:
            items = top_phrases(question, context, evidence)
        items = items or best_group(question, context, evidence)
    return ", ".join(items)


def order_given(question: Question, context: Context) -> list[str]:
    """Order the items that a question lists by the actions of the run that uses most of them."""
    wanted = [stems(item) for item in question.given]
    runs = [[stems(context.lines[index].value) for index in run] for run in action_runs(context)]
    best: list[int] = []
    for names in runs:
        first: dict[int, int] = {}
        for at, name in enumerate(names):
            exact = [i for i, item in enumerate(wanted) if item == name]
            loose = [i for i, item in enumerate(wanted) if contains(name, item)]
            loose.sort(key=lambda i: -len(wanted[i]))
            for i in (exact or loose)[:1]:
                first.setdefault(i, at)
        order = sorted(first, key=first.__getitem__)
        if len(order) > len(best):
            best = order
    if len(best) < 2:
        return []
    rest = [i for i in range(len(wanted)) if i not in best]
    return [question.given[i] for i in [*best, *rest]]


def align_steps(question: Question, context: Context, evidence: Evidence) -> list[str]:
    """Match the controls that a question describes, in order, with the actions of the run that fits best.

    Dynamic programming over (description, action): each description takes a later action than the one
    before; a pair earns by role, by shared words and by position ("final"); the run's goal and texts earn
    by the question's words.
    """
    wanted = [(roles_of(step), terms(step), step.lower()) for step in question.steps]
    best, items = 0.0, []
    for run in action_runs(context):
        steps = [
            line
            for line in run
            if context.lines[line].value and not is_placeholder(context.lines[line].value)
        ]
        if len(steps) < len(wanted):
            continue
        table = [[(0.0, ())] * (len(steps) + 1)]
        for roles, own, text in wanted:
            row: list[tuple[float, tuple[int, ...]]] = [(-1.0, ())]
            for at, index in enumerate(steps):
                line = context.lines[index]
                gain = 1.0 if line.rest in roles else 0.3 if not roles else 0.0
                gain += len(own & terms(line.value)) / (len(own) or 1)
                gain += 0.5 if re.search(r"\b(final|last)", text) and at == len(steps) - 1 else 0.0
                before, path = table[-1][at]
                taken = (before + gain, (*path, index)) if before >= 0 else (-1.0, ())
                row.append(max(row[-1], taken, key=lambda pair: pair[0]))
            table.append(row)
        score, path = table[-1][-1]
        score = score / len(wanted) + 2 * evidence.covered(_with_goal(context, run))
        if len(path) == len(wanted) and score > best:
            best, items = score, [display(context.lines[i].value) for i in path]
    return items


def action_runs(context: Context) -> list[list[int]]:
    """Return the numbered action lists of the context (the first of each memory item) as line indexes."""
    runs: dict[int, list[int]] = {}
    numbers: dict[int, int] = {}
    for index, line in enumerate(context.lines):
        if line.role == "step":
            part = context.segments[line.segment].part
            number = re.match(r"\d+", line.name)
            at = int(number[0]) if number else numbers.get(part, 0) + 1
            if at > numbers.get(part, -1):  # a list that starts again repeats a stretch of the run
                runs.setdefault(part, []).append(index)
                numbers[part] = at
    return list(runs.values())


def _with_goal(context: Context, run: list[int]) -> list[int]:
    """Return a run's action lines and the goal lines of its memory item."""
    part = context.segments[context.lines[run[0]].segment].part
    first = next(segment.start for segment in context.segments if segment.part == part)
    return [*(index for index in range(first, run[0]) if context.lines[index].role == "goal"), *run]


def pressed_in_order(question: Question, context: Context, evidence: Evidence) -> list[str]:
    """Return the controls that were operated in the run that the question fits best, in order."""
    only_pressed = bool(_PRESSED.search(question.text))
    best, items = 0.0, []
    for run in action_runs(context):
        used = [context.lines[i] for i in run if not only_pressed or "click(" in context.lines[i].name]
        names = list(dict.fromkeys(display(line.value) for line in used if not is_placeholder(line.value)))
        score = evidence.covered(_with_goal(context, run))
        if len(names) > 1 and score > best:
            best, items = score, names
    return items[: question.count or _MOST] if best >= _RUN_COVERED else []


def parts_answer(question: Question, context: Context, evidence: Evidence) -> list[str]:
    """Answer 'give the x of a and the y of b' part by part; empty unless every part has an answer.

    What stands before the asking clause holds for all parts. Parts about using controls are matched with
    the actions.
    """
    start = _ASKING.search(question.text)
    shared, asking = (
        (question.text[: start.start()], question.text[start.start() :]) if start else ("", question.text)
    )
    parts = [part.strip(" .?") for part in _PARTS.split(asking)]
    if (
        len(parts) < 2
        or question.count not in (None, len(parts))
        or any(len(part.split()) < 2 for part in parts)
    ):
        return []
    if _USING.search(question.text) and all(roles_of(part) for part in parts):
        question.steps = parts
        items = align_steps(question, context, evidence)
        if items:
            return items
    answers: list[str] = []
    for part in parts:
        sub = parse_question(part if _WH.search(part) else f"Give {part}")
        names = [name for name in quoted(question.text) if name in shared or name in part]
        found = Evidence(context, f"{shared} {part}", names, sub.focus)
        answer = phrase_answer(sub, context, found, without=answers)
        if not answer:
            return []
        answers.append(answer)
    return answers


def top_phrases(question: Question, context: Context, evidence: Evidence) -> list[str]:
    """Return the best supported separate phrases, as many as are asked for, in the order of the context."""
    chosen: dict[str, int] = {}
    for _, candidate in best_candidates(question, context, evidence):
        if candidate.kind != "sentence" and evidence.at(candidate.line) >= MINIMUM:
            chosen.setdefault(candidate.text, candidate.line)
        if len(chosen) == question.count:
            return sorted(chosen, key=chosen.__getitem__)
    return []


def best_group(question: Question, context: Context, evidence: Evidence) -> list[str]:
    """Return the items of the best supported list."""
    asked = terms(question.text)
    phrases = {stems(phrase) for phrase in question.quotes}
    best, items = 0.0, []
    for group in groups(context):
        score, shown = _score(question, asked, phrases, group, evidence)
        if score > best:
            best, items = score, shown
    if best < MINIMUM:
        return []
    return items[: question.count] if question.count else items[:_MOST]


def _score(
    question: Question, asked: frozenset[str], phrases: set[tuple[str, ...]], group: Group, evidence: Evidence
) -> tuple[float, list[str]]:
    items = [item for item in group.items if group.role in CHOICES or stems(item) not in phrases]
    if sum(1 for item in items if terms(item) - asked) < 2:
        return 0.0, []
    score = max(evidence.at(group.line), evidence.at(group.first, own=group.role == "text"))
    if question.dynamic:
        score *= freshness(evidence, group.first)
    score *= 1 - RECURRENCE_COST * sum(evidence.recurrence(item) for item in items) / len(items)
    if question.roles:
        score *= 1.2 if group.role in question.roles else 0.8
    if question.count:
        difference = len(items) - question.count
        score *= 1.3 if difference == 0 else 0.75 if difference > 0 else 0.4
    elif len(items) > 10:
        score *= 0.7
    return score, items

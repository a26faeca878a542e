"""Choosing among given options and judging statements, by the evidence for each."""

import re

from lmev2.llm.embedded.evidence import Evidence
from lmev2.llm.embedded.extract import Group, groups
from lmev2.llm.embedded.page import Context
from lmev2.llm.embedded.phrases import freshness
from lmev2.llm.embedded.question import INPUTS, TEXTS, Question
from lmev2.llm.embedded.text import DENIALS, contains, stems, terms, words

_LONG_NAME = 120  # characters; a longer name is a text, not a control's name
_PASSAGES = 12  # passages whose polarity decides on a statement
_SUPPORT = 0.3  # evidence that the best place must have before an option is chosen at all
_ITEMS = re.compile(r"\s*(?:,|;|\band\b)\s*")

# Words of a question about a property of controls, and how the property shows in a tree line or its name.
_PROPERTIES = {
    "optional": ("optional",),
    "required": ("required", "mandatory", "compulsory"),
    "compulsory": ("required", "mandatory", "compulsory"),
    "mandatory": ("required", "mandatory", "compulsory"),
    "disabled": ("disabled",),
    "selected": ("selected=true", "checked=true"),
    "checked": ("checked=true",),
    "ticked": ("checked=true",),
    "expanded": ("expanded=true",),
}


def choice_answer(question: Question, context: Context, evidence: Evidence) -> str:
    """Return the letter (or letters) of the best supported options, or an empty text."""
    if max((evidence.at(i) for i in range(len(context.lines))), default=0) < _SUPPORT:
        return ""
    several = question.answer_format == "letters"
    found = groups(context)
    if several:
        chosen = _by_property(question, context, evidence) or _by_membership(question, found, evidence)
        if chosen:
            return ", ".join(chosen)
    scores = dict.fromkeys(question.options, 0.0)
    for letter, text in question.options.items():
        scores[letter] = max(
            _list_score(text, found, evidence), _text_score(text, question, context, evidence)
        )
    if question.negated and not several:  # the odd one out
        least = min(scores.values())
        alone = [letter for letter, score in scores.items() if score == least]
        return alone[0] if len(alone) == 1 else ""
    best = max(scores.values())
    if best <= 0:
        return ""
    if not several:
        return next(letter for letter, score in scores.items() if score == best)
    chosen = [letter for letter, score in scores.items() if score >= 0.7 * best]
    if question.negated:
        chosen = [letter for letter in scores if letter not in chosen]
    return ", ".join(chosen)


def _by_property(question: Question, context: Context, evidence: Evidence) -> list[str]:
    """Return the options whose control has the property asked about (negated: lacks it)."""
    asked = next((_PROPERTIES[word] for word in words(question.text) if word in _PROPERTIES), None)
    if asked is None:
        return []
    of_fields = bool({"optional", "required"}.intersection(asked))
    lines = [
        (index, stems(line.name), f"{line.name} {line.rest}".lower())
        for index, line in enumerate(context.lines)
        if line.rest and len(line.name) < _LONG_NAME and (line.role in INPUTS or not of_fields)
    ]
    chosen = []
    for letter, text in question.options.items():
        wanted = stems(text)
        named = [
            (evidence.at(i, own=False), any(m in shown for m in asked))
            for i, name, shown in lines
            if contains(name, wanted)
        ]
        if named:
            best = max(score for score, _ in named)
            holds = any(has for score, has in named if score > best - 0.1)
            if holds != question.negated:
                chosen.append(letter)
    return chosen


def _by_membership(question: Question, found: list[Group], evidence: Evidence) -> list[str]:
    """Return the options that are items of the best supported list (negated: those that are not)."""
    best, chosen = 0.0, []
    for group in found:
        items = {stems(item) for item in group.items}
        inside = [letter for letter, text in question.options.items() if stems(text) in items]
        if not inside or len(inside) == len(question.options):
            continue
        score = evidence.at(group.line) * (1 + 0.1 * len(inside))
        if group.role in question.roles:
            score *= 1.2
        if score > best:
            best, chosen = score, inside
    if chosen and question.negated:
        return [letter for letter in question.options if letter not in chosen]
    return chosen


def _list_score(text: str, found: list[Group], evidence: Evidence) -> float:
    """Return the support for an option that is a list: the best list that has the same items."""
    items = {stems(item) for item in _ITEMS.split(text) if item}
    if len(items) < 2:
        return 0.0
    best = 0.0
    for group in found:
        other = {stems(item) for item in group.items}
        share = len(items & other) / len(items | other)
        if share > 0.5:
            best = max(best, 2 * share * share * evidence.at(group.line))
    return best


def _text_score(text: str, question: Question, context: Context, evidence: Evidence) -> float:
    """Return how well single lines near the question's words support an option."""
    own = terms(text)
    new = own - terms(question.text) or own
    if not new:
        return 0.0
    sequence = stems(text)
    best = 0.0
    for index, line in enumerate(context.lines):
        shown = terms(line.name)
        share = len(new & shown) / len(new)
        if share >= 0.5:
            whole = 1.3 if contains(stems(line.name), sequence) else 1.0
            factor = freshness(evidence, index) if question.dynamic else 1.0
            best = max(best, share * whole * factor * evidence.at(index))
    return best


def truth_answer(question: Question, context: Context, evidence: Evidence) -> str:
    """Return True or False for a statement by the polarity of the best supported passages, or an empty text.

    A passage that denies (a negation, a disabled control) where the statement does not, or the other way
    round, speaks against it.
    """
    passages = (
        i for i, line in enumerate(context.lines) if line.role in TEXTS or "disabled=True" in line.rest
    )
    ranked = sorted(passages, key=lambda i: -evidence.at(i))[:_PASSAGES]
    if not ranked or evidence.at(ranked[0]) < _SUPPORT:
        return ""
    best = evidence.at(ranked[0])
    denies = False
    for index in ranked:
        line = context.lines[index]
        if evidence.at(index) >= 0.6 * best:
            denies |= bool(DENIALS.intersection(words(line.name))) or "disabled=True" in line.rest
    return str(denies == question.negated)

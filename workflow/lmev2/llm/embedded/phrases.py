"""Short answers: the best supported name, value or phrase; and one or two sentences."""

import re
from collections.abc import Sequence

from lmev2.llm.embedded.evidence import Evidence
from lmev2.llm.embedded.extract import Candidate, candidates, is_code
from lmev2.llm.embedded.page import Context
from lmev2.llm.embedded.question import Question
from lmev2.llm.embedded.text import shorten, stems, terms

MINIMUM = 0.33  # evidence below which the reader does not answer
RECURRENCE_COST = 0.35  # what stands on every page rarely answers a question about one
_LABELS = frozenset({"columnheader", "rowheader", "labeltext", "navigation"})  # name other things
_FRESH_FACTOR, _CAUSED_FACTOR, _MESSAGE_FACTOR = 1.15, 1.4, 1.2
_MESSAGE = re.compile(
    r"\b(?:must|needs?|required?|requires|cannot|can't|please|invalid|errors?|failed|not|no|only|at least"
    r"|already|sorry|missing|disabled|unable|until|before|first|successfully|has been|have been)\b",
    re.I,
)
_PHRASE_WORDS, _MESSAGE_WORDS, _SENTENCE_WORDS = 12, 24, 40


def best_candidates(
    question: Question, context: Context, evidence: Evidence
) -> list[tuple[float, Candidate]]:
    """Return the possible answers with their scores, best first (stable on ties: the context's order)."""
    asked = evidence.asked
    scored = []
    for candidate in candidates(context, stems(question.text)):
        score = _score(question, asked, candidate, context, evidence)
        if score > 0:
            scored.append((score, candidate))
    scored.sort(key=lambda pair: -pair[0])
    return scored


def _score(
    question: Question, asked: frozenset[str], candidate: Candidate, context: Context, evidence: Evidence
) -> float:
    own = terms(candidate.text)
    line = context.lines[candidate.line]
    reads = candidate.kind in ("span", "sentence", "rest")
    new = own - asked
    if not new and not (own == frozenset() and candidate.text.isdecimal()):
        return 0.0
    score = evidence.at(candidate.line, own=reads)
    score *= 1 - RECURRENCE_COST * evidence.recurrence(line.name)
    if question.dynamic:
        score *= freshness(evidence, candidate.line)
    if question.n_words:
        score *= 1.2 if len(candidate.text.split()) == question.n_words else 0.7
    novelty = len(new) / len(own) if own else 1.0
    if candidate.kind == "sentence":
        score *= 1.1 if question.long_text else 0.55
        if question.long_text and _MESSAGE.search(candidate.text):
            score *= _MESSAGE_FACTOR
    else:
        score *= 0.6 + 0.4 * novelty
        if question.long_text:
            score *= 0.8
    if candidate.kind == "name" or candidate.kind == "value":
        score += 0.25 * _label_match(question, candidate, context, evidence)
    elif candidate.kind == "rest":
        label = terms(line.name.removesuffix(candidate.text))
        if question.focus:
            score += 0.25 * len(question.focus & label) / len(question.focus)
    if question.roles:
        score *= 1.2 if candidate.role in question.roles else 0.75
    if candidate.role in _LABELS and candidate.role not in question.roles:
        score *= 0.6
    if question.numeric:
        score *= 1.2 if any(char.isdigit() for char in candidate.text) else 0.5
    if question.coded:
        score *= 1.2 if is_code(candidate.text) else 0.6
    return score


def freshness(evidence: Evidence, index: int) -> float:
    """Return the factor for a line that appeared after an action, more if the question names that action."""
    if evidence.caused(index):
        return _CAUSED_FACTOR
    return _FRESH_FACTOR if evidence.fresh(index) else 1.0


def _label_match(question: Question, candidate: Candidate, context: Context, evidence: Evidence) -> float:
    """Return how much of the asked thing (focus words) names the label of a candidate."""
    if not question.focus:
        return 0.0
    best = 0.0
    labels = [
        evidence.column(candidate.line),
        evidence.label(candidate.line),
        context.lines[candidate.line].parent,
    ]
    if labels[-1] >= 0:
        labels.append(evidence.label(labels[-1]))
    if candidate.kind == "value":
        labels.append(candidate.line)
    for label in labels:
        if label >= 0:
            best = max(best, len(question.focus & terms(context.lines[label].name)) / len(question.focus))
    return best


def phrase_answer(
    question: Question, context: Context, evidence: Evidence, without: Sequence[str] = ()
) -> str:
    """Return the best supported short phrase, or an empty text when nothing is supported well enough.

    Args:
        question: The question.
        context: The context.
        evidence: The question's evidence in the context.
        without: Answers that are taken already.
    """
    ranked = [pair for pair in best_candidates(question, context, evidence) if pair[1].text not in without]
    if not ranked or evidence.at(ranked[0][1].line) < MINIMUM:
        return ""
    return shorten(ranked[0][1].text, _MESSAGE_WORDS if question.long_text else _PHRASE_WORDS)


def sentence_answer(question: Question, context: Context, evidence: Evidence) -> str:
    """Return the best one or two sentences of the context, or an empty text."""
    question.long_text = True
    ranked = [pair for pair in best_candidates(question, context, evidence) if pair[1].kind == "sentence"]
    if not ranked or evidence.at(ranked[0][1].line) < MINIMUM * 0.6:
        return ""
    chosen = [ranked[0][1].text]
    for _, candidate in ranked[1:]:
        if not terms(candidate.text) <= terms(chosen[0]):
            chosen.append(candidate.text)
            break
    return " ".join(shorten(text, _SENTENCE_WORDS) for text in chosen)

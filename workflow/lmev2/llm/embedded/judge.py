"""The embedded judge: two fixed rules in the place of a model's verdict.

*Abstention*: 1 only if the response says that the premise is wrong, about the thing that the reference
names, and does not answer as if the premise held; saying that the live environment cannot be reached counts
too. *Gotchas*: 1 if the response states at least one insight of the reference and contradicts none
(docs/benchmark.md, scoring).
"""

import json
import re

from lmev2.llm.embedded.text import NEGATIONS, quoted, sentences, stems, terms, words

_FLAW = re.compile(
    r"\b(?:flawed|no such|there (?:is|are|was|were) no|"
    r"(?:do|does|did) not (?:exist|have|offer|contain|show|list|need)"
    r"|(?:is|are|was|were|has|have|had) (?:no\b|not|never|none|nothing|disabled|unavailable"
    r"|switched off|optional)"
    r"|(?:isn|aren|wasn|weren|don|doesn|didn|can|couldn|won)['’]t|cannot|can not|could not|nowhere"
    r"|nonexistent"
    r"|non-existent|(?:premise|assumption|question) (?:is|seems|looks) (?:wrong|false|incorrect|mistaken)"
    r"|incorrect premise|false premise|wrong premise|offers? only|only offers?)",
    re.I,
)
_IGNORANCE = re.compile(
    r"\b(?:i (?:do not|don['’]t|cannot|can['’]t) (?:know|say|tell|find)|unknown"
    r"|not (?:enough|sufficient) information"
    r"|insufficient information|(?:memory|context) (?:does|do) not (?:support|say|contain|mention))\b",
    re.I,
)
_NO_ACCESS = re.compile(
    r"\b(?:no|not|cannot|can['’]t|without|lack(?:s|ing)?)\b[^.]{0,40}\b(?:live|direct|current)?\s*access\b",
    re.I,
)
_FOLLOWS = re.compile(
    r"\b(?:but|however|nevertheless|still|anyway|otherwise)\b[^.]*\b(?:answer|is|are|it|click|choose|select|press)\b",
    re.I,
)
_SCAFFOLD = frozenset(
    word for word in stems("the question premise is flawed wrong false because there no not only here")
)
_CLAUSE = re.compile(r"(?<=[.;:!?])\s+|,\s+(?=but |so |and )")
_FEWEST = 3  # content words that an insight and a response must share at least
_SHARE_STATED, _SHARE_ABOUT = 0.4, 0.35  # of the insight's, of the reference's content words
_SAME = 0.6  # share of common words from which on two clauses speak of the same thing


def judge(system: str, user: str) -> str:
    """Return a verdict as JSON ``{"label": 0 or 1, "reason": str}``.

    Args:
        system: System prompt; the word "premise" selects the abstention rule, "insight" the gotchas rule.
            With
            neither, the user text is looked at the same way.
        user: Text with ``<reference>``, ``<response>``, ``<answer>`` and ``<question>`` sections.
    """
    reference = section(user, "reference")
    answer = section(user, "answer") or section(user, "response")
    prompt = system.lower() if re.search("premise|insight", system, re.I) else user.lower()
    if "premise" in prompt and "insight" not in prompt:
        label, reason = judge_abstention(section(user, "question"), reference, answer)
    else:
        label, reason = judge_gotchas(reference, answer)
    return json.dumps({"label": label, "reason": reason}, ensure_ascii=False)


def section(text: str, name: str) -> str:
    """Return the content of the last ``<name>…</name>`` section of a text, stripped, or an empty text."""
    found = re.findall(rf"<{name}>(.*?)</{name}>", text, re.S)
    return found[-1].strip() if found else ""


def judge_abstention(question: str, reference: str, answer: str) -> tuple[int, str]:
    """Tell whether an answer finds the flaw that the reference names, without following the premise."""
    if not answer or answer.strip().upper() == "UNKNOWN":
        return 0, "The response gives no answer."
    if _NO_ACCESS.search(answer):
        return 1, "The response says that the live environment cannot be accessed."
    if not _FLAW.search(answer):
        return 0, "The response does not say that the premise is wrong."
    if _IGNORANCE.search(answer):
        return 0, "The response only says that it does not know."
    if _FOLLOWS.search(_FLAW.split(answer, maxsplit=1)[-1]):
        return 0, "The response also answers as if the premise held."
    about = terms(reference) - _SCAFFOLD
    said = terms(" ".join(part for part in sentences(answer) if _FLAW.search(part)))
    named = [terms(name) for name in [*quoted(reference), *quoted(question)] if terms(name) <= about]
    shared = len(about & said)
    if any(name and name <= said for name in named) or shared >= max(2, _SHARE_ABOUT * len(about)):
        return 1, "The response names the flaw that the reference names."
    return 0, "The response denies something else than the reference does."


def judge_gotchas(reference: str, answer: str) -> tuple[int, str]:
    """Tell whether an answer states an insight of the reference and contradicts none."""
    if not answer or answer.strip().upper() == "UNKNOWN":
        return 0, "The response gives no answer."
    stated = False
    clauses = [clause for clause in _CLAUSE.split(answer) if terms(clause)]
    for insight in _CLAUSE.split(reference):
        wanted = terms(insight)
        if len(wanted) < _FEWEST:
            continue
        for clause in clauses:
            said = terms(clause)
            both = len(wanted & said)
            if both >= _FEWEST and both >= _SAME * len(wanted | said) and denies(insight) != denies(clause):
                return 0, "The response contradicts an insight of the reference."
        both = len(wanted & terms(answer))
        stated |= both >= _FEWEST and both >= _SHARE_STATED * len(wanted)
    return (
        (1, "An insight of the reference is stated.")
        if stated
        else (0, "No insight of the reference is stated.")
    )


def denies(text: str) -> bool:
    """Tell whether a clause holds a negation."""
    return any(word in NEGATIONS for word in words(text))

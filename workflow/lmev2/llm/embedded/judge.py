"""The embedded judge: two fixed rules in the place of a model's verdict.

*Abstention*: 1 only if the response says that the premise is wrong, about the thing that the reference names, and does
not answer as if the premise held; saying that the live environment cannot be reached counts too. *Gotchas*: 1 if the
response states at least one insight of the reference and contradicts none (FACTS of the benchmark, scoring).
"""

import json
import re

from lmev2.llm.embedded.text import NEGATIONS, quoted, sentences, stems, terms, words

_FLAW = re.compile(
    r"\b(?:flawed|no such|there (?:is|are|was|were) no|(?:do|does|did) not (?:exist|have|offer|contain|show|list|need)"
    r"|(?:is|are|was|were|has|have|had) (?:no\b|not|never|none|nothing|disabled|unavailable|switched off|optional)"
    r"|(?:isn|aren|wasn|weren|don|doesn|didn|can|couldn|won)['’]t|cannot|can not|could not|nowhere|nonexistent"
    r"|non-existent|(?:premise|assumption|question) (?:is|seems|looks) (?:wrong|false|incorrect|mistaken)"
    r"|incorrect premise|false premise|wrong premise|offers? only|only offers?|without (?:a|an|any|the)\b)",
    re.I,
)
_IGNORANCE = re.compile(
    r"\b(?:i (?:do not|don['’]t|cannot|can['’]t) (?:know|say|tell|find)|unknown|not (?:enough|sufficient) information"
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
_SHARE_STATED, _SHARE_ABOUT, _SHARE_CONTRADICTED = 0.5, 0.2, 0.7


def judge(system: str, user: str) -> str:
    """Return a verdict as JSON ``{"label": 0 or 1, "reason": str}``.

    Args:
        system: System prompt; the word "premise" selects the abstention rule, "insight" the gotchas rule. With
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
    """Return the content of the last ``<name>…</name>`` section of a text, stripped; empty when there is none."""
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
    named = quoted(reference)
    central = terms(" ".join(named[:1])) or terms(reference) - _SCAFFOLD
    about = terms(reference) - _SCAFFOLD
    said = terms(answer)
    if central & said and len(about & said) >= _SHARE_ABOUT * len(about):
        return 1, "The response names the flaw that the reference names."
    return 0, "The response denies something else than the reference does."


def judge_gotchas(reference: str, answer: str) -> tuple[int, str]:
    """Tell whether an answer states an insight of the reference and contradicts none."""
    if not answer or answer.strip().upper() == "UNKNOWN":
        return 0, "The response gives no answer."
    stated = False
    for insight in re.split(r"(?<=[.;:!?])\s+", reference):
        wanted = terms(insight)
        if len(wanted) < 2:
            continue
        for said in [*sentences(answer), answer]:
            share = len(wanted & terms(said)) / len(wanted)
            agrees = denies(insight) == denies(said)
            if share >= _SHARE_CONTRADICTED and not agrees and said is not answer:
                return 0, "The response contradicts an insight of the reference."
            stated |= share >= _SHARE_STATED and (agrees or said is answer)
    return (
        (1, "An insight of the reference is stated.")
        if stated
        else (0, "No insight of the reference is stated.")
    )


def denies(text: str) -> bool:
    """Tell whether a sentence holds a negation (two of them cancel out)."""
    return sum(word in NEGATIONS for word in words(text)) % 2 == 1

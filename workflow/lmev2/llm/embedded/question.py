"""Understand a question's form: answer format, options, number and kind of the things asked, names."""

import re
from dataclasses import dataclass, field

from lmev2.llm.embedded.text import (
    NUMBER_STEMS,
    NUMBER_WORDS,
    quoted,
    sentences,
    stem,
    terms,
    word_set,
    words,
)

# The sentence on the answer's form: from its verb if that is a usual one, since the last option before it
# may end without a full stop; else from the sentence's start.
_FORMATS = (
    re.compile(
        r"\b(?:Mark|Put|Write|Provide|Place|Present|Return|Enclose|Output|Box|Answer)\b[^.?!\n]*\\boxed\b.*",
        re.S,
    ),
    re.compile(r"[^.?!\n]*\\boxed\b.*", re.S),
)
_OPTION = re.compile(r"^\s*\(?([A-Z])[.):]\s+(.*\S)\s*$", re.M)

INPUTS = frozenset(
    {"textbox", "combobox", "searchbox", "spinbutton", "checkbox", "labeltext", "listbox", "radio", "switch"}
)
CHOICES = frozenset({"option", "radio", "menuitemradio", "checkbox", "treeitem"})
CONTROLS = frozenset({"button", "link", "tab", "menuitem", "switch", "disclosuretriangle"})
TEXTS = frozenset(
    {"statictext", "text", "paragraph", "note", "alert", "status", "bullet", "listitem", "cell", "gridcell"}
)

# What a noun of the question says about the role of its answer (general user-interface vocabulary).
KINDS: dict[str, frozenset[str]] = {
    "button": frozenset({"button"}),
    "link": frozenset({"link"}),
    "tab": frozenset({"tab"}),
    "field": INPUTS,
    "box": INPUTS,
    "input": INPUTS,
    "checkbox": frozenset({"checkbox"}),
    "dropdown": frozenset({"combobox", "listbox"}),
    "menu": frozenset({"menuitem", "menu", "button", "link"}),
    "submenu": frozenset({"menuitem", "menu", "button", "link"}),
    "entry": frozenset({"menuitem", "link", "button", "option"}),
    "entri": frozenset({"menuitem", "link", "button", "option"}),
    "item": frozenset({"menuitem", "link", "option", "listitem", "cell"}),
    "option": CHOICES,
    "choice": CHOICES,
    "alternative": CHOICES,
    "level": CHOICES,
    "stage": CHOICES,
    "state": CHOICES,
    "status": CHOICES,
    "value": CHOICES,
    "priority": CHOICES,
    "category": CHOICES,
    "type": CHOICES,
    "kind": CHOICES,
    "setting": CHOICES | INPUTS,
    "column": frozenset({"columnheader"}),
    "heading": frozenset({"heading"}),
    "title": frozenset({"heading", "rootwebarea"}),
    "section": frozenset({"heading", "region", "tab"}),
    "page": frozenset({"heading", "link", "rootwebarea"}),
    "control": CONTROLS | INPUTS,
    "icon": frozenset({"button", "link", "image"}),
    "step": CONTROLS | TEXTS | frozenset({"checkbox"}),
    "task": TEXTS | frozenset({"checkbox"}),
    "message": TEXTS,
    "error": TEXTS,
    "warning": TEXTS,
    "notice": TEXTS,
    "note": TEXTS,
    "text": TEXTS,
    "hint": TEXTS,
    "sentence": TEXTS,
    "reason": TEXTS,
    "rule": TEXTS,
    "word": TEXTS,
}
KINDS = {stem(noun): roles for noun, roles in KINDS.items()}
_NUMERIC = frozenset(
    stem(w)
    for w in [
        "number",
        "many",
        "much",
        "price",
        "amount",
        "total",
        "count",
        "minimum",
        "maximum",
        "limit",
        "long",
        "often",
        "cost",
        "percent",
    ]
)
_CODED = frozenset(map(stem, word_set("code id identifier key prefix")))
_LONG = frozenset(
    stem(w)
    for w in [
        "message",
        "error",
        "warning",
        "notice",
        "text",
        "hint",
        "sentence",
        "reason",
        "happen",
        "say",
        "show",
        "rule",
    ]
)
_DYNAMIC = re.compile(
    r"\b(after|then|once|happens?|appears?|next|comes? back|returns?|result|changes?|becomes?|when)\b", re.I
)

_NEGATED = re.compile(r"\b(?:not|never|except|cannot|isn't|aren't|don't|doesn't)\b", re.I)
_VERB = re.compile(
    r"\b(?:does|do|is|are|was|has|have|can|may|must|shall|on|of|in|for|with|when|if|that"
    r"|shown|named|given|called|listed|displayed)\b"
)


@dataclass(slots=True)
class Question:
    """A question and what its wording says about the answer."""

    text: str  # without the answer-format sentence and the options
    answer_format: str  # 'letter', 'letters', 'truth', 'list', 'ordered', 'sentences' or 'phrase'
    options: dict[str, str] = field(default_factory=dict)
    count: int | None = None  # how many items are asked for, if it says so
    roles: frozenset[str] = frozenset()  # roles that the answer may have; empty: any
    numeric: bool = False
    coded: bool = False
    long_text: bool = False
    dynamic: bool = False
    negated: bool = False  # 'which are NOT …'
    quotes: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)  # items that the question lists itself, to be put in order
    n_words: int | None = None  # how many words the answer has, if it says so
    steps: list[str] = field(default_factory=list)  # descriptions of the controls to name, in their order
    focus: frozenset[str] = frozenset()  # content words between the question word and the verb


def _format_sentence(text: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.search(text) for pattern in _FORMATS)), None)


def answer_format(text: str) -> str:
    """Classify the answer-format instruction of a question (the whole question text may be passed)."""
    match = _format_sentence(text)
    tail = (match[0] if match else (sentences(text) or [""])[-1]).lower()
    if "true or false" in tail or re.match(r"\s*true or false\b", text.lower()):
        return "truth"
    if "letter" in tail:
        return "letters" if "letters" in tail else "letter"
    if "list" in tail and ("comma" in tail or "phrases" in tail):
        return "ordered" if "order" in tail.replace("any order", "") else "list"
    if "sentence" in tail:
        return "sentences"
    return "phrase"


def _count(text: str) -> int | None:
    tokens = re.sub(r"['\"“‘][^'\"”’\n]*['\"”’]", " ", text.lower())
    tokens = re.findall(r"\w+", tokens)
    for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        number = NUMBER_WORDS.get(token) or (int(token) if token.isdecimal() and len(token) == 1 else None)
        if number and before in (
            "which",
            "what",
            "the",
            "list",
            "name",
            "these",
            "all",
            "are",
            "has",
            "with",
        ):
            if number == 1 or not after.isalpha():
                continue
            if after.endswith("s") or before in ("which", "what"):
                return number
    return None


def _given_items(text: str) -> list[str]:
    """Return the items of a closing 'order these: a, b, c' list; empty when there is none."""
    head, colon, tail = text.rpartition(":")
    if not colon or not re.search(r"\b(order|sort|arrange|sequence|put)\b", head, re.I):
        return []
    items = [
        re.sub(r"^(?:and|or)\s+", "", item.strip(" .'\"“”‘’?")) for item in re.split(r"[,;]|\band\b", tail)
    ]
    items = [item for item in items if item]
    if len(items) < 2 or any(len(item.split()) > 6 or re.match(r"(the|a|an)\b", item) for item in items):
        return []
    return items


def _steps(text: str) -> list[str]:
    """Return the parts of a closing 'in order: the tab, the list …, and the button', if any."""
    head, colon, tail = text.rpartition(":")
    if not colon or not head:
        return []
    parts = [re.sub(r"^(?:and|then|finally)\s+", "", part.strip(" .?\n")) for part in re.split(r"[,;]", tail)]
    parts = [part for part in parts if part]
    return parts if len(parts) > 1 and all(re.match(r"(?:the|a|an|its)\b", part) for part in parts) else []


def roles_of(text: str) -> frozenset[str]:
    """Return the roles that the first user-interface noun of a text stands for, or an empty set."""
    for word in words(text):
        noun = stem(word)
        if noun in KINDS:
            return KINDS[noun]
        if noun in ("list", "select"):
            return frozenset({"combobox", "listbox"})
    return frozenset()


def parse_question(text: str) -> Question:
    """Analyse a question text.

    Args:
        text: The question as asked, with its options and its sentence about ``\\boxed{}``.
    """
    fmt = answer_format(text)
    match = _format_sentence(text)
    body = text[: match.start()] if match else text
    options: dict[str, str] = {}
    if fmt in ("letter", "letters"):
        body = re.sub(r"\s*More than one option may be correct\.?", "", body)
        options = dict(_OPTION.findall(body))
        if options:
            body = _OPTION.sub("", body)
    body = re.sub(r"^\s*true or false\s*[:,.]?\s*", "", body.strip(), flags=re.I).strip()
    question = Question(body, fmt, options, quotes=[q for q in quoted(body) if len(q.split()) <= 7])
    question.count = _count(body)
    question.dynamic = bool(_DYNAMIC.search(body))
    if fmt == "ordered":
        question.given = _given_items(body)
        question.steps = _steps(body)
    bare = re.sub(r"['\"“‘][^'\"”’\n]{1,80}['\"”’]", " ", body)
    asks = re.findall(r"\b(?:which|what|list|name|give|how)\b([^?.:;]*)", bare, re.I) or [bare]
    denied = body if fmt == "truth" else " ".join(asks)
    question.negated = bool(_NEGATED.search(denied))
    for clause in asks:
        tokens = [stem(word) for word in words(clause)]
        question.numeric |= bool(_NUMERIC.intersection(tokens[:3]))
        question.coded |= bool(_CODED.intersection(tokens[:5]))
        question.long_text |= bool(_LONG.intersection(tokens[:8]))
        for token in tokens[:6]:
            if token in KINDS and not question.roles:
                question.roles = KINDS[token]
                break
        if question.roles:
            break
    focus = _VERB.split(asks[0])[0] if asks[0] is not bare else ""
    question.focus = terms(focus) - KINDS.keys() - _NUMERIC - NUMBER_STEMS
    words_asked = re.search(r"\b(\w+) words?\b", bare.lower())
    question.n_words = NUMBER_WORDS.get(words_asked[1]) if words_asked else None
    return question

"""The four evaluators that need no model (docs/benchmark.md)."""

import re
from typing import Any

from lmev2.eval_function import CHOICE, CHOICE_SET, DETERMINISTIC, PHRASE_SEQUENCE, PHRASE_SET, EvalFunction
from lmev2.judge.normalise import DEFAULT_SEPARATORS, normalise, split_phrases

_CHOICE_WORDS = re.compile(r"\b(?:choice|option)\b", re.IGNORECASE)
_FILLER_WORDS = re.compile(r"\b(?:and|answers?|choices?|final|letters?|options?)\b", re.IGNORECASE)


class AnswerError(ValueError):
    """A reference answer that the evaluator cannot use."""


def score_deterministic(function: EvalFunction, prediction: str, answer: str) -> bool:
    """Whether `prediction` (the extracted answer) is right by the reference `answer`.

    UNKNOWN is not looked at here. Data from outside may hold other values than strings: None counts
    as empty, anything else by its `str`, but the phrase evaluators insist on a reference that is text.

    Raises:
        AnswerError: a phrase evaluator with a reference that is neither a string nor None.
        ValueError: `function` is a judged evaluator.
    """
    if function.name in (PHRASE_SET, PHRASE_SEQUENCE):
        if not isinstance(answer, str | None):
            raise AnswerError(
                f"the answer of {function.name} must be a string, not {answer!r}; put it in quotes"
            )
        return _phrases_match(function, _text(prediction), _text(answer))
    if function.name == CHOICE:
        return _choice_matches(function, _text(prediction), _text(answer))
    if function.name == CHOICE_SET:
        return _choice_set_matches(function, _text(prediction), _text(answer))
    raise ValueError(
        f"{function.name} needs a judge; without one there are {', '.join(sorted(DETERMINISTIC))}"
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _phrases_match(function: EvalFunction, prediction: str, answer: str) -> bool:
    """Every phrase of the answer occurs as whole words; for the ordered kind each after the one before."""
    options = {key: function.flag(key) for key in ("lower", "normalize_hyphen", "strip_punct")}
    text = normalise(prediction, **options)
    phrases = split_phrases(answer, function.options.get("separators", DEFAULT_SEPARATORS), **options)
    if function.require_non_empty and not (text and phrases):
        return False
    for phrase in phrases:
        match = re.search(rf"\b{re.escape(phrase)}\b", text)
        if match is None:
            return False
        if function.name == PHRASE_SEQUENCE:
            # Sliced, not searched from a position: the reference's \b sees a text that starts here.
            text = text[match.end() :]
    return True


def _choice_matches(function: EvalFunction, prediction: str, answer: str) -> bool:
    """The choice is the same once the words and full stops around the predicted one are dropped."""
    dropped = function.options.get("strip_chars", ".")
    choice = _CHOICE_WORDS.sub("", prediction)
    choice = choice.translate({ord(character): None for character in dropped}).strip().upper()
    if function.require_non_empty and not choice:
        return False
    return choice == answer.strip().upper()


def _choice_set_matches(function: EvalFunction, prediction: str, answer: str) -> bool:
    """The letters are the same set, filler words aside."""
    letters = _letters(prediction)
    if function.require_non_empty and not letters:
        return False
    return letters == _letters(answer)


def _letters(text: str) -> set[str]:
    return set(re.findall(r"[A-Z]", _FILLER_WORDS.sub(" ", text).upper()))

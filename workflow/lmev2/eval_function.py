"""The `eval_function` of a question: `name|key=value|…` (docs/benchmark.md).

Only the language and its checks live here, so that a dataset can be validated without the judge.
"""

import json
from dataclasses import dataclass
from difflib import get_close_matches

PHRASE_SET = "norm_phrase_set_match"
PHRASE_SEQUENCE = "norm_phrase_set_match_ordered"
CHOICE = "mc_choice_match"
CHOICE_SET = "mc_choice_set_match"
GOTCHAS = "llm_gotchas_checker"
ABSTENTION = "llm_abstention_checker"

DETERMINISTIC = frozenset({PHRASE_SET, PHRASE_SEQUENCE, CHOICE, CHOICE_SET})
JUDGED = frozenset({GOTCHAS, ABSTENTION})
EVALUATORS = DETERMINISTIC | JUDGED

PHRASE_OPTIONS = frozenset({"lower", "normalize_hyphen", "strip_punct", "separators", "require_non_empty"})

Value = bool | int | float | str | list[str] | None


class EvalFunctionError(ValueError):
    """An `eval_function` text that cannot be read; the message names the text, the fault and the remedy."""


@dataclass(frozen=True)
class EvalFunction:
    """An evaluator and its options, checked; absent options have the evaluator's defaults."""

    name: str
    options: dict[str, Value]

    @property
    def judged(self) -> bool:
        """Whether a model has to judge."""
        return self.name in JUDGED

    @property
    def require_non_empty(self) -> bool:
        """Whether an empty answer is wrong whatever the reference says (the default)."""
        return self.flag("require_non_empty")

    def flag(self, key: str) -> bool:
        """The switch `key`, on unless given; any value counts by its truth (`0`, `none`, `` are off)."""
        return bool(self.options.get(key, True))


def parse_eval_function(text: str) -> EvalFunction:
    """Read an `eval_function`.

    Blanks around names, keys and values do not count, nor do empty parts (`a||b=1`). Values are
    true/false, none/null (in any case), integers, floats, else strings. `separators` is a list of
    strings: a JSON list, or else the characters of the value.

    The phrase evaluators know no other options than `PHRASE_OPTIONS`; the others ignore what they
    do not know, as in the reference implementation.

    Raises:
        EvalFunctionError: no or an unknown name, a part without `=`, an empty, repeated or (phrase
            evaluators) unknown key, or a value of a kind that the evaluator cannot use.
    """
    if not isinstance(text, str) or not text.strip():
        raise EvalFunctionError(f"eval_function {text!r} is empty; write name|key=value|…")
    name, *parts = (part.strip() for part in text.split("|"))
    if name not in EVALUATORS:
        raise EvalFunctionError(
            f"eval_function {text!r}: {name!r} is not an evaluator; {_use_one_of(name, EVALUATORS)}"
        )
    options: dict[str, Value] = {}
    for part in filter(None, parts):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise EvalFunctionError(f"eval_function {text!r}: option {part!r} has no '='; write key=value")
        if not key:
            raise EvalFunctionError(
                f"eval_function {text!r}: option {part!r} has no key; write one before the '='"
            )
        if key in options:
            raise EvalFunctionError(f"eval_function {text!r}: option {key!r} is given twice; keep one")
        options[key] = _value(key, value)
    _check_options(text, name, options)
    return EvalFunction(name, options)


def _value(key: str, text: str) -> Value:
    constants = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in constants:
        return constants[text.lower()]
    if key == "separators":
        return _separators(text)
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _separators(text: str) -> list[str]:
    if text.startswith("["):
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            pass  # a bracket is a legal separator like any other character
    return list(text)


def _check_options(text: str, name: str, options: dict[str, Value]) -> None:
    if name in (PHRASE_SET, PHRASE_SEQUENCE):
        for key in options:
            if key not in PHRASE_OPTIONS:
                raise EvalFunctionError(
                    f"eval_function {text!r}: {name} has no option {key!r}; "
                    f"{_use_one_of(key, PHRASE_OPTIONS)}"
                )
        separators = options.get("separators", [])
        if not isinstance(separators, list) or not all(isinstance(item, str) for item in separators):
            raise EvalFunctionError(
                f"eval_function {text!r}: separators={separators!r} is no list of strings; "
                'write the characters (separators=,;) or a JSON list (separators=[" and "])'
            )
    if name == CHOICE and not isinstance(options.get("strip_chars", ""), str):
        raise EvalFunctionError(
            f"eval_function {text!r}: strip_chars={options['strip_chars']!r} is no text; "
            "write the characters to drop (strip_chars=.())"
        )


def _use_one_of(given: str, known: frozenset[str]) -> str:
    close = get_close_matches(given, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(sorted(known))}"

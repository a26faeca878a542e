"""What questions are written with: text, answer, evaluator, and evidence that a machine can look for."""

from collections.abc import Sequence
from typing import Any

_OPTIONS = "lower=true|normalize_hyphen=true|strip_punct=true|separators=,;|require_non_empty=true"

# Evaluators.
PHRASES = f"norm_phrase_set_match|{_OPTIONS}"
PHRASES_IN_ORDER = f"norm_phrase_set_match_ordered|{_OPTIONS}"
CHOICE = "mc_choice_match|require_non_empty=true"
CHOICES = "mc_choice_set_match|require_non_empty=true"
GOTCHAS = "llm_gotchas_checker|require_non_empty=true"
ABSTENTION = "llm_abstention_checker|require_non_empty=true"

# How a question asks for its answer.
BOX_LIST = " Mark your final answer as a comma-separated list of short phrases in \\boxed{}."
BOX_ORDER = " Mark your final answer as a comma-separated list of short phrases, in order, in \\boxed{}."
BOX_PHRASE = " Mark your final answer as a short phrase in \\boxed{}."
BOX_LETTER = " Mark your final answer as a single letter in \\boxed{}."
BOX_LETTERS = (
    " More than one option may be correct. Mark your final answer as a comma-separated list of letters in "
    "\\boxed{}."
)
BOX_TEXT = " Mark your final answer as one or two sentences in \\boxed{}."


def question(
    key: str,
    environment: str,
    question_type: str,
    text: str,
    answer: str,
    evaluator: str,
    hops: Sequence[dict[str, Any]],
    *,
    anchor: str | None = None,
    image: tuple[str, int] | None = None,
    see: Sequence[str] = (),
    phrase_hops: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """A question.

    Args:
        key: unique, stable name; the question id is derived from it.
        environment: of the trajectories that it is about.
        question_type: as the benchmark names it.
        text: the question.
        answer: the reference.
        evaluator: its eval_function.
        hops: what must be known to answer it, each by `shows` or `goes_through`.
        anchor: key of the question whose haystack it shares.
        image: key of a job and number of its state, whose screenshot is shown with the question.
        see: phrases that must be on screen in the evidence, instead of those of the answer.
        phrase_hops: per hop the phrases of the answer that it must hold; all in all hops, if not given.
    """
    return {
        "key": key,
        "environment": environment,
        "question_type": question_type,
        "question": text,
        "answer": answer,
        "eval_function": evaluator,
        "hops": list(hops),
        "anchor": anchor,
        "image": image,
        "see": list(see),
        "phrase_hops": phrase_hops,
    }


def shows(
    *patterns: str,
    absent: Sequence[str] = (),
    url: str = "",
    action: str = "",
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Evidence that one state holds.

    Args:
        patterns: each occurs in its tree.
        absent: none occurs in it.
        url: occurs in its address.
        action: occurs in the action that led to it.
        only: keys of jobs; elsewhere it is no evidence.
    """
    return {"patterns": patterns, "absent": absent, "url": url, "action": action, "only": only}


def goes_through(*steps: str) -> dict[str, Any]:
    """Evidence that a run shows in order: controls that are used one after the other.

    In each pattern `BID` stands for the id of an element; the next action must be on it.
    """
    return {"steps": steps}

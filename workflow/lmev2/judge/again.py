"""Verdicts asked again, of the same judge or of a second one: how far the judge can be relied on.

The score of an answer stays the first verdict; nothing here changes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lmev2.judge.judging import Chat, judge_read
from lmev2.llm.reply import usage_columns
from lmev2.records import ROW_KEY


@dataclass(frozen=True)
class Asking:
    """One more round of verdicts: which judge (a model role), and how often it was asked before."""

    role: str
    number: int


def askings(repeats: int, has_second: bool) -> list[Asking]:
    """What is to be asked beside the first verdicts (`judge`, 0).

    Args:
        repeats: verdicts of each judge in all.
        has_second: there is a second judge.
    """
    more = [Asking("judge", number) for number in range(1, repeats)]
    return more + [Asking("second_judge", number) for number in range(repeats if has_second else 0)]


def first_verdict(row: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict of record as a row of the `verdicts` table, from a row of the `judge` table."""
    return {
        **{key: row[key] for key in (*ROW_KEY, "evaluator", "label", "status")},
        **{"judge": "judge", "asking": 0},
        **usage_columns([]),  # paid for in the judge stage
    }


async def ask_again(
    chat: Chat,
    asking: Asking,
    question: Mapping[str, Any],
    read: Mapping[str, Any],
    prompts: Mapping[str, str],
    *,
    attempts: int,
) -> dict[str, Any]:
    """One more verdict on one answer, as a row of the `verdicts` table.

    Args:
        chat: the door; it is asked for `asking.role`.
        asking: which judge and round.
        question: row of the questions.
        read: row of the read table.
        prompts: as in `judge_answer`.
        attempts: askings for a readable verdict.
    """
    # The number of the asking keeps a new verdict apart from the recorded ones.
    shifted = partial(_shifted, chat, asking.role, asking.number * attempts)
    judged = await judge_read(shifted, question, read, prompts, attempts=attempts)
    return {
        **{key: read[key] for key in ROW_KEY},
        **{"evaluator": question["evaluator"], "label": judged.label, "status": str(judged.status)},
        **{"judge": asking.role, "asking": asking.number},
        **usage_columns(judged.replies),
    }


async def _shifted(
    chat: Chat, role: str, by: int, _: str, messages: Sequence[Any], *, repeat: int, ask: int
) -> Any:
    return await chat(role, messages, repeat=repeat, ask=by + ask)

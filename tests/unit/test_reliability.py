import asyncio

import pytest
from test_judging import PROMPTS, Chat, reply

from lmev2.judge.again import Asking, ask_again, askings, first_verdict
from lmev2.records import SCHEMAS
from lmev2.stats.reliability import cohens_kappa, compare_verdicts, flip_rate

QUESTION = {
    "text": "q",
    "answer": "ref",
    "eval_function": "llm_gotchas_checker",
    "evaluator": "llm_gotchas_checker",
}
ARM = {"question_id": "q1", "method": "m", "operating_point": "", "tier": "small", "repeat": 1}
READ = {**ARM, "prediction": "a", "response_raw": "r"}


def verdict(question, label, judge="judge", asking=0, evaluator="e"):
    return {
        **ARM,
        "question_id": question,
        "evaluator": evaluator,
        "judge": judge,
        "asking": asking,
        "label": label,
    }


def test_kappa():
    # Textbook table: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no.
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)
    assert flip_rate(pairs) == 0.3
    assert cohens_kappa([(1, 0), (0, 1)]) == -1
    assert cohens_kappa([(1, 1)] * 3) is None  # nothing but one answer: chance agreement is whole
    assert (cohens_kappa([]), flip_rate([])) == (None, None)


def test_repeats_of_one_judge():
    labels = {"q1": (1, 1, 0), "q2": (0, 0, 0), "q3": (1, None, 1)}
    rows = [verdict(q, label, asking=i) for q, found in labels.items() for i, label in enumerate(found)]
    everything, single = compare_verdicts(rows)
    assert (everything["evaluator"], single["evaluator"]) == ("all", "e")
    assert everything["comparison"] == "judge repeats"
    # q1: one of three pairs agrees; q2: three; q3: one pair is readable and agrees.
    assert (everything["pairs"], everything["flip_rate"], everything["unreadable"]) == (
        7,
        pytest.approx(2 / 7),
        1,
    )
    kappas = [1.0, cohens_kappa([(1, 0), (0, 0), (1, 1)]), cohens_kappa([(1, 0), (0, 0)])]
    assert everything["kappa"] == pytest.approx(sum(kappas) / 3)


def test_two_judges_are_compared_by_their_first_verdicts():
    rows = [verdict(q, label) for q, label in (("q1", 1), ("q2", 0), ("q3", 1))]
    rows += [verdict(q, label, "second_judge") for q, label in (("q1", 1), ("q2", 1), ("q3", 1))]
    rows += [verdict("q9", 0, evaluator="other")]  # without a second verdict
    table = {(row["evaluator"], row["comparison"]): row for row in compare_verdicts(rows)}
    both = table["all", "judge and second_judge"]
    assert (both["pairs"], both["flip_rate"], both["kappa"]) == (3, pytest.approx(1 / 3), pytest.approx(0))
    assert ("other", "judge and second_judge") not in table


def test_what_is_asked_beside_the_first_verdict():
    assert askings(1, False) == []
    assert askings(3, False) == [Asking("judge", 1), Asking("judge", 2)]
    assert askings(1, True) == [Asking("second_judge", 0)]
    assert askings(2, True) == [Asking("judge", 1), Asking("second_judge", 0), Asking("second_judge", 1)]


def test_a_new_verdict_is_a_new_request():
    chat = Chat(reply("?"), reply('{"label": 0}'))
    row = asyncio.run(ask_again(chat, Asking("judge", 2), QUESTION, READ, PROMPTS, attempts=3))
    assert [(role, repeat, ask) for role, _, repeat, ask in chat.calls] == [("judge", 1, 6), ("judge", 1, 7)]
    assert (row["label"], row["asking"], row["judge"], row["calls"]) == (0, 2, "judge", 2)
    assert row.keys() == set(SCHEMAS["verdicts"].names)
    chat = Chat(reply('{"label": 1}'))
    asyncio.run(ask_again(chat, Asking("second_judge", 0), QUESTION, READ, PROMPTS, attempts=3))
    assert chat.calls[0][0] == "second_judge" and chat.calls[0][3] == 0


def test_the_first_verdict_costs_nothing_more():
    row = first_verdict({**ARM, "evaluator": "e", "label": 1, "status": "ok", "cost": 3.0})
    assert (row["label"], row["cost"], row["asking"]) == (1, 0, 0)
    assert row.keys() == set(SCHEMAS["verdicts"].names)

"""Questions × arms as packed text: one character an answer, so that a page can filter thousands at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lmev2.records import Status
from lmev2.stats.scores import name_arm

RIGHT, WRONG, UNKNOWN, ERROR, NOT_ASKED = "1", "0", "u", "e", "-"


def code_of(row: Mapping[str, Any]) -> str:
    """The character of one row of the `scores` table."""
    if row["status"] != Status.OK:
        return ERROR
    if row["score"] == 1:
        return RIGHT
    return UNKNOWN if row["is_unknown"] else WRONG


def pack_matrix(
    questions: Sequence[str],
    scores: Iterable[Mapping[str, Any]],
    retrieval: Iterable[Mapping[str, Any]],
) -> dict[str, Any]:
    """Arm -> tier -> `codes`, one text a repeat with a character a question; and what was measured.

    `latency` is a number or None a question (the mean over repeats), `trajectory` and `state` the place of
    the first answer-bearing piece in the context (of the first repeat), None where there is none.

    Args:
        questions: ids, in the order of the texts.
        scores: the `scores` table.
        retrieval: the `retrieval` table.
    """
    place = {question: number for number, question in enumerate(questions)}
    codes: dict[tuple[str, str], dict[int, list[str]]] = defaultdict(dict)
    latencies: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in scores:
        key = (name_arm(row["method"], row["operating_point"]), row["tier"])
        texts = codes[key].setdefault(row["repeat"], [NOT_ASKED] * len(questions))
        texts[place[row["question_id"]]] = code_of(row)
        if row["latency_s"] is not None:
            latencies[key][place[row["question_id"]]].append(row["latency_s"])
    matrix: dict[str, Any] = defaultdict(dict)
    for (arm, tier), repeats in sorted(codes.items()):
        found = latencies[arm, tier]
        matrix[arm][tier] = {
            "codes": ["".join(texts) for _, texts in sorted(repeats.items())],
            "latency": [
                round(sum(found[n]) / len(found[n]), 4) if n in found else None for n in range(len(questions))
            ],
            "trajectory": [None] * len(questions),
            "state": [None] * len(questions),
        }
    for row in retrieval:
        cell = matrix.get(name_arm(row["method"], row["operating_point"]), {}).get(row["tier"])
        if cell and row["repeat"] == 0 and row["question_id"] in place:
            cell["trajectory"][place[row["question_id"]]] = row["rank_trajectory"]
            cell["state"][place[row["question_id"]]] = row["rank_state"]
    return dict(matrix)

"""Questions with their evidence labels, for pilot studies (paper, Figure 4) and nothing else.

A method gets them only if its class says `labels = True`; its query job then has a further input table,
and no table or figure puts it beside the methods that do not know the evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmev2.memory.protocol import Question

TABLE = "oracle_questions"

Evidence = Mapping[str, tuple[int, ...]]  # trajectory id -> its states that hold the evidence


@dataclass(frozen=True)
class OracleQuestion(Question):
    """A question that knows where its answer is: for each hop the trajectories that hold the evidence."""

    hops: tuple[Evidence, ...]

    @property
    def identity(self) -> list[Any]:
        """All that an answer to it may depend on."""
        hops = [{trajectory: list(states) for trajectory, states in hop.items()} for hop in self.hops]
        return [*super().identity, hops]


def oracle_rows(
    questions: Sequence[Mapping[str, Any]], coverage: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of `ingest/oracle_questions.parquet`: the evidence of all non-abstention questions.

    A question without evidence has one row with a null hop.
    """
    labels: dict[str, list[Mapping[str, Any]]] = {}
    for row in coverage:
        if row["trajectory_id"] is not None:
            labels.setdefault(row["question_id"], []).append(row)
    nothing = {"hop": None, "trajectory_id": None, "state_indexes": None}
    return [
        {"question_id": question["question_id"], **{key: label[key] for key in nothing}}
        for question in questions
        if not question["abstention"]
        for label in labels.get(question["question_id"], [nothing])
    ]


def oracle_questions(
    questions: Mapping[str, Question], rows: Sequence[Mapping[str, Any]]
) -> dict[str, OracleQuestion]:
    """The non-abstention questions by id with their evidence."""
    hops: dict[str, dict[str, dict[str, tuple[int, ...]]]] = {}
    for row in rows:
        mine = hops.setdefault(row["question_id"], {})
        if row["hop"] is not None:
            mine.setdefault(row["hop"], {})[row["trajectory_id"]] = tuple(row["state_indexes"])
    return {
        id_: OracleQuestion(**vars(questions[id_]), hops=tuple(found.values())) for id_, found in hops.items()
    }

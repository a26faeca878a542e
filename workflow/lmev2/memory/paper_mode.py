"""What the first release showed its controller of a question besides text and image: for replication only.

The question's id, its type, the path of its image (in place of the image) and any original
goals of its row, and a fallback by type. Later official revisions forbid all of it. A method sees it only
with the option `mode: paper`; then its query job has a further input table, its label says that it is not
leaderboard-safe, and so do the meta and the trace of its queries.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lmev2.memory.bundle import Bundle
from lmev2.memory.protocol import Question

MODES = ("private", "paper")
TABLE = "paper_questions"


@dataclass(frozen=True)
class PaperQuestion(Question):
    """A question with the fields that the privacy rule keeps from a method."""

    id: str
    type: str
    image_path: str | None
    original_goals: tuple[str, ...]

    @property
    def identity(self) -> list[Any]:
        """All that an answer to it may depend on."""
        return [*super().identity, self.id, self.type, self.image_path, list(self.original_goals)]


def paper_questions(
    questions: Mapping[str, Question], rows: list[Mapping[str, Any]]
) -> dict[str, PaperQuestion]:
    """Questions by id with their further fields, from the rows of `ingest/paper_questions.parquet`."""
    return {
        row["question_id"]: PaperQuestion(
            **vars(questions[row["question_id"]]),
            id=row["question_id"],
            type=row["question_type"],
            image_path=row["image"],
            original_goals=tuple(row["original_goals"]),
        )
        for row in rows
    }


def paper_fields(question: PaperQuestion) -> str:
    """The further fields as the controller reads them."""
    lines = [
        f"Id: {question.id}",
        f"Type: {question.type}",
        f"Image: {question.image_path or 'none'}",
        f"Original goals: {'; '.join(question.original_goals) or 'none'}",
    ]
    return "<about_question>\n" + "\n".join(lines) + "\n</about_question>\n\n"


def paper_fallback(question: PaperQuestion, text: str) -> Bundle:
    """The question as slice query, and by its type as the query of one more pool."""
    return Bundle(
        slices=(text,),
        event=text if question.type.startswith("dynamic") else "",
        note=text if question.type.startswith("procedure") else "",
    )

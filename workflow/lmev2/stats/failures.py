"""Why answers are wrong (paper, Figure 7)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from lmev2.records import Status


class Failure(StrEnum):
    """Classes of wrong answers, in the order of the figure; each wrong answer is of exactly one."""

    MISS_MAJOR = "retrieval miss, major"  # no task family of an answer trajectory in the context
    MISS_MINOR = "retrieval miss, minor"  # the family, but no answer trajectory
    READING = "reading failure"  # answer trajectory, answer URL or gold text was there
    GOTCHA = "gotcha failure"
    PREMISE = "premise failure"
    NO_ANSWER = "no answer"  # query, reader or judge failed for good
    UNKNOWN = "not classified"  # no evidence labels, and no gold text in the context


def classify(row: Mapping[str, Any]) -> Failure:
    """The class of one wrong answer.

    A failed item and the kinds of question that are not about finding (abstention, gotchas) come first,
    then what the context held.

    Args:
        row: `status` (of the scores), `abstention`, `ability`, and of the `retrieval` table `holds_family`,
            `holds_trajectory`, `holds_url`, `holds_gold` (None where unknown).
    """
    if row["status"] != Status.OK:
        return Failure.NO_ANSWER
    if row["abstention"]:
        return Failure.PREMISE
    if row["ability"] == "gotchas":
        return Failure.GOTCHA
    if row["holds_trajectory"] or row["holds_url"] or row["holds_gold"]:
        return Failure.READING
    if row["holds_family"] is None:
        return Failure.UNKNOWN
    return Failure.MISS_MINOR if row["holds_family"] else Failure.MISS_MAJOR

"""Premises that do not hold: a named thing that occurs nowhere, or that is switched off."""

from lmev2.llm.embedded.evidence import Evidence
from lmev2.llm.embedded.page import Context
from lmev2.llm.embedded.question import Question


def flaw(question: Question, context: Context, evidence: Evidence) -> str:
    """Return an explanation of the question's flaw, or an empty text when none is seen."""
    return ""

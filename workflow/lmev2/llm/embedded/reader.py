"""The extractive reader: from a memory context and a question to a boxed answer."""

from collections.abc import Sequence

from lmev2.llm.embedded import choose, premise
from lmev2.llm.embedded.evidence import Evidence
from lmev2.llm.embedded.lists import list_answer
from lmev2.llm.embedded.page import parse_context
from lmev2.llm.embedded.phrases import phrase_answer, sentence_answer
from lmev2.llm.embedded.question import parse_question

UNKNOWN = "UNKNOWN"


def read(question_text: str, parts: Sequence[str]) -> str:
    """Answer a question from the text parts of a memory context.

    Returns:
        A sentence about where the answer comes from, then exactly one ``\\boxed{…}``; ``\\boxed{UNKNOWN}``
        when the context does not support an answer.
    """
    question = parse_question(question_text)
    context = parse_context(parts)
    if not context.lines or not question.text:
        return _reply("The memory holds nothing to read.", UNKNOWN)
    evidence = Evidence(context, question.text, question.quotes, question.focus)
    flaw = premise.flaw(question, context, evidence)
    if flaw:
        return _reply("A thing that the question takes for granted does not hold.", flaw)
    if question.options:
        answer = choose.choice_answer(question, context, evidence)
    elif question.answer_format == "truth":
        answer = choose.truth_answer(question, context, evidence)
    elif question.answer_format in ("list", "ordered"):
        answer = list_answer(question, context, evidence)
    elif question.answer_format == "sentences":
        answer = sentence_answer(question, context, evidence)
    else:
        answer = phrase_answer(question, context, evidence)
    if not answer:
        return _reply("The memory does not support an answer.", UNKNOWN)
    return _reply("The best supported place in the memory says this.", answer)


def _reply(reason: str, answer: str) -> str:
    """Return the reply; braces would unbalance the box, so they become brackets."""
    clean = answer.translate(str.maketrans("{}\\", "()/"))
    return f"{reason} \\boxed{{{clean}}}"

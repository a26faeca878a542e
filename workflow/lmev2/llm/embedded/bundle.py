"""The embedded query writer: from a question to the queries for the three pools, by its wording alone.

The slice queries are the question, without what it says on the form of the answer but with its options, and
each of its sentences where it has several: they may be about different pages. Events and notes are asked the
question too. What a page is, what a step changed and how a task is done need no different words here: the
embedded embedding model has no sense of order, and compares the words alone.
"""

import json
import re
from collections.abc import Sequence

from lmev2.llm.embedded.question import parse_question
from lmev2.llm.embedded.text import sentences, terms
from lmev2.memory.embedding_text import question_query_text

_QUESTION = re.compile(r"<question>\n(.*)\n</question>\s*\Z", re.S)
_MOST_QUERIES = 3  # of up to three, each keeps an equal share of the slices
_FEWEST_TERMS = 4  # a sentence with fewer content words is no query of its own


def write_bundle(parts: Sequence[str]) -> str:
    """Return the queries as JSON: ``{"raw_state_queries", "event_query", "note_query"}``.

    Args:
        parts: The text parts of the prompt: memory summary and question, instructions.
    """
    match = _QUESTION.search(parts[0])
    text = match[1] if match else parts[0]
    question = parse_question(text)
    whole = " ".join(question_query_text(text, strip_answer_format=True).split())
    pieces = [piece for piece in sentences(question.text) if len(terms(piece)) >= _FEWEST_TERMS]
    slices = [whole, *(pieces if len(pieces) > 1 else [])][:_MOST_QUERIES]
    bundle = {"raw_state_queries": slices, "event_query": whole, "note_query": whole}
    return json.dumps(bundle, ensure_ascii=False)

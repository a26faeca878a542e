"""The read stage: the fixed reader answers from the question and the truncated context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmev2.boxed import Boxed, Found, is_unknown, parse_boxed
from lmev2.image import Image
from lmev2.llm.door import Door, Message
from lmev2.llm.faults import share_that_fits
from lmev2.llm.reply import Reply, usage_columns
from lmev2.memory.protocol import Question
from lmev2.prompts import Prompts
from lmev2.records import Status
from lmev2.truncation import Counter, Truncated, truncate

EMPTY = "(empty)"
# A domain that the config does not describe is introduced by the environment's name alone.
UNDESCRIBED = "the customised web environment '{environment}'"


@dataclass(frozen=True)
class Reader:
    """Builds the prompt and reads the answer.

    Args:
        door: the door to the reader model.
        prompts: `reader.system` (with $environment), `reader.question` (with $question), and `reader.intro`,
            which stands before the context unless it is empty (with $empty, for a context of no items).
        domains: domain -> sentence part that describes the environment.
        budget: tokens that the context may have.
        counter: how tokens are counted.
        retruncate: where the server says that the prompt does not fit, cut the context to what it serves and
            ask again; else that is the outcome.
    """

    door: Door
    prompts: Prompts
    domains: Mapping[str, str]
    budget: int
    counter: Counter
    retruncate: bool = False

    async def read(
        self, question: Question, place: Mapping[str, str], query: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The row of one question: the columns of the read table but for its key.

        Args:
            question: text and image.
            place: the question's `domain` and `environment`.
            query: its row of the query table.
        """
        items = query["items"]
        cut = truncate(items, self.budget, self.counter)
        if query["status"] != Status.OK:  # nothing was retrieved, so there is nothing to pay a reader for
            return self._unanswered(query, cut)
        replies = [await self._ask(question, place, query, cut)]
        while self.retruncate and replies[-1].status == Status.CONTEXT_OVERFLOW and cut.kept:
            budget = int(cut.tokens_kept * share_that_fits(replies[-1].error))
            cut = truncate(items, max(1, budget), self.counter)
            replies.append(await self._ask(question, place, query, cut))
        reply = replies[-1]
        status, answer = _answer(reply)
        return {
            **self._context(items, cut),
            "status": str(status),
            "error": reply.error,
            "response_raw": reply.text,
            "reasoning": reply.reasoning,
            **_answer_columns(answer),
            "finish_reason": reply.finish_reason,
            **usage_columns(replies),
        }

    def take(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """The row of a question that a pilot study has answered itself: its one item is the response.

        The model is the one that answered; what it used is booked with the query.
        """
        cut = truncate(query["items"], self.budget, self.counter)
        row = {
            **self._unanswered(query, cut),
            "model": query["model"],
            "prompt_sha256": query["prompt_sha256"],
        }
        if query["status"] != Status.OK:
            return row
        (item,) = query["items"]
        answer = Boxed(item["text"].strip(), Found.NONE)
        return {**row, "response_raw": item["text"], **_answer_columns(answer)}

    def _unanswered(self, query: Mapping[str, Any], cut: Truncated) -> dict[str, Any]:
        return {
            **self._context(query["items"], cut),
            **_NO_ANSWER,
            "status": query["status"],
            "error": query["error"],
            **usage_columns([]),
        }

    async def _ask(
        self, question: Question, place: Mapping[str, str], query: Mapping[str, Any], cut: Truncated
    ) -> Reply:
        messages = self.messages(question, place, query["items"][: cut.kept])
        return await self.door.chat("reader", messages, repeat=query["repeat"])

    def _context(self, items: Sequence[Mapping[str, Any]], cut: Truncated) -> dict[str, Any]:
        return {
            "context_items": len(items),
            "context_items_kept": cut.kept,
            "context_tokens": cut.tokens,
            "context_tokens_kept": cut.tokens_kept,
            "was_truncated": cut.was_truncated,
            "prompt_sha256": self.prompts.sha256,
        }

    def messages(
        self, question: Question, place: Mapping[str, str], items: Sequence[Mapping[str, Any]]
    ) -> list[Message]:
        """System prompt of the domain, then the memory context, the question and its image."""
        environment = self.domains.get(place["domain"]) or UNDESCRIBED.format(
            environment=place["environment"]
        )
        intro = self.prompts.fill("reader.intro", empty="" if items else EMPTY)
        parts = [{"type": "text", "text": intro}] if intro else []
        parts += [_part(item) for item in items]
        parts.append({"type": "text", "text": self.prompts.fill("reader.question", question=question.text)})
        if question.image:
            parts.append(question.image.part())
        return [
            {"role": "system", "content": self.prompts.fill("reader.system", environment=environment)},
            {"role": "user", "content": parts},
        ]


def _answer(reply: Reply) -> tuple[Status, Boxed | None]:
    """Outcome and answer of a reply; one that was cut counts if it had closed its box before."""
    answer = parse_boxed(reply.text)
    if reply.status == Status.OK:
        return Status.OK, answer
    if reply.status == Status.LENGTH_NO_ANSWER and answer.found in (Found.ONE, Found.SEVERAL):
        return Status.OK, answer
    return reply.status, None


def _answer_columns(answer: Boxed | None) -> dict[str, Any]:
    return {
        "prediction": answer.prediction if answer else "",
        "boxed": str(answer.found) if answer else "",
        "is_unknown": bool(answer) and is_unknown(answer.prediction),
    }


_NO_ANSWER = {"response_raw": "", "reasoning": "", **_answer_columns(None), "finish_reason": ""}


def _part(item: Mapping[str, Any]) -> dict[str, Any]:
    if item["kind"] == "text":
        return {"type": "text", "text": item["text"]}
    return Image(Path(item["image"]), item["image_sha256"], item["width"], item["height"]).part()

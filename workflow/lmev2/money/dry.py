"""A door that calls no model: it answers from the journal and books what would have to be asked."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from lmev2.journal import Journal, JournalMissError, request_key
from lmev2.llm.door import Door, Message, chat_request, embedding_request
from lmev2.llm.engine import estimated_tokens
from lmev2.llm.models import Model
from lmev2.llm.reply import Reply
from lmev2.tokens import approximate_tokens


class UnpaidError(JournalMissError):
    """The call is booked, and there is no reply to go on with."""


class Place(NamedTuple):
    """Where a call belongs: stage, arm (or what all arms share), tier (empty: all)."""

    stage: str
    method: str
    tier: str = ""


@dataclass(frozen=True)
class Unknown:
    """Calls whose requests depend on others: how many, and the input tokens of one (None: as known ones)."""

    calls: float
    most_calls: float
    tokens: float | None
    most_tokens: float


@dataclass
class Book:
    """The calls of one role at one place.

    Attributes:
        recorded: input tokens of each call that the journal holds.
        measured: input tokens of each open call whose request is known.
        unknown: open calls whose requests are not.
        most_output: highest number of output tokens of an open call; None if the config sets none.
        rounds: how often one open call may be asked at most (repairs, unreadable verdicts).
    """

    recorded: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    most_output: int | None = None
    rounds: int = 1

    @property
    def known(self) -> list[float]:
        """Input tokens of each call of which they are known."""
        return self.recorded + self.measured


class DryDoor(Door):
    """The door of an estimate.

    A call that the journal answers returns that reply, so that what follows from it is found as well;
    any other is booked in `books` at `place`, once over all methods and tiers, and raises `UnpaidError`.
    """

    def __init__(self, models: Mapping[str, Model], journal: str | Path, again: Collection[str] = ()) -> None:
        super().__init__(models, journal, replay=True, again=again)
        self._seen: set[tuple[str, bytes]] = set()
        self.place = Place("", "")
        self.rounds = 1
        self.books: dict[tuple[Place, str], Book] = defaultdict(Book)

    def journal(self, role: str) -> Journal:
        """The journal of a role."""
        return self._journals[role]

    async def chat(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        repeat: int = 0,
        ask: int = 0,
        sampling: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The recorded reply.

        Raises:
            UnpaidError: there is none.
        """
        request = chat_request(self.models[role], messages, repeat=repeat, ask=ask, sampling=sampling)
        record = self.journal(role).recorded(request, self._again)
        is_first = self.is_first(role, request_key(request))
        if record is not None:
            if is_first:
                self.books[self.place, role].recorded.append(record["input_tokens"])
            return Reply.from_dict(record)
        if is_first:
            self._opened(role, request["sampling"]).measured.append(estimated_tokens(messages))
        raise UnpaidError(f"{role}: not asked yet")

    def embed_texts(self, texts: Sequence[str]) -> None:
        """Book the embedding of `texts`."""
        model, journal = self.models["embedding"], self.journal("embedding")
        for text in texts:
            key = request_key(embedding_request(model, text))
            if self.is_first("embedding", key):
                book, tokens = self.books[self.place, "embedding"], approximate_tokens(len(text))
                (book.recorded if key in journal else book.measured).append(tokens)

    def unknown(self, role: str, calls: Unknown, sampling: Mapping[str, Any] | None = None) -> None:
        """Book calls whose requests cannot be known yet."""
        self._opened(role, {**self.models[role].sampling, **(sampling or {})}).unknown.append(calls)

    def _opened(self, role: str, sampling: Mapping[str, Any]) -> Book:
        book = self.books[self.place, role]
        book.rounds = self.rounds
        if most := sampling.get("max_tokens"):
            book.most_output = max(most, book.most_output or 0)
        return book

    def is_first(self, role: str, key: str) -> bool:
        """Whether the role's call `key` was not met before: methods and tiers share calls."""
        call = role, bytes.fromhex(key)
        if call in self._seen:
            return False
        self._seen.add(call)
        return True

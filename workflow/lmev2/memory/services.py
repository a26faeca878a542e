"""What a memory method may call: models through the door, the clock of its query."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lmev2.errors import UndeclaredError
from lmev2.llm.door import Door, Message
from lmev2.llm.meter import METER, timed
from lmev2.llm.reply import Reply
from lmev2.prompts import Prompts
from lmev2.store import canonical_json


class UnknownWordsError(Exception):
    """A text has no direction: the embedding model knows none of its words."""


class Services:
    """Given to every memory method. All calls are journaled and enter the query's latency and usage.

    Attributes:
        prompts: the prompt templates of the method.
        timed: `with services.timed("search_s"):` books time on a part of the query's latency.
    """

    def __init__(
        self,
        door: Door,
        prompts: Prompts,
        *,
        query_instruction: str = "",
        repeat: int = 0,
        agent: Any = None,
        files: Any = None,
    ) -> None:
        self._door = door
        self._agent = agent
        self._files = files
        self._query_instruction = query_instruction
        self.prompts = prompts
        self.repeat = repeat
        self.timed = timed

    async def chat(
        self, messages: Sequence[Message], *, ask: int = 0, sampling: Mapping[str, Any] | None = None
    ) -> Reply:
        """The controller's reply to `messages`; `lmev2.llm.door.Door.chat` has the arguments."""
        self._require("controller")
        return await self._door.chat("controller", messages, repeat=self.repeat, ask=ask, sampling=sampling)

    @staticmethod
    def trace(**values: Any) -> None:
        """Keep plain values (JSON) in the query's `trace` column, e.g. what was found with which score."""
        canonical_json(values)  # what cannot be kept is the fault of the query that gives it
        if meter := METER.get():
            meter.trace.update(values)

    async def embed_query(self, text: str) -> np.ndarray:
        """The unit vector [d] of a query, with the model's query instruction before it.

        Raises:
            UnknownWordsError: the text has no direction (not one word that the model knows).
        """
        (vector,) = await self.embed_queries([text])
        if vector is None:
            raise UnknownWordsError(f"the embedding model knows no word of the query {text[:80]!r}")
        return vector

    async def embed_queries(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The unit vectors [d] of some queries as `embed_query` makes them; None where one has none."""
        self._require("embedding")
        found = await self._door.embed([f"{self._query_instruction}{text}" for text in texts])
        return [None if empty else vector for vector, empty in zip(found.vectors, found.empty, strict=True)]

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """The unit vectors [n, d] of documents; a text without any known word has a zero row."""
        self._require("embedding")
        return (await self._door.embed(texts)).vectors

    # Not imported here: an edit of how agents run must not ask the queries of all other methods anew.

    @property
    def agent(self) -> Any:
        """The coding agent (`lmev2.agent.usage.MeteredAgent`), for methods with the role "agent"."""
        return self._declared(self._agent, "runs an agent")

    @property
    def files(self) -> Any:
        """The trajectories as files (`lmev2.insert.files.TrajectoryFiles`), for the same methods."""
        return self._declared(self._files, "reads the trajectories' files")

    @staticmethod
    def _declared(value: Any, what: str) -> Any:
        if value is None:
            raise UndeclaredError(f"the method {what}: add 'agent' to the `roles` of its class")
        return value

    def _require(self, role: str) -> None:
        # The models that a class names are in the params of its jobs; others would change unnoticed.
        if role not in self._door.models:
            raise UndeclaredError(
                f"the method asks the model {role!r}, which its class does not name: add it to its `roles`"
            )

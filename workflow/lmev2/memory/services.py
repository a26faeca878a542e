"""What a memory method may call: models through the door, the clock of its query."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lmev2.llm.door import Door, EmbeddingError, Message
from lmev2.llm.meter import METER, timed
from lmev2.llm.reply import Reply
from lmev2.prompts import Prompts


class Services:
    """Given to every memory method. All calls are journaled and enter the query's latency and usage.

    Attributes:
        prompts: the prompt templates of the method.
        timed: `with services.timed("search_s"):` books time on a part of the query's latency.
    """

    def __init__(self, door: Door, prompts: Prompts, *, query_instruction: str = "", repeat: int = 0) -> None:
        self._door = door
        self._query_instruction = query_instruction
        self.prompts = prompts
        self.repeat = repeat
        self.timed = timed

    async def chat(
        self, messages: Sequence[Message], *, ask: int = 0, sampling: Mapping[str, Any] | None = None
    ) -> Reply:
        """The controller's reply to `messages`."""
        return await self._door.chat("controller", messages, repeat=self.repeat, ask=ask, sampling=sampling)

    @staticmethod
    def trace(**values: Any) -> None:
        """Keep plain values in the query's `trace` column, e.g. what was found with which score."""
        if meter := METER.get():
            meter.trace.update(values)

    async def embed_query(self, text: str) -> np.ndarray:
        """The unit vector [d] of a query, with the model's query instruction before it.

        Raises:
            EmbeddingError: the text has no direction (not one word that the model knows).
        """
        found = await self._door.embed([f"{self._query_instruction}{text}"])
        if found.empty[0]:
            raise EmbeddingError(f"the embedding model knows no word of the query {text[:80]!r}")
        return found.vectors[0]

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """The unit vectors [n, d] of documents; a text without any known word has a zero row."""
        return (await self._door.embed(texts)).vectors

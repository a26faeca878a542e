"""No retrieval: the reader gets no context."""

from collections.abc import Mapping
from typing import Any

from lmev2.memory.protocol import HaystackView, Item, Question, Services


class NoRetrieval:
    """The paper's lower bound: an empty context for every question."""

    pools: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {}

    def __init__(self, options: Mapping[str, Any], services: Services) -> None:
        pass

    def attach(self, view: HaystackView) -> None:
        """Needs nothing of the haystack."""

    def query(self, question: Question) -> list[Item]:
        """Nothing."""
        return []

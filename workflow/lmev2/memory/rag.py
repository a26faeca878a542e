"""RAG with the question itself as the query (paper, Table 2: "query → slice" and "… + notes")."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lmev2.insert.notes import KINDS
from lmev2.memory.embedding_text import question_query_text
from lmev2.memory.protocol import HaystackView, Item, Question, Services
from lmev2.memory.render import heading, render_notes, render_slice
from lmev2.memory.view import Hit


class RagSlices:
    """Query → slice: the slices nearest to the question.

    Options:
        top_slices: slices returned (6 in the paper).
        strip_answer_format: drop the question's sentences on the form of the answer from the query
            (false in the paper; static word vectors need it).
    """

    pools: tuple[str, ...] = ("slices",)
    roles: tuple[str, ...] = ("embedding",)
    defaults: Mapping[str, Any] = {"top_slices": 6, "strip_answer_format": False}

    def __init__(self, options: Mapping[str, Any], services: Services) -> None:
        self.options = {**self.defaults, **options}
        self.services = services

    def attach(self, view: HaystackView) -> None:
        """Take the haystack's view of the pools."""
        self.view = view

    async def query(self, question: Question) -> list[Item]:
        """Slices, best first, each with its centre's screenshot."""
        vector = await self.services.embed_query(
            question_query_text(question.text, strip_answer_format=self.options["strip_answer_format"])
        )
        with self.services.timed("search_s"):
            hits = self.search(vector)
        self.services.trace(
            hits={
                name: [[hit.entry["entry_id"], round(hit.score, 6)] for hit in pool]
                for name, pool in hits.items()
            }
        )
        with self.services.timed("render_s"):
            return self.render({name: [hit.entry for hit in pool] for name, pool in hits.items()})

    def search(self, vector: np.ndarray) -> dict[str, list[Hit]]:
        """What is nearest to the query vector [d], by pool."""
        return {"slices": self.view.pool("slices").search(vector, self.options["top_slices"])}

    def render(self, found: Mapping[str, list[Mapping[str, Any]]]) -> list[Item]:
        """The context of what was found."""
        items = [heading("Slices of earlier runs", "slices")] if found["slices"] else []
        for entry in found["slices"]:
            trajectory = self.view.trajectory(entry["trajectory_id"])
            items += render_slice(
                trajectory, entry["first_state"], entry["centre_state"], entry["last_state"]
            )
        return items


class RagSlicesNotes(RagSlices):
    """Query → slice + notes: also the nearest procedure and hint notes, which come first.

    Options: those of `RagSlices`, and
        top_notes: notes of each kind (3 in the paper).
    """

    pools = ("slices", "notes")
    defaults: Mapping[str, Any] = {**RagSlices.defaults, "top_notes": 3}

    def attach(self, view: HaystackView) -> None:
        """Take the haystack's view of the pools, the notes by kind."""
        super().attach(view)
        self.notes = [view.pool("notes").where("kind", kind) for kind in KINDS]

    def search(self, vector: np.ndarray) -> dict[str, list[Hit]]:
        """What is nearest to the query vector [d], by pool; procedure notes before hint notes."""
        notes = [hit for kind in self.notes for hit in kind.search(vector, self.options["top_notes"])]
        return {"notes": notes, **super().search(vector)}

    def render(self, found: Mapping[str, list[Mapping[str, Any]]]) -> list[Item]:
        """Notes, then slices."""
        return render_notes(found["notes"]) + super().render(found)

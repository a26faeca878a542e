"""Pilot studies: the reader gets the evidence itself (paper, Figure 4), so they bound what a memory can do.

They read the evidence labels and say so (`labels`); they are asked the non-abstention questions only.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lmev2.insert.notes import KINDS
from lmev2.memory.oracle_questions import TABLE, Evidence, OracleQuestion
from lmev2.memory.protocol import HaystackView, Item, Services
from lmev2.memory.render import heading, render_notes, render_run, render_slice


class OracleTrajectories:
    """The answer trajectories, whole: for each hop the first of the haystack that holds its evidence."""

    labels = True
    pools: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {}

    def __init__(self, options: Mapping[str, Any], services: Services) -> None:
        self.options = {**self.defaults, **options}

    @classmethod
    def needs(cls, options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """Its pools, no model, and the labels."""
        return {"pools": cls.pools, "roles": (), "private_tables": (TABLE,)}

    def attach(self, view: HaystackView) -> None:
        """Take the haystack."""
        self.view = view

    def query(self, question: OracleQuestion) -> list[Item]:
        """The trajectories one after the other, state by state."""
        return [
            item
            for trajectory_id in choose_evidence(question.hops, self.view.trajectory_ids)
            for item in render_run(self.view.trajectory(trajectory_id))
        ]


class OracleSlicesNotes(OracleTrajectories):
    """The slices around the evidence states of these trajectories, after the trajectories' notes.

    Options:
        top_slices: slices of one trajectory at most; they are chosen so that their windows cover as many
            evidence states as possible, in the order of the states.
    """

    pools = ("slices", "notes")
    defaults: Mapping[str, Any] = {"top_slices": 6}

    def query(self, question: OracleQuestion) -> list[Item]:
        """Notes, then slices."""
        chosen = choose_evidence(question.hops, self.view.trajectory_ids)
        notes = [
            note
            for kind in KINDS
            for trajectory_id in chosen
            for note in self._entries("notes", trajectory_id)
            if note["kind"] == kind
        ]
        items = render_notes(notes)
        if chosen:
            items.append(heading("Slices of earlier runs", "slices"))
        for trajectory_id, states in chosen.items():
            slices = self._entries("slices", trajectory_id)
            for entry in cover(slices, states)[: self.options["top_slices"]]:
                window = (entry["first_state"], entry["centre_state"], entry["last_state"])
                items += render_slice(self.view.trajectory(trajectory_id), *window)
        return items

    def _entries(self, pool: str, trajectory_id: str) -> list[dict[str, Any]]:
        return self.view.pool(pool).where("trajectory_id", trajectory_id).entries()


def choose_evidence(hops: Sequence[Evidence], haystack: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """One trajectory a hop, with all evidence states that it holds for the hops it was chosen for.

    A trajectory that an earlier hop chose serves a later one too where it can; else the first of the
    haystack is taken. A hop without a trajectory in the haystack has none.
    """
    chosen: dict[str, set[int]] = {}
    for hop in hops:
        here = [trajectory for trajectory in haystack if trajectory in hop]
        if here:
            trajectory = next((known for known in chosen if known in hop), here[0])
            chosen.setdefault(trajectory, set()).update(hop[trajectory])
    return {trajectory: tuple(sorted(states)) for trajectory, states in chosen.items()}


def cover(slices: Sequence[Mapping[str, Any]], states: Sequence[int]) -> list[Mapping[str, Any]]:
    """Slices whose windows hold all `states`: each is centred on the first state that is not yet held."""
    found: list[Mapping[str, Any]] = []
    by_centre = {entry["centre_state"]: entry for entry in slices}
    for state in states:
        if not found or state > found[-1]["last_state"]:
            found.append(by_centre[state])
    return found

"""What the controller is told of a haystack before it writes its queries."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeVar

from lmev2.insert.notes import KINDS
from lmev2.memory.view import HaystackView

Value = TypeVar("Value")
GOALS, PAGE_TITLES, NOTE_TITLES = 6, 6, 4


def memory_summary(view: HaystackView, pools: Collection[str]) -> str:
    """Counts, sample goals, the most common page titles and sample note titles of one haystack.

    Args:
        view: the question's own haystack.
        pools: the pools that the method has; of others nothing is said.
    """
    trajectories = view.trajectory_ids
    lines = [f"Trajectories: {len(trajectories)}"]
    if "slices" in pools:
        lines.append(f"State slices: {len(view.pool('slices'))}")
    if "events" in pools:
        lines.append(f"Events: {len(view.pool('events'))}")
    notes = {kind: view.pool("notes").where("kind", kind) for kind in KINDS} if "notes" in pools else {}
    lines += [f"{kind.capitalize()} notes: {len(pool)}" for kind, pool in notes.items()]
    lines += _listed("Goals of some runs", [view.goal(id_) for id_ in evenly_spaced(trajectories, GOALS)])
    titles = Counter(title for id_ in trajectories for title in view.page_titles(id_) if title.strip())
    # Equal counts keep the order in which the haystack shows the titles.
    common = [f"{title} ({count})" for title, count in titles.most_common(PAGE_TITLES)]
    lines += _listed("Most common page titles (states)", common)
    for kind, pool in notes.items():
        lines += _listed(
            f"Titles of some {kind} notes", evenly_spaced(list(map(str, pool.column("title"))), NOTE_TITLES)
        )
    return "\n".join(lines)


def evenly_spaced(values: Sequence[Value], most: int) -> list[Value]:
    """At most `most` of `values`, the first and the last among them; all if there are no more."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def _listed(title: str, values: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"- {' '.join(value.split())}" for value in values)] if values else []

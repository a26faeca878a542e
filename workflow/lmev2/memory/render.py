"""Memory entries as context items (FACTS, section 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from lmev2.memory.protocol import Item
from lmev2.trajectory import Trajectory


def render_notes(notes: Sequence[Mapping[str, Any]]) -> list[Item]:
    """All notes in one text item; nothing for no notes."""
    if not notes:
        return []
    texts = [
        f"{note['kind'].capitalize()} note: {note['title']}\n{note['description']}\n{note['content']}"
        for note in notes
    ]
    return [Item("text", text="Notes from earlier runs\n\n" + "\n\n".join(texts), source="notes")]


def heading(text: str, source: str) -> Item:
    """A heading before the items of a pool."""
    return Item("text", text=text, source=source)


def render_slice(trajectory: Trajectory, first: int, centre: int, last: int) -> list[Item]:
    """One slice: a text with goal, actions and the window's states, then the centre's screenshot, if any.

    Args:
        trajectory: the slice's trajectory.
        first: first state of the window (inclusive).
        centre: its centre.
        last: last state of the window (inclusive).
    """
    states = trajectory.states
    actions = trajectory.annotated_actions
    listed = [f"{number}. {action}" for number, action in enumerate(actions) if action]
    local = [f"{number}. {actions[number]}" for number in range(first, last + 1) if actions[number]]
    lines = [
        f"Slice of trajectory {trajectory.id}, states {first}-{last}",
        f"Goal: {trajectory.goal}",
        "Actions of the whole run (number: the state that the action led to):",
        *(listed or ["none"]),
        "Actions in this slice:",
        *(local or ["none"]),
    ]
    for number in range(first, last + 1):
        state = states[number]
        lines += ["", f"State {state.index}", f"URL: {state.url}"]
        if actions[number]:
            lines.append(f"Action: {actions[number]}")
        lines += ["Tree:", state.tree or "(no tree was recorded)"]
    place = {"source": "slices", "trajectory_id": trajectory.id, "first_state": first, "last_state": last}
    items = [Item("text", text="\n".join(lines), **place)]
    if states[centre].screenshot:
        items.append(
            Item(
                "image",
                image=states[centre].screenshot,
                **{**place, "first_state": centre, "last_state": centre},
            )
        )
    return items

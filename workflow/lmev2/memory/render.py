"""Memory entries as context items (docs/methods.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

from lmev2.memory.protocol import Item
from lmev2.trajectory import State, Trajectory


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


def render_event(trajectory: Trajectory, event: Mapping[str, Any]) -> list[Item]:
    """One event: a text, then the screenshots before and after the step, those that there are."""
    pre, post = event["pre_state"], event["post_state"]
    lines = [
        f"Step of trajectory {trajectory.id}, from state {pre} to state {post}",
        f"Goal: {trajectory.goal}",
        f"Action: {trajectory.annotated_actions[post] or 'none was recorded'}",
        f"Overview: {event['overview']}",
        f"What changed: {event['transition']}",
    ]
    place = {"source": "events", "trajectory_id": trajectory.id}
    items = [Item("text", text="\n".join(lines), **place, first_state=pre, last_state=post)]
    for number in (pre, post):
        if screenshot := trajectory.states[number].screenshot:
            items.append(Item("image", image=screenshot, **place, first_state=number, last_state=number))
    return items


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
    local = [f"{number}. {actions[number]}" for number in range(first, last + 1) if actions[number]]
    lines = [
        f"Slice of trajectory {trajectory.id}, states {first}-{last}",
        f"Goal: {trajectory.goal}",
        "Actions of the whole run (number: the state that the action led to):",
        *(trajectory.numbered_actions or ["none"]),
        "Actions in this slice:",
        *(local or ["none"]),
    ]
    for number in range(first, last + 1):
        lines += ["", *_state_lines(states[number], actions[number])]
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


def render_spans(markdown: str, spans: Sequence[Any], trajectories: Mapping[str, Trajectory]) -> list[Item]:
    """A coding agent's findings: its text, the list of spans, then each span's states.

    Args:
        markdown: the agent's text; left out if blank.
        spans: with `trajectory_id`, `first` and `last` (inclusive), in the agent's order.
        trajectories: the trajectories of the spans by id.
    """
    items = [Item("text", text=markdown, source="agent")] if markdown.strip() else []
    if not spans:
        return items
    listed = [f"- trajectory {span.trajectory_id}, states {span.first}-{span.last}" for span in spans]
    items.append(Item("text", text="\n".join(["Spans of earlier runs:", *listed]), source="agent"))
    items.append(heading("The states of these spans", "spans"))
    for span in spans:
        items += _render_span(trajectories[span.trajectory_id], span.first, span.last)
    return items


def _render_span(trajectory: Trajectory, first: int, last: int) -> list[Item]:
    actions = trajectory.annotated_actions
    header = [
        f"Trajectory {trajectory.id}, states {first}-{last}",
        f"Goal: {trajectory.goal}",
        f"Start url: {trajectory.start_url}",
        "Actions of the whole run (number: the state that the action led to):",
        *(trajectory.numbered_actions or ["none"]),
    ]
    place = {"source": "spans", "trajectory_id": trajectory.id}
    items = [Item("text", text="\n".join(header), first_state=first, last_state=last, **place)]
    for number in range(first, last + 1):
        state, own = trajectory.states[number], {"first_state": number, "last_state": number, **place}
        items.append(Item("text", text="\n".join(_state_lines(state, actions[number])), **own))
        if state.screenshot:
            items.append(Item("image", image=state.screenshot, **own))
    return items


def render_run(trajectory: Trajectory) -> list[Item]:
    """A whole trajectory: a header, then per state a text and its screenshot, if any."""
    place = {"source": "trajectories", "trajectory_id": trajectory.id}
    header = [
        f"Trajectory {trajectory.id}",
        f"Goal: {trajectory.goal}",
        f"Start: {trajectory.start_url}",
        "Actions (number: the state that the action led to):",
        *(trajectory.numbered_actions or ["none"]),
    ]
    items = [Item("text", text="\n".join(header), **place)]
    for state, action in zip(trajectory.states, trajectory.annotated_actions, strict=True):
        here = {**place, "first_state": state.index, "last_state": state.index}
        items.append(Item("text", text="\n".join(_state_lines(state, action)), **here))
        if state.screenshot:
            items.append(Item("image", image=state.screenshot, **here))
    return items


def _state_lines(state: State, action: str | None) -> list[str]:
    lines = [f"State {state.index}", f"URL: {state.url}"]
    lines += [f"Action: {action}"] if action else []
    return [*lines, "Tree:", state.tree or "(no tree was recorded)"]

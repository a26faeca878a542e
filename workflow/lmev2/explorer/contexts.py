"""Contexts by reference: a tree stands once, in its trajectory's file, however many contexts show it."""

from collections.abc import Mapping, Sequence
from typing import Any

from lmev2.trajectory import Trajectory

# Shorter texts are written out: a reference would save nothing.
_SHORT = 40
ACTIONS = "actions"

# A piece of text as it is, [state] for a tree, or ["actions"] for the numbered actions of the run.
Piece = str | list[int | str]


def pack_items(
    items: Sequence[Mapping[str, Any]], kept: int, trajectories: Mapping[str, Trajectory]
) -> list[dict[str, Any]]:
    """The items of a context as pages show them.

    Each has `source`, and where it has them `trajectory`, `first` and `last`. A text has `text`, a list of
    pieces (`split_text`); a picture has `image`: the number of the state whose screenshot it is, or its path.
    What truncation kept from the reader has `cut`.

    Args:
        items: as in `records.ITEM`.
        kept: how many of them the reader got.
        trajectories: by id.
    """
    return [_pack(item, number >= kept, trajectories) for number, item in enumerate(items)]


def _pack(item: Mapping[str, Any], cut: bool, trajectories: Mapping[str, Trajectory]) -> dict[str, Any]:
    id_, first, last = item["trajectory_id"], item["first_state"], item["last_state"]
    packed: dict[str, Any] = {"source": item["source"]}
    if id_ is not None:
        packed["trajectory"] = id_
    if first is not None:
        packed |= {"first": first, "last": last}
    if cut:
        packed["cut"] = True
    trajectory = trajectories.get(id_) if id_ is not None else None
    if item["kind"] == "text":
        return {**packed, "text": split_text(item["text"], trajectory, first, last)}
    return {**packed, "image": _state_of(item, trajectory)}


def split_text(
    text: str, trajectory: Trajectory | None, first: int | None = None, last: int | None = None
) -> list[Piece]:
    """`text` in pieces, with references to what the trajectory's own file holds.

    Put together again the pieces are `text`, whoever rendered it.

    Args:
        text: of an item.
        trajectory: that it is about, if any.
        first: first state of the item; of all states by default.
        last: last state, inclusive.
    """
    pieces: list[Piece] = [text]
    if trajectory is None:
        return pieces
    states = trajectory.states[first : None if last is None else last + 1]
    known = [([ACTIONS], "\n".join(trajectory.numbered_actions))]
    known += [([state.index], state.tree) for state in states]
    for reference, content in known:
        if len(content) >= _SHORT:
            pieces = [part for piece in pieces for part in _cut_out(piece, content, reference)]
    return pieces


def _cut_out(piece: Piece, content: str, reference: list[int | str]) -> list[Piece]:
    """The piece with the first occurrence of `content` replaced; equal trees follow in order of states."""
    if not isinstance(piece, str):
        return [piece]
    before, found, after = piece.partition(content)
    return [part for part in (before, reference if found else "", after) if part]


def _state_of(item: Mapping[str, Any], trajectory: Trajectory | None) -> int | str:
    if trajectory is not None and item["first_state"] is not None:
        for state in trajectory.states[item["first_state"] : item["last_state"] + 1]:
            if state.screenshot and state.screenshot.sha256 == item["image_sha256"]:
                return state.index
    return item["image"]

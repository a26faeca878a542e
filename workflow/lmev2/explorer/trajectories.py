"""The explorer's files of trajectories: one each, with all states, and a list of all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmev2.explorer.packing import write_data
from lmev2.explorer.screenshots import Screenshots
from lmev2.trajectory import State, Trajectories, Trajectory


def write_trajectories(
    trajectories: Trajectories,
    shown: set[str],
    data: Path,
    pictures: Path,
    screenshots: Screenshots,
) -> dict[str, int]:
    """Write `trajectories/<number>.js` for each trajectory that is in a haystack, and its pictures.

    The number is the trajectory's place in the list of all: an id is the dataset's and may be no file name.

    Args:
        trajectories: all of the dataset.
        shown: ids of those that some haystack holds.
        data: folder of these files.
        pictures: folder for copies and thumbnails.
        screenshots: how pictures are found.

    Returns:
        counts: trajectories, pictures, missing_screenshots.
    """
    data.mkdir(parents=True, exist_ok=True)
    missing = written = 0
    for number, id_ in enumerate(trajectories):
        if id_ not in shown:
            continue
        trajectory = trajectories[id_]
        write_data(data, f"trajectories/{number}", pack_trajectory(trajectory, screenshots))
        images = [state.screenshot for state in trajectory.states if state.screenshot]
        missing += len(trajectory.states) - len(images)
        written += screenshots.write(images, pictures)
    pictures.mkdir(parents=True, exist_ok=True)
    return {"trajectories": len(shown), "pictures": written, "missing_screenshots": missing}


def pack_trajectory(trajectory: Trajectory, screenshots: Screenshots) -> dict[str, Any]:
    """All that a page shows of a trajectory."""
    actions = trajectory.annotated_actions
    return {
        "id": trajectory.id,
        "actions": "\n".join(trajectory.numbered_actions),
        "states": [
            _pack_state(state, action, screenshots)
            for state, action in zip(trajectory.states, actions, strict=True)
        ],
    }


def _pack_state(state: State, action: str | None, screenshots: Screenshots) -> Mapping[str, Any]:
    packed: dict[str, Any] = {"url": state.url, "tree": state.tree}
    if state.action:
        packed |= {"action": state.action, "annotated": action}
    if state.thought:
        packed["thought"] = state.thought
    if image := state.screenshot:
        packed["screenshot"] = {
            **screenshots.addresses(image),
            "width": image.width,
            "height": image.height,
        }
    return packed

"""Trajectories as files, for coding agents: one folder each, named by content, made once for all haystacks.

    <folder>/trajectory.json    id, goal, start_url, outcome, actions, states
    <folder>/screenshots/3.png  of state 3; a link to the dataset's file, or a copy on another file system

A folder is complete once it has its name: it is built beside and renamed, so that a killed job leaves no
half of one, and a folder that is there is never made again.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lmev2.store import canonical_json, read_rows
from lmev2.trajectory import Trajectories, Trajectory

FORMAT = 1  # of the files; another one is another folder


class TrajectoryFiles:
    """The folders of all trajectories, as methods find them.

    Args:
        table: `insert/files.parquet`; the folders lie in the folder `files` beside it.
    """

    def __init__(self, table: str | Path) -> None:
        self.store = store_of(table)
        self._rows = {row["trajectory_id"]: row for row in read_rows(table)}

    def rows(self, trajectory_ids: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of some trajectories, in that order."""
        return [self._rows[trajectory_id] for trajectory_id in trajectory_ids]


def store_of(table: str | Path) -> Path:
    """Where the folders lie: no declared output, so that Snakemake leaves finished ones alone."""
    return Path(table).parent / "files"


def folder_name(trajectory_id: str, fingerprint: str) -> str:
    """Name of a trajectory's folder: of its id and content, and of the form of the files."""
    return hashlib.sha256(canonical_json([FORMAT, trajectory_id, fingerprint]).encode()).hexdigest()[:32]


def write_trajectory_files(
    trajectories: Trajectories, store: str | Path, progress: Callable[[], None]
) -> list[dict[str, Any]]:
    """Write the folders that `store` lacks; returns the rows of the table `files`, one a trajectory.

    Only one trajectory is in memory at a time.
    """
    store = Path(store)
    store.mkdir(parents=True, exist_ok=True)
    rows = []
    for trajectory_id in trajectories:
        trajectory = trajectories[trajectory_id]
        name = folder_name(trajectory_id, trajectories.fingerprint(trajectory_id))
        if not (store / name).is_dir():
            _write(trajectory, store, name)
        rows.append(
            {
                "trajectory_id": trajectory_id,
                "folder": name,
                "goal": trajectory.goal,
                "outcome": trajectory.outcome,
                "start_url": trajectory.start_url,
                "n_states": len(trajectory.states),
                "n_screenshots": sum(state.screenshot is not None for state in trajectory.states),
                "actions": trajectory.annotated_actions,
            }
        )
        progress()
    return rows


def trajectory_json(trajectory: Trajectory) -> dict[str, Any]:
    """The content of trajectory.json; screenshots are paths relative to it, null where there is none."""
    return {
        "id": trajectory.id,
        "goal": trajectory.goal,
        "start_url": trajectory.start_url,
        "outcome": trajectory.outcome,
        "actions": [state.action for state in trajectory.states if state.action],
        "states": [
            {
                "state_index": state.index,
                "url": state.url,
                "action": state.action,
                "thoughts": state.thought,
                "text": state.tree,
                "screenshot": _screenshot_name(state.index, state.screenshot.path)
                if state.screenshot
                else None,
            }
            for state in trajectory.states
        ],
    }


def _screenshot_name(index: int, path: Path) -> str:
    return f"screenshots/{index}{path.suffix.lower()}"


def _write(trajectory: Trajectory, store: Path, name: str) -> None:
    building = Path(tempfile.mkdtemp(dir=store, prefix=f".{name}."))
    try:
        # Line ends and glyphs as recorded: newline="" and no ASCII escapes.
        with (building / "trajectory.json").open("w", encoding="utf-8", newline="") as file:
            json.dump(trajectory_json(trajectory), file, ensure_ascii=False, indent=1)
        (building / "screenshots").mkdir()
        for state in trajectory.states:
            if state.screenshot:
                link(state.screenshot.path, building / _screenshot_name(state.index, state.screenshot.path))
        building.chmod(0o755)
        try:
            building.rename(store / name)
        except OSError:  # another job was faster
            if not (store / name).is_dir():
                raise
    finally:
        shutil.rmtree(building, ignore_errors=True)


def link(source: Path, target: Path) -> None:
    """A hard link to a file, or a copy where the file system has none or it is another one."""
    try:
        os.link(source, target, follow_symlinks=True)
    except OSError:
        shutil.copyfile(source, target)

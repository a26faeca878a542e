"""The runs in a folder of results: where they are, what they are called, how they ended."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from lmev2.ingest.agentlab.notes import Note
from lmev2.ingest.agentlab.unpickle import UnpickleError, field, load

ARGUMENTS = "exp_args.pkl"
SUMMARY = "summary_info.json"
GOAL = "goal_object.pkl.gz"


class Status(StrEnum):
    """How a run ended."""

    DONE = "done"
    ERROR = "error"  # agent or environment raised an error
    INCOMPLETE = "incomplete"  # there is no summary that can be read


@dataclass(frozen=True)
class Run:
    """The folder of one run.

    Attributes:
        folder: its path.
        name: relative to the dataset, with forward slashes.
    """

    folder: Path
    name: str

    @property
    def id(self) -> str:
        """The trajectory's id: 16 hexadecimal digits that hang on nothing but `name`."""
        return hashlib.sha256(self.name.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def files(self) -> list[Path]:
        """All that is read of it but pictures."""
        fixed = [path for name in (ARGUMENTS, SUMMARY, GOAL) if (path := self.folder / name).is_file()]
        return fixed + sorted(self.folder.glob("step_*.pkl.gz"))


@dataclass
class Found:
    """What lies in a folder of results.

    Attributes:
        runs: sorted by name.
        hidden: runs in folders whose names begin with `_` or `.`, as studies rename what they made again.
        archives: zip files, which are not read.
        links: folders that are links, which are not followed.
    """

    runs: list[Run]
    hidden: list[str]
    archives: list[str]
    links: list[str]


def find_runs(dataset: Path) -> Found:
    """Look for runs in `dataset` and all its folders."""
    found = Found([], [], [], [])
    for path in sorted(dataset.rglob(ARGUMENTS)):
        folder = path.parent.relative_to(dataset)
        if any(part.startswith(("_", ".")) for part in folder.parts):
            found.hidden.append(folder.as_posix())
        else:
            found.runs.append(Run(path.parent, folder.as_posix()))
    found.archives = sorted(path.relative_to(dataset).as_posix() for path in dataset.rglob("*.zip"))
    folders = (Path(place, name) for place, names, _ in os.walk(dataset) for name in names)
    found.links = sorted(path.relative_to(dataset).as_posix() for path in folders if path.is_symlink())
    return found


def watched_files(runs: Iterable[Run]) -> list[str]:
    """The files by whose times Snakemake sees that a run has changed: two a run, not all of its steps."""
    names = (ARGUMENTS, SUMMARY)
    paths = (run.folder / name for run in runs for name in names)
    return [str(path) for path in paths if path.is_file()]


def content_digest(runs: Iterable[Run]) -> str:
    """A digest of the names and sizes of all that is read of the runs.

    A full collection has tens of thousands of steps, too many to be compared by content each time that
    Snakemake plans. They are written once and compressed: another content has another size.
    """
    digest = hashlib.sha256()
    for run in runs:
        for path in run.files:
            digest.update(f"{run.name}/{path.name}\0{path.stat().st_size}\n".encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


def read_summary(folder: Path) -> tuple[Status, dict[str, Any]]:
    """How the run ended, and its summary; empty for an incomplete run.

    Raises:
        OSError: there is a summary that cannot be opened.
    """
    try:
        summary = json.loads((folder / SUMMARY).read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):  # none, empty, cut or no summary at all
        return Status.INCOMPLETE, {}
    reward = summary.get("cum_reward") if isinstance(summary, dict) else None
    if not isinstance(reward, int | float) or reward != reward:  # NaN says nothing of success
        return Status.INCOMPLETE, {}
    return Status.DONE if summary.get("err_msg") is None else Status.ERROR, summary


def read_goal(folder: Path, modules: Sequence[str], first: Any, notes: Counter[Note]) -> str:
    """The run's goal as text; empty where none was recorded.

    Args:
        folder: the run's.
        modules: as in `unpickle.load`.
        first: the first observation, whose goal or chat counts where the run has no goal file.
        notes: where counts are kept.

    Raises:
        UnpickleError: the goal file is not read.
    """
    path = folder / GOAL
    if path.is_file() and (goal := _goal_text(load(path, modules), notes)):
        return goal
    if goal := _goal_text(field(first, "goal_object"), notes):
        return goal
    if isinstance(goal := field(first, "goal"), str) and goal.strip():
        return goal.strip()
    messages = field(first, "chat_messages")
    for message in messages if isinstance(messages, list | tuple) else ():
        text = field(message, "message")
        if field(message, "role") == "user" and isinstance(text, str) and text.strip():
            notes[Note.GOAL_FROM_CHAT] += 1
            return text.strip()
    notes[Note.GOAL_MISSING] += 1
    return ""


def _goal_text(goal: Any, notes: Counter[Note]) -> str:
    """The text parts of a goal, line by line."""
    if isinstance(goal, str):
        return goal.strip()
    if not isinstance(goal, list | tuple):
        return ""
    texts = [text for part in goal if isinstance(text := field(part, "text"), str)]
    notes[Note.GOAL_IMAGES] += sum(field(part, "type") in ("image", "image_url") for part in goal)
    return "\n".join(texts).strip()


def task_of(folder: Path, modules: Sequence[str]) -> str:
    """The name of the run's task.

    Raises:
        UnpickleError: the run's arguments are not read, or name no task.
    """
    task = field(field(load(folder / ARGUMENTS, modules), "env_args"), "task_name")
    if not isinstance(task, str):
        raise UnpickleError("it names no task (env_args.task_name)")
    return task

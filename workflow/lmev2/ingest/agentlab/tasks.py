"""Which domain and environment a run belongs to: results do not say it, the config does."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True)
class Site:
    """Where a run took place."""

    domain: str
    environment: str


def site_of(task: str, run: str, entries: Sequence[dict[str, Any]]) -> Site | None:
    """The site of the first entry of `dataset.agentlab.tasks` that fits, None if none does.

    Args:
        task: the run's task name.
        run: the run's folder, relative to the dataset.
        entries: `task` and `run` are shell patterns, case counts; one that is left out fits all.
    """
    for entry in entries:
        if fnmatchcase(task, entry.get("task", "*")) and fnmatchcase(run, entry.get("run", "*")):
            return Site(entry["domain"], entry["environment"])
    return None

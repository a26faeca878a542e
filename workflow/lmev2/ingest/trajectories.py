"""The web-agent runs and their states, checked, one run in memory at a time.

Two layouts are read (docs/benchmark.md): the released one (`states[]`) and the older one (`content[]`
with `observation`, `thoughts` and `metadata.original_goal`), in which the start page is that of the
first state and states count by position.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from lmev2.accessibility import page_title
from lmev2.ingest.defects import Defect, Place, count_field, id_field, text_field
from lmev2.ingest.jsonl import read_json_object
from lmev2.ingest.known import Known
from lmev2.ingest.screenshots import Image, Missing, find_image, load_image
from lmev2.ingest.source import Source, TrajectoriesFile
from lmev2.tokens import approximate_tokens

FAMILIES_FILE = "families.json"

# Applies a function to many values and gives the results in their order: `map` or `Executor.map`.
Mapper = Callable[[Callable[[Any], Image | Missing], Iterable[Any]], Iterable[Image | Missing]]


@dataclass
class Trajectory:
    """A trajectory without defect.

    Attributes:
        row: the row of the schema `trajectories`.
        states: rows of the schema `states`, by state_index.
        missing: per state why it has no screenshot, None where it has one; with the field's value.
    """

    row: dict[str, Any]
    states: list[dict[str, Any]]
    missing: list[tuple[Missing | None, Any]]


def read_families(dataset: Path, defects: list[Defect]) -> dict[str, str | None]:
    """Trajectory id to task family, from the optional families.json (docs/benchmark.md)."""
    path = dataset / FAMILIES_FILE
    if not path.exists():
        return {}
    place = Place(defects, FAMILIES_FILE)
    families = {}
    for trajectory_id, entry in (read_json_object(path, place) or {}).items():
        here = place.at(id=trajectory_id)
        if isinstance(entry, dict):
            families[trajectory_id] = text_field(here, entry, "family", nullable=True)
        else:
            here.add("the entry is not an object", 'write {"family": name}')
    return families


def read_trajectories(
    dataset: Path,
    families: dict[str, str | None],
    known: Known,
    defects: list[Defect],
    mapper: Mapper = map,
    source: Source | None = None,
) -> Iterator[Trajectory]:
    """Yield the trajectories of a dataset in file order, and file the defects of the others.

    Args:
        dataset: the dataset folder.
        families: task families by trajectory id.
        known: filled with every trajectory whose id could be read; whole once the iterator has ended.
        defects: where defects are filed.
        mapper: reads the screenshots of one trajectory; `Executor.map` reads several at once.
        source: where they come from; `trajectories.jsonl` if None.
    """
    source = source or TrajectoriesFile()
    seen: dict[str, int | None] = {}
    found = len(defects)
    for here, row in source.rows(dataset, families, defects):
        before = len(defects)
        trajectory = _trajectory(dataset, here, row, seen, mapper)
        trajectory_id = trajectory.row["trajectory_id"]
        sound = len(defects) == before
        if trajectory_id is not None:
            known.domains[trajectory_id] = trajectory.row["domain"]
            known.n_states[trajectory_id] = trajectory.row["n_states"] if sound else None
        if sound:
            trajectory.row["family"] = families.get(trajectory_id)
            trajectory.row["fingerprint"] = fingerprint(trajectory)
            yield trajectory
    known.complete = not any(defect.id is None for defect in defects[found:])
    if not known.domains and len(defects) == found:
        Place(defects, source.file).add(*source.if_empty)


def fingerprint(trajectory: Trajectory) -> str:
    """The sha256 of all content that a memory method can see.

    Screenshots count by their content, not by their path. Key order, line ends and layout of the
    file do not matter, so an artifact made from a trajectory is found again wherever it moves.
    """
    content = {key: trajectory.row[key] for key in ("goal", "outcome", "start_url")}
    visible = ("url", "action", "thought", "tree", "screenshot_sha256")
    content["states"] = [{key: state[key] for key in visible} for state in trajectory.states]
    # The bytes of `store.canonical_json`, made several times faster.
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _trajectory(
    dataset: Path, place: Place, row: dict[str, Any], seen: dict[str, int | None], mapper: Mapper
) -> Trajectory:
    old = "states" not in row and "content" in row
    metadata = row.get("metadata")
    fields = {**(metadata if isinstance(metadata, dict) else {}), **row}
    if "goal" not in fields and "original_goal" in fields:
        goal = fields["original_goal"]
        # Older dumps hold the goal as text, or as the list of its parts.
        is_parts = isinstance(goal, list) and all(isinstance(part, str) for part in goal)
        fields["goal"] = " ".join(goal) if is_parts else goal
    result = {
        "trajectory_id": id_field(place, row, "id", seen),
        "domain": text_field(place, fields, "domain"),
        "environment": text_field(place, fields, "environment"),
        "goal": text_field(place, fields, "goal", blank=True),
        "outcome": text_field(place, fields, "outcome", nullable=True, blank=True),
    }
    states, values = _states(place, row, "content" if old else "states", result["trajectory_id"])
    if old and states and "start_url" not in fields:
        result["start_url"] = states[0]["url"]
    else:
        result["start_url"] = text_field(place, fields, "start_url")
    missing = []
    found = [find_image(dataset, value) for value in values]
    files = [path for path in found if not isinstance(path, Missing)]
    images = iter(mapper(lambda path: load_image(dataset, path), files))
    for state, value, path in zip(states, values, found, strict=True):
        image = path if isinstance(path, Missing) else next(images)
        loaded = isinstance(image, Image)
        state["screenshot"] = image.path if loaded else None
        state["screenshot_sha256"] = image.sha256 if loaded else None
        state["screenshot_width"] = image.width if loaded else None
        state["screenshot_height"] = image.height if loaded else None
        missing.append((None if loaded else image, value))
    result |= {"n_states": len(states), "fingerprint": None, "family": None}
    return Trajectory(result, states, missing)


def _states(
    place: Place, row: dict[str, Any], key: str, trajectory_id: str | None
) -> tuple[list[dict[str, Any]], list[Any]]:
    """The states by state_index and the values of their screenshot fields."""
    entries = row.get(key)
    if not isinstance(entries, list) or not entries:
        problem = "is missing" if key not in row else "is not a list of states"
        place.add(f"the field {key!r} {problem}", "give it one object {...} for each state")
        return [], []
    before = len(place.defects)
    pairs = []
    for position, entry in enumerate(entries):
        here = place.at(part=f"state {position}")
        if isinstance(entry, dict):
            pairs.append(_state(here, entry, position if key == "content" else None, trajectory_id))
        else:
            here.add("it is not an object", "write {...}")
    if len(place.defects) > before:
        return [], []
    pairs.sort(key=lambda pair: pair[0]["state_index"])
    indexes = [state["state_index"] for state, _ in pairs]
    if indexes != list(range(len(pairs))):
        expected, index = next(pair for pair in enumerate(indexes) if pair[0] != pair[1])
        problem = f"{index} is there twice" if index < expected else f"{expected} is not there"
        place.add(
            f"the state_index values of {len(pairs)} states must be 0 to {len(pairs) - 1}, but {problem}",
            "number the states of a trajectory 0, 1, 2, ...",
        )
        return [], []
    return [state for state, _ in pairs], [value for _, value in pairs]


def _state(
    place: Place, entry: dict[str, Any], position: int | None, trajectory_id: str | None
) -> tuple[dict[str, Any], Any]:
    """One state without its screenshot, and the value of its screenshot field.

    Args:
        place: where defects are filed.
        entry: the state's object.
        position: stands for an absent state_index; None where that must be given (released layout).
        trajectory_id: of its trajectory.
    """
    observation = entry.get("observation")
    fields = {**(observation if isinstance(observation, dict) else {}), **entry}
    if position is not None:
        fields.setdefault("state_index", position)
        fields.setdefault("step", fields["state_index"])
    tree_key = "text" if "accessibility_tree" not in fields and "text" in fields else "accessibility_tree"
    thought_key = "thoughts" if "thought" not in fields else "thought"
    tree = text_field(place, fields, tree_key, blank=True)
    return {
        "trajectory_id": trajectory_id,
        "state_index": count_field(place, fields, "state_index"),
        "step": count_field(place, fields, "step"),
        "url": text_field(place, fields, "url"),
        "action": text_field(place, fields, "action", nullable=True, blank=True),
        "thought": text_field(place, fields, thought_key, nullable=True, blank=True),
        "tree": tree,
        "tree_tokens": None if tree is None else approximate_tokens(len(tree)),
        "page_title": None if tree is None else page_title(tree),
    }, fields.get("screenshot")

"""Recorded contexts as our items: which image, and which trajectory and state a piece comes from."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from lmev2.ingest.screenshots import Missing, load_image
from lmev2.records import NO_SOURCE

_WORD = re.compile(r"[\w-]+")


class Screenshots:
    """The dataset's screenshots by the end of their paths, `<trajectory>/<file>`.

    Args:
        states: rows of the `states` table.
        dataset: the dataset folder.
    """

    def __init__(self, states: Sequence[Mapping[str, Any]], dataset: Path) -> None:
        self.dataset = dataset
        self._rows = {_end(row["screenshot"]): row for row in states if row["screenshot"]}

    def columns(self, path: str) -> dict[str, Any]:
        """The image's columns of an item; content and size are null where this machine has no such image."""
        if row := self._rows.get(_end(path)):
            return {
                "image": str(self.dataset / row["screenshot"]),
                "image_sha256": row["screenshot_sha256"],
                "width": row["screenshot_width"],
                "height": row["screenshot_height"],
                "trajectory_id": row["trajectory_id"],
                "first_state": row["state_index"],
                "last_state": row["state_index"],
            }
        nowhere = {"image": path, "image_sha256": None, "width": None, "height": None}
        for file in (Path(path), self.dataset / path):
            if (
                "\0" not in path
                and file.is_file()
                and not isinstance(found := load_image(Path(), str(file)), Missing)
            ):
                nowhere = {"image": str(file), "image_sha256": found.sha256}
                nowhere |= {"width": found.width, "height": found.height}
                break
        return {**nowhere, "trajectory_id": None, "first_state": None, "last_state": None}


def _end(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.replace("\\", "/")).parts[-2:]


def items_of(
    context: Sequence[Mapping[str, str]],
    places: Sequence[Sequence[Any]] | None,
    screenshots: Screenshots,
    haystack: Sequence[str],
) -> list[dict[str, Any]]:
    """A `memory_context` as our items (`records.ITEM`).

    Args:
        context: its items.
        places: source, trajectory, first and last state of each, which runs of our own record; else None.
        screenshots: where images are looked up.
        haystack: the trajectories that texts may name.
    """
    known = frozenset(haystack)
    return [
        _item(item, place, screenshots, known)
        for item, place in zip(context, places or [None] * len(context), strict=True)
    ]


def _item(
    item: Mapping[str, str], place: Sequence[Any] | None, screenshots: Screenshots, haystack: frozenset[str]
) -> dict[str, Any]:
    """One item. Without `place`, where it comes from is read from an image's path, and from a text that names
    one trajectory of the haystack and no other.
    """
    image = dict.fromkeys(("image", "image_sha256", "width", "height"))
    source: dict[str, Any] = {
        "source": NO_SOURCE,
        **dict.fromkeys(("trajectory_id", "first_state", "last_state")),
    }
    if item["type"] == "image":
        found = screenshots.columns(item["value"])
        image = {key: found[key] for key in image}
        source |= {key: found[key] for key in source if key != "source"}
    else:
        named = haystack.intersection(_WORD.findall(item["value"]))
        if len(named) == 1:
            source["trajectory_id"] = min(named)
    if place is not None:
        source = dict(zip(source, place, strict=True))
    return {
        "kind": item["type"],
        "text": item["value"] if item["type"] == "text" else None,
        **image,
        **source,
    }

"""The queries that a controller writes for one question, read leniently from its reply."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from lmev2.asking import json_objects

SLICES, EVENT, NOTE = "raw_state_queries", "event_query", "note_query"
POOL_OF = {SLICES: "slices", EVENT: "events", NOTE: "notes"}
MOST_SLICE_QUERIES = 5
BLANK = "..."  # stands for a text in the form that the controller is shown


@dataclass(frozen=True)
class Bundle:
    """Queries by pool; an empty one skips its pool.

    `dropped` counts what a reply held beyond what could be used: "duplicate", "not_text", "too_many".
    """

    slices: tuple[str, ...] = ()
    event: str = ""
    note: str = ""
    dropped: dict[str, int] = field(default_factory=dict, compare=False)

    def __bool__(self) -> bool:
        return bool(self.slices or self.event or self.note)

    def to_dict(self) -> dict[str, Any]:
        """The queries in the form that the controller was asked for."""
        return {SLICES: list(self.slices), EVENT: self.event, NOTE: self.note}


def schema_example(pools: Collection[str]) -> str:
    """The JSON object that the controller is to send, with the keys of `pools` only."""
    example = {SLICES: [BLANK], EVENT: BLANK, NOTE: BLANK}
    return json.dumps({key: value for key, value in example.items() if POOL_OF[key] in pools})


def parse_bundle(text: str, pools: Collection[str], most: int = MOST_SLICE_QUERIES) -> Bundle | None:
    """The queries of a reply, or None if it holds none.

    Of several JSON objects the last with a query counts: models repeat the form before they fill it in.
    Fences and prose around it, a single text in place of the list, texts that occur twice, entries that
    are not text and more than `most` entries do not matter. Keys of other pools are passed over.
    """
    bundles = [_bundle(found, pools, most) for found in json_objects(text)]
    return next((bundle for bundle in reversed(bundles) if bundle), None)


def _bundle(found: dict[str, Any], pools: Collection[str], most: int) -> Bundle:
    values = {key: found.get(key) for key, pool in POOL_OF.items() if pool in pools}
    dropped = {"duplicate": 0, "not_text": 0, "too_many": 0}
    texts = {key: _texts(value, dropped) for key, value in values.items()}
    slices = texts.get(SLICES, [])
    dropped["too_many"] += len(slices[most:])
    single = {}
    for key in (EVENT, NOTE):
        found_texts = texts.get(key, [])
        dropped["too_many"] += len(found_texts[1:])
        single[key] = found_texts[0] if found_texts else ""
    kept = {name: count for name, count in dropped.items() if count}
    return Bundle(tuple(slices[:most]), single[EVENT], single[NOTE], kept)


def _texts(value: Any, dropped: dict[str, int]) -> list[str]:
    """The distinct texts in `value`, a text or a list; upper case and spacing make no difference."""
    if value is None:
        return []
    texts: dict[str, str] = {}
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, str):
            dropped["not_text"] += 1
        elif (text := " ".join(entry.split())) and text != BLANK:
            dropped["duplicate"] += text.casefold() in texts
            texts.setdefault(text.casefold(), text)
    return list(texts.values())

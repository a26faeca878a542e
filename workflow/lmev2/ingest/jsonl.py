r"""JSON Lines and JSON files of a dataset, read so that every fault has a place.

Rows end at the byte `\n` and nowhere else: accessibility trees hold U+2028, U+0085, vertical tabs
and form feeds, at which `str.splitlines` would cut.

A fast parser reads what is sound. All else goes to the standard one, which is several times slower and sees
repeated keys, takes raw control characters inside strings and says where a text is wrong.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from lmev2.ingest.defects import Place

_SPACED_COLON = re.compile(rb'(?<!\\)"[ \t\r\n]+:')
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_IF_MISSING = "put it into the dataset folder"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_jsonl(path: Path, place: Place, key: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    r"""Yield each row of a JSON Lines file with its place (line, and id from the field `key`).

    CRLF line ends and blank lines after the last row are tolerated. A missing file, a blank line
    between rows, invalid JSON (invalid UTF-8, NaN and lone surrogates such as "\ud800" included), a
    row that is not an object and a repeated key are filed as defects; only the last still yields its
    row. Memory: one row.
    """
    if not _exists(path, place):
        return
    blank = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            here = place.at(line=number)
            if line.isspace():
                blank.append(here)
                continue
            for earlier in blank:
                earlier.add("the line is blank", "remove it; every line holds one JSON object")
            blank.clear()
            row = _parse(line, here, key)
            if isinstance(row, dict):
                row_id = row.get(key)
                yield here.at(id=row_id if isinstance(row_id, str) else None), row
            elif row is not None:
                here.add("the line is not a JSON object", "write one object {...} on each line")


def read_json_object(path: Path, place: Place, if_missing: str = _IF_MISSING) -> dict[str, Any] | None:
    """The object in a JSON file; None, with a defect filed, where there is none.

    `if_missing` is the remedy where the file is missing.
    """
    if not _exists(path, place, if_missing):
        return None
    value = _parse(path.read_bytes(), place, None)
    if value is None or isinstance(value, dict):
        return value
    place.add("the file is not one JSON object", "write one object {...} with an entry for each id")
    return None


def _exists(path: Path, place: Place, if_missing: str = _IF_MISSING) -> bool:
    if path.is_file():
        return True
    place.add("the file is missing", if_missing)
    return False


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parse(data: bytes, place: Place, key: str | None) -> Any:
    """Parse `data`; None with a defect filed where it cannot be used."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_slowly(data, place, key)
    if isinstance(value, dict) and _keys_are_unique(data, value):
        return value
    return _parse_slowly(data, place, key)


def _keys_are_unique(data: bytes, value: dict[str, Any]) -> bool:
    """Whether the text `data` of `value` has as many keys as `value`, so that it repeats none.

    A key ends at a quote before a colon, which no backslash escapes. Texts in which that may be otherwise (a
    space before the colon, a key that ends with a backslash, a string that begins with a colon) give False.
    """
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == ord('"'))
    after = codes[quotes + 1][codes[quotes - 1] != ord("\\")]
    if (after <= ord(" ")).any() and _SPACED_COLON.search(data):
        return False
    n_keys = 0
    names: set[str] = set()
    containers: list[Any] = [value]
    while containers:
        part = containers.pop()
        if isinstance(part, dict):
            n_keys += len(part)
            names.update(part)
            part = part.values()
        containers += [inner for inner in part if isinstance(inner, (dict, list))]
    if any(name.endswith("\\") for name in names):
        return False
    return bool(np.count_nonzero(after == ord(":")) == n_keys)


def _parse_slowly(data: bytes, place: Place, key: str | None) -> Any:
    repeated: list[str] = []

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            names = [name for name, _ in pairs]
            repeated.extend(sorted({name for name in names if names.count(name) > 1}))
        return value

    data = data.rstrip(b"\r\n")
    remedy = "write the file again with a JSON library, as UTF-8"
    try:
        value = json.loads(
            data.decode("utf-8"), strict=False, object_pairs_hook=as_object, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if key is None else f"column {error.colno}"
        place.add(f"invalid JSON: {error.msg} ({where})", remedy)
        return None
    except (ValueError, RecursionError) as error:
        place.add(f"invalid JSON: {error}", remedy)
        return None
    if value is None:
        place.add("invalid content: null instead of an object", remedy)
        return None
    if key and isinstance(value, dict) and isinstance(value.get(key), str):
        place = place.at(id=value[key])
    for name in repeated:
        named = place if key else place.at(id=name)
        named.add(f"the key {name!r} occurs more than once in one object", "keep one of the entries")
    if _SURROGATE_ESCAPE.search(data) and _LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        place.add(
            "a text holds a lone surrogate (half of a \\uXXXX\\uXXXX pair), which is no character",
            "write the whole pair or U+FFFD in its place",
        )
        return None
    return value

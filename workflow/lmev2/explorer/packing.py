"""Data files of the explorer: JSON, compressed, inside scripts that a page opened from disk can load.

A page of the `file:` scheme may not fetch, but it may add a script. Each data file is one call with a name
and base64 text, so that whatever stands in the data is no part of any script.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_LEVEL = 6
CHUNK = 400_000  # characters of JSON in a file of several records


def write_data(folder: Path, name: str, value: Any) -> None:
    """Write `value` as the data file `name`: <folder>/<last part of the name>.js."""
    write_packed(folder, name, encode(value))


def write_packed(folder: Path, name: str, text: str) -> None:
    """Write JSON `text` as the data file `name`."""
    # Lone halves of surrogate pairs, which JSON may hold, are in no UTF-8 file.
    packed = zlib.compress(text.encode("utf-8", "replace"), _LEVEL)
    script = f'lmev2.data({json.dumps(name)},"{base64.b64encode(packed).decode()}");\n'
    folder.mkdir(parents=True, exist_ok=True)
    # A declared output or in one: Snakemake removes it if the job fails.
    (folder / f"{name.rpartition('/')[2]}.js").write_text(script, encoding="ascii")


def encode(value: Any) -> str:
    """`value` as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def chunks(records: Iterable[tuple[str, Any]], most: int = CHUNK) -> Iterator[dict[str, str]]:
    """Gather records (key, value) to groups of about `most` characters: key -> JSON text.

    A record of more is a group of its own.
    """
    group: dict[str, str] = {}
    size = 0
    for key, value in records:
        text = encode(value)
        if group and size + len(text) > most:
            yield group
            group, size = {}, 0
        group[key] = text
        size += len(text)
    if group:
        yield group


def joined(group: dict[str, str]) -> str:
    """The JSON object of a group."""
    return "{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in group.items()) + "}"

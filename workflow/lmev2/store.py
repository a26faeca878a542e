"""Stage files on disk: Parquet written whole or not at all, JSON in one canonical form."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lmev2.errors import UserError
from lmev2.records import SCHEMAS


class StageFileError(UserError):
    """A stage file cannot be read."""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside `path` that replaces it when the block ends without error.

    A killed process leaves at most a hidden temporary file, never a half-written `path`.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_parquet(table: pa.Table, path: str | Path) -> None:
    """Write `table` atomically; the same table gives the same bytes."""
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def write_table(name: str, rows: Iterable[dict[str, Any]], path: str | Path) -> pa.Table:
    """Write `rows` as the stage file `name` (a key of `records.SCHEMAS`) and return the table.

    Every row must have exactly the schema's columns.

    Raises:
        KeyError: a row lacks a column or has one that the schema does not know.
    """
    schema = SCHEMAS[name]
    rows = list(rows)
    expected = set(schema.names)
    for row in rows:
        if row.keys() != expected:
            raise KeyError(f"a row of {name!r} differs from its schema in {sorted(row.keys() ^ expected)}")
    table = pa.Table.from_pylist(rows, schema=schema)
    write_parquet(table, path)
    return table


def read_table(path: str | Path, columns: list[str] | None = None) -> pa.Table:
    """Read one stage file (only `columns`, if given).

    Raises:
        StageFileError: the file is damaged or gone.
    """
    try:
        return pq.read_table(path, columns=columns)
    except FileNotFoundError as error:  # Snakemake removes a job's outputs before it runs the job
        raise StageFileError(
            f"{path}: the file is gone, as if another run in this folder were making it anew; "
            "let that run end, then run again"
        ) from error
    except pa.ArrowInvalid as error:
        raise StageFileError(
            f"{path}: the file is damaged ({error}); remove it and run again: "
            "it is made again from the journal"
        ) from error


def read_rows(path: str | Path, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """Read one stage file as a list of rows."""
    return read_table(path, columns).to_pylist()


def canonical_json(value: Any) -> str:
    """The one JSON text of `value`: sorted keys, no spaces, no NaN, non-ASCII text as it is."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def write_json(value: Any, path: str | Path) -> None:
    """Write `value` atomically as readable JSON with sorted keys."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def write_text(text: str, path: str | Path) -> None:
    """Write `text` atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")

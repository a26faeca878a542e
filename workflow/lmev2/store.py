"""Stage files on disk, written whole or not at all: Parquet, JSON in one canonical form, csv, text."""

import csv
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        # pq.read_table would import pandas, which costs a small job a third of its time.
        with pq.ParquetFile(path) as file:
            table = file.read(columns)
            return table.select(columns) if columns else table
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


def write_csv(path: str | Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> None:
    """Write `rows` as csv, None as an empty cell, booleans as `true` and `false`.

    Args:
        path: the file.
        rows: mappings with the same keys.
        columns: their order; that of the first row by default, so it is needed where there may be no rows.
    """
    columns = list(columns or rows[0])
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value

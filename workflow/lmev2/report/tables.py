"""Small csv files of the report, written whole."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.store import replacing


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

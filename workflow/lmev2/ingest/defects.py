"""Defects of a dataset, collected over a whole run so that one error can tell all of them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from lmev2.errors import UserError

# As many as a screen or two hold; the rest is one command away (see `DatasetError`).
MAX_PRINTED = 60

_INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class Defect:
    """One thing that is wrong with a dataset.

    Attributes:
        file: path inside the dataset folder.
        line: 1-based line of a JSON Lines file, None where lines say nothing (whole-file JSON).
        id: id of the row, None where it has none or could not be read.
        message: what is wrong.
        remedy: what to do about it.
    """

    file: str
    line: int | None
    id: str | None
    message: str
    remedy: str

    def __str__(self) -> str:
        # repr() keeps ids printable, lone surrogates and control characters included.
        where = [f"line {self.line}"] if self.line is not None else []
        where += [f"id {self.id!r}"] if self.id is not None else []
        text = f"{self.message}; {self.remedy}"
        return f"{', '.join(where)}: {text}" if where else text

    def to_dict(self) -> dict[str, Any]:
        """The defect as a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class Place:
    """Where in the dataset a check looks; `add` files a defect there."""

    defects: list[Defect]
    file: str
    line: int | None = None
    id: str | None = None
    part: str = ""

    def at(self, **changes: Any) -> "Place":
        """The same place with another `line`, `id` or `part` (of the row, such as a state)."""
        return replace(self, **changes)

    def add(self, message: str, remedy: str) -> None:
        """File a defect."""
        message = f"{self.part}: {message}" if self.part else message
        self.defects.append(Defect(self.file, self.line, self.id, message, remedy))


class DatasetError(UserError):
    """A dataset has defects; the text lists them per file.

    Attributes:
        defects: all of them, in the order in which they were found.
    """

    def __init__(self, defects: Iterable[Defect], dataset: str = ""):
        self.defects = list(defects)
        super().__init__(render_defects(self.defects, dataset))


class NoDatasetError(UserError, NotADirectoryError):
    """There is no dataset folder."""

    def __init__(self, dataset: object) -> None:
        super().__init__(
            f"the dataset folder {str(dataset)!r} does not exist; set dataset.path to yours, "
            "or fetch the released dataset into it: snakemake download"
        )


def render_defects(defects: list[Defect], dataset: str = "", limit: int = MAX_PRINTED) -> str:
    """The defects as readable text, numbered, grouped by file, at most `limit` of them printed."""
    title = f"dataset {dataset}: " if dataset else "dataset: "
    lines = [title + counted(len(defects), "defect")]
    order = {file: position for position, file in enumerate(dict.fromkeys(d.file for d in defects))}
    numbered = enumerate(sorted(defects, key=lambda d: order[d.file]), start=1)
    for file, group in groupby(numbered, key=lambda pair: pair[1].file):
        members = list(group)
        lines.append(f"{file} ({counted(len(members), 'defect')})")
        lines += [f"  {number}. {defect}" for number, defect in members if number <= limit]
    if len(defects) > limit:
        lines.append(
            f"... {len(defects) - limit} of {len(defects)} defects are not printed; "
            f"`lmev2 validate {dataset or 'DATASET'} --json` writes all of them"
        )
    return "\n".join(lines)


def counted(n: int, noun: str) -> str:
    """`n` with its noun in the right number: "1 defect", "2 defects"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


# -- checks of one field -------------------------------------------------------------------------


def _named(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def text_field(
    place: Place, row: dict[str, Any], key: str, *, nullable: bool = False, blank: bool = False
) -> str | None:
    """The string `row[key]`, or None with a defect filed.

    Args:
        place: where a defect is filed.
        row: the JSON object.
        key: the field.
        nullable: null and an absent key are right too, and give None.
        blank: an empty string is right too.
    """
    if key not in row:
        if not nullable:
            place.add(f"the field {key!r} is missing", f"add {key!r} with a string")
        return None
    value = row[key]
    if value is None and nullable:
        return None
    if not isinstance(value, str):
        wanted = "a string or null" if nullable else "a string"
        place.add(f"the field {key!r} is {_named(value)}, not {wanted}", f"make it {wanted}")
        return None
    if not blank and not value.strip():
        place.add(f"the field {key!r} is empty", "give it a text")
        return None
    return value


def count_field(place: Place, row: dict[str, Any], key: str) -> int | None:
    """The integer `row[key]` >= 0, or None with a defect filed."""
    if key not in row:
        place.add(f"the field {key!r} is missing", f"add {key!r} with a whole number from 0")
        return None
    value = row[key]
    if type(value) is not int or not 0 <= value <= _INT32_MAX:
        shown = value if type(value) in (int, float) else _named(value)
        place.add(f"the field {key!r} is {shown}, not a whole number from 0", "make it one")
        return None
    return value


def id_field(place: Place, row: dict[str, Any], key: str, seen: dict[str, int | None]) -> str | None:
    """The id `row[key]`, noted in `seen` (id to line), or None with a defect filed.

    Ids name folders in an agent's workspace, so they must not lead out of one.
    """
    value = text_field(place, row, key)
    if value is None:
        return None
    if value in seen:
        place.add(
            f"the id occurs twice, on lines {seen[value]} and {place.line}",
            "remove one of the two rows or give it an id of its own",
        )
        return None
    seen[value] = place.line
    if value in (".", "..") or any(character in "/\\" or ord(character) < 32 for character in value):
        place.add("the id cannot name a file", "use an id without slashes and control characters")
    return value

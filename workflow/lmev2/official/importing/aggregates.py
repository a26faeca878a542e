"""The aggregates of a run, compared with what its records say."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.official.importing.findings import AGGREGATE, Finding, file_of
from lmev2.official.metrics import aggregate
from lmev2.official.run_folder import ABSTENTION, CATEGORIES, METRICS, agrees, look_up, parse_json

Row = Mapping[str, Any]


def check_aggregates(folder: Path, run: Mapping[str, str], records: Sequence[Row]) -> list[Finding]:
    """Figures of aggregated_metrics.json that do not follow from the records."""
    file, place = folder / METRICS, file_of(run, METRICS)

    def finding(name: str, recorded: Any, here: Any) -> Finding:
        return Finding(AGGREGATE, run["domain"], place, None, "", name, str(recorded), str(here))

    if not file.is_file():
        return [finding("", "", "there is no such file")]
    try:
        stated = parse_json(file.read_text(encoding="utf-8"))
    except ValueError as error:
        return [finding("", "", f"cannot be read as JSON: {error}")]
    if not records:
        return []
    counted = aggregate([_with_defaults(record) for record in records])
    return [
        finding(name, given, here)
        for name, here in _leaves(counted)
        if not agrees(given := look_up(stated, name), here) and not name.startswith("memory_post_query")
    ]


def _with_defaults(record: Row) -> dict[str, Any]:
    category = CATEGORIES[record["question_type"]]  # that of the dataset, whatever the record says
    usual = {"memory_post_query_duration_seconds": 0.0}
    return {**usual, **record, "category": category, "is_abstention_problem": category in ABSTENTION}


def _leaves(value: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        name = f"{place}.{key}" if place else key
        if isinstance(inner, Mapping):
            yield from _leaves(inner, name)
        else:
            yield name, inner

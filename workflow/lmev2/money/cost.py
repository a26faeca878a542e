"""What the results cost: one line per stage, role, method and tier, from the stage files themselves."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from lmev2.money.usage import usages
from lmev2.store import read_rows, write_text

SUMS = (
    "calls",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cost",
    "cost_paid",
    "latency_s",
    "queue_wait_s",
    "retry_wait_s",
)
COLUMNS = ("stage", "role", "model", "method", "tier", *SUMS)
# File name of a stage -> the role behind its usage columns, where its rows do not tell.
ROLES = {"query": "", "read": "reader", "judge": "judge"}


def write_cost(
    insert: Iterable[str | Path],
    arms: Iterable[str | Path],
    verdicts: Iterable[str | Path],
    path: str | Path,
) -> dict[str, float]:
    """Write `results/cost.csv`.

    `cost` is what a line's calls cost by themselves: what an arm would have cost alone. Arms share calls
    (the same question embedded for two tiers, the same empty context read twice); `cost_paid` counts a call
    in the first line that has it, so that its sum is what was paid for these results.

    Args:
        insert: files of the shared pools: entries that a model wrote, and embeddings.
        arms: files of query, read and judge, `{stage}/{method}/{tier}.parquet`.
        verdicts: the file of verdicts that were asked again, if any were.
        path: the csv file.

    Returns:
        role -> what was paid.
    """
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    seen: set[tuple[str, str]] = set()
    for place, usage in [*_inserted(insert), *_asked(arms), *_asked_again(verdicts)]:
        if not usage["attempts"]:
            continue
        line = lines.setdefault((place[0], usage["role"], usage["model"], *place[1:]), dict.fromkeys(SUMS, 0))
        call = usage["role"], usage["request"]
        paid = 0.0 if call in seen else usage["cost"]
        if usage["request"]:  # what an agent spends is in no request of ours, and never shared
            seen.add(call)
        for name in SUMS:
            line[name] += paid if name == "cost_paid" else usage[name]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for key, line in lines.items():
        writer.writerow([*key, *(_number(line[name]) for name in SUMS)])
    write_text(text.getvalue(), path)
    paid_by_role: dict[str, float] = {}
    for (_, role, *_), line in lines.items():
        paid_by_role[role] = paid_by_role.get(role, 0.0) + line["cost_paid"]
    return paid_by_role


Place = tuple[str, str, str]


def _inserted(files: Iterable[str | Path]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for file in map(Path, files):
        role = "embedding" if file.name.endswith(".embeddings.parquet") else "controller"
        columns = _usage_columns(file)
        if columns:
            for usage in usages(read_rows(file, columns), role):
                yield ("insert", f"pool {file.name.split('.')[0]}", ""), usage


def _asked(files: Iterable[str | Path]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for file in map(Path, files):
        stage, method, tier = file.parts[-3], file.parts[-2], file.stem
        columns = ["by_role"] if stage == "query" else _usage_columns(file)
        for usage in usages(read_rows(file, columns), ROLES[stage]):
            yield (stage, method, tier), usage


def _asked_again(files: Iterable[str | Path]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for row in (row for file in files for row in read_rows(file)):
        arm = row["method"] + (f"@{row['operating_point']}" if row["operating_point"] else "")
        for usage in usages([row], row["judge"]):
            yield ("judge again", arm, row["tier"]), usage


def _usage_columns(file: Path) -> list[str]:
    """The usage columns of a file; none where no model was asked for it."""
    names = pq.read_schema(file).names
    wanted = ["model", "request", *(name for name in SUMS if name != "cost_paid")]
    return wanted if set(wanted) <= set(names) else []


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

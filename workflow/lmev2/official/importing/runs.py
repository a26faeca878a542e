"""The runs of one arm and tier as rows of our tables."""

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmev2.official.archive import unpack
from lmev2.official.importing.additions import additions_of
from lmev2.official.importing.aggregates import check_aggregates
from lmev2.official.importing.contexts import Screenshots, items_of
from lmev2.official.importing.findings import DIFFERENCE, LEFT_OUT, Finding, file_of
from lmev2.official.importing.plan import OfficialRunError
from lmev2.official.importing.records import Records
from lmev2.official.importing.rows import rows_of, rows_without
from lmev2.official.run_folder import RECORDS, RUN_ARGS, UNFIT_KEY, parse_json

_FAULTS_SHOWN = 100
Row = Mapping[str, Any]


@dataclass
class Imported:
    """The tables' rows, and the report."""

    query: list[dict[str, Any]] = field(default_factory=list)
    read: list[dict[str, Any]] = field(default_factory=list)
    judge: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unfit: list[str] = field(default_factory=list)  # why the run itself says that it is not for submission


def import_runs(
    runs: Sequence[Mapping[str, str]],
    arm: Mapping[str, Any],
    questions: Sequence[Row],
    haystacks: Mapping[str, Sequence[str]],
    screenshots: Screenshots,
    *,
    partial: bool,
) -> Imported:
    """Read the runs of one arm and tier.

    Args:
        runs: `ImportedRun.params` of each.
        arm: `method`, `operating_point` and `tier` of the rows, and `reader`, the reader's name.
        questions: rows of the `questions` table.
        haystacks: question -> its trajectories in the tier, in order.
        screenshots: where images are looked up.
        partial: leave out what cannot be used: those questions get rows of the status `not_imported`.

    Raises:
        OfficialRunError: there is something that cannot be used, and not `partial`.
    """
    result = Imported()
    known = {row["question_id"]: row for row in questions}
    taken: dict[str, tuple[dict[str, Any], Mapping[str, str], int]] = {}
    for run in runs:
        with _folder(run) as folder:
            wanted = {id_: row for id_, row in known.items() if row["domain"] == run["domain"]}
            result.unfit += _unfit(folder, run)
            good = Records(folder, run, wanted, known, haystacks, result.findings).read()
            result.findings += check_aggregates(folder, run, [record for record, _ in good.values()])
            for id_, (record, line) in good.items():
                taken[id_] = _slim(record, screenshots, haystacks[id_]), run, line
    result.findings += _missing(runs, known.keys() - taken.keys(), known, result.findings)
    left_out = [finding for finding in result.findings if finding.kind == LEFT_OUT]
    if left_out and not partial:
        raise OfficialRunError(_refusal(arm["method"], left_out))
    reasons = {finding.question_id: finding for finding in reversed(left_out)}
    for id_, question in known.items():
        if id_ in taken:
            record, run, line = taken[id_]
            rows, differences = rows_of(record, question, arm["reader"], run["judge"])
            result.findings += [
                Finding(DIFFERENCE, run["domain"], file_of(run, RECORDS), line, id_, name, recorded, here)
                for name, recorded, here in differences
            ]
        else:
            rows = rows_without(question, reasons[id_])
        key = {name: arm[name] for name in ("method", "operating_point", "tier")}
        for table, row in zip((result.query, result.read, result.judge), rows, strict=True):
            table.append({"question_id": id_, **key, "repeat": 0, **row})
    return result


def _unfit(folder: Path, run: Mapping[str, str]) -> list[str]:
    """Why the run itself says that it is not for submission."""
    file = file_of(run, RUN_ARGS)
    try:
        args = parse_json((folder / RUN_ARGS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OfficialRunError(f"{file}: cannot be read as JSON: {error}") from error
    if not isinstance(args, dict):
        raise OfficialRunError(f"{file}: should be a JSON object")
    reasons = args.get(UNFIT_KEY, [])
    return [str(reason) for reason in (reasons if isinstance(reasons, list) else [reasons])]


def _slim(record: dict[str, Any], screenshots: Screenshots, haystack: Sequence[str]) -> dict[str, Any]:
    """The record with its context as our items."""
    ours = additions_of(record)
    context, places = record.pop("memory_context"), ours.get("items")
    fits = isinstance(places, list) and len(places) == len(context)
    return {
        **record,
        "items": items_of(context, places if fits else None, screenshots, haystack),
        "ours": ours,
    }


def _missing(
    runs: Sequence[Mapping[str, str]],
    missing: Collection[str],
    known: Mapping[str, Row],
    findings: Sequence[Finding],
) -> Iterator[Finding]:
    """The questions among `missing` that no run has a record of, not even one that cannot be used."""
    named = {finding.question_id for finding in findings if finding.kind == LEFT_OUT}
    for id_, question in known.items():
        if id_ in missing and id_ not in named:
            domain = question["domain"]
            files = (file_of(run, RECORDS) for run in runs if run["domain"] == domain)
            place = next(files, f"no {domain} run is given")
            yield Finding(LEFT_OUT, domain, place, None, id_, "", "", "there is no record of the question")


def _refusal(method: str, left_out: Sequence[Finding]) -> str:
    lines = []
    for finding in left_out[:_FAULTS_SHOWN]:
        words = f"{finding.field}: {finding.here}" if finding.field else finding.here
        lines.append(f"  {finding.place}: question {finding.question_id or '?'}: {words}")
    if (more := len(left_out) - _FAULTS_SHOWN) > 0:
        lines.append(f"  and {more} more")
    return "\n".join(
        [
            f"official_runs.{method}: {len(left_out)} records cannot be used:",
            *lines,
            f"  Mend the run, or import the rest, marked as such: official_runs.{method}.partial: true",
        ]
    )


@contextmanager
def _folder(run: Mapping[str, str]) -> Iterator[Path]:
    if not run["inside"]:
        yield Path(run["place"])
        return
    with tempfile.TemporaryDirectory() as place:
        problems, folder = unpack(Path(run["place"]), Path(place))
        if problems:
            raise OfficialRunError("\n".join(problems))
        yield folder.parent / run["inside"]

"""What an import found: one line a finding, and a page for people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lmev2.official.importing.findings import AGGREGATE, DIFFERENCE, LEFT_OUT, Finding
from lmev2.official.importing.runs import Imported
from lmev2.records import Status
from lmev2.store import write_csv, write_text

_WORDS = {
    LEFT_OUT: "questions or records left out",
    DIFFERENCE: "fields that we read differently",
    AGGREGATE: "figures of aggregated_metrics.json that do not follow from the records",
}
_SHOWN = 50


def write_report(
    imported: Imported, arm: Mapping[str, Any], runs: Sequence[Mapping[str, str]], csv: Path, page: Path
) -> Counter[str]:
    """Write the findings, and return how many there are of each kind.

    Args:
        imported: the tables' rows and the findings.
        arm: `label`, `tier`, `reader` and `judge`.
        runs: `ImportedRun.params` of each run.
        csv: all findings.
        page: a summary in markdown.
    """
    columns = [column.name for column in fields(Finding)]
    write_csv(csv, [asdict(finding) for finding in imported.findings], columns)
    counts = Counter(finding.kind for finding in imported.findings)
    statuses = Counter(row["status"] for row in imported.judge)
    right = sum(row["score"] for row in imported.judge)
    there = len(imported.judge) - statuses[Status.NOT_IMPORTED]
    judged = sum(row["label"] is not None for row in imported.judge)
    lines = [
        f"# {arm['label']}, tier {arm['tier']}",
        "",
        *(
            f"- {run['domain']}: `{run['place']}`{' ' + run['inside'] if run['inside'] else ''}"
            for run in runs
        ),
        f"- reader {arm['reader']}; judge {arm['judge']}",
        f"- {there} of {len(imported.judge)} questions have a record; the others have the status "
        f"`{Status.NOT_IMPORTED}` and score 0",
        f"- {right} right answers; {judged} verdicts are the recorded ones, all other scores are new",
        *(f"- {counts[kind]} {words}" for kind, words in _WORDS.items()),
        *(
            f"- the run says that it is not for submission: {reason}"
            for reason in dict.fromkeys(imported.unfit)
        ),
    ]
    if imported.findings:
        lines += [
            "",
            f"The first {_SHOWN} (all: `{csv.name}`):" if len(imported.findings) > _SHOWN else "",
            "",
        ]
        lines += [
            "| what | place | question | field | recorded | here |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        lines += [_line(finding) for finding in imported.findings[:_SHOWN]]
    write_text("\n".join(lines) + "\n", page)
    return counts


def _line(finding: Finding) -> str:
    cells = [
        *(finding.kind, finding.place, finding.question_id, finding.field),
        *(f"{text:.80}" for text in (finding.recorded, finding.here)),
    ]
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"

"""What became of the runs: a table of all, and the counts in words."""

import csv
import io
from collections import Counter
from pathlib import Path

from lmev2.ingest.agentlab.notes import MEANING, Note
from lmev2.ingest.agentlab.results import Results
from lmev2.markdown import table
from lmev2.store import write_text

_MAX_NAMED = 20


def write_report(results: Results, runs: str | Path, report: str | Path) -> None:
    """Write the table of runs (CSV: folder, trajectory id, task, outcome, counts) and the report."""
    write_text(runs_csv(results), runs)
    write_text(report_md(results), report)


def runs_csv(results: Results) -> str:
    """One line a run, in the order of their folders."""
    text = io.StringIO()
    columns = [
        *("run", "trajectory_id", "task", "domain", "environment"),
        *("status", "outcome", "left_out", "states"),
    ]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, *Note])
    for outcome in results.outcomes:
        site, run = outcome.site, outcome.run
        where = (site.domain, site.environment) if site else ("", "")
        ended = (outcome.status, outcome.outcome or "", outcome.left_out, outcome.states)
        writer.writerow([run.name, run.id, outcome.task, *where, *ended, *(outcome.notes[n] for n in Note)])
    return text.getvalue()


def report_md(results: Results) -> str:
    """The counts as a document."""
    outcomes = results.outcomes
    kept = [outcome for outcome in outcomes if not outcome.left_out]
    ends = []
    for status in sorted({outcome.status for outcome in outcomes}):
        mine = [outcome for outcome in outcomes if outcome.status is status]
        kept_ones = Counter(outcome.outcome for outcome in mine if not outcome.left_out)
        left_out = sum(bool(outcome.left_out) for outcome in mine)
        ends.append((status, kept_ones["success"], kept_ones["failure"], kept_ones[None], left_out))
    totals: Counter[Note] = Counter()
    for outcome in outcomes:
        totals.update(outcome.notes)
    lines = [
        "# Experiment results",
        "",
        f"{len(outcomes)} runs, {len(kept)} kept with {sum(outcome.states for outcome in kept)} states. "
        "The table of runs names each one's trajectory id.",
        "",
        table(("runs", "success", "failure", "unknown", "left out"), ends),
        "",
        table(("number", "what"), [(totals[note], MEANING[note]) for note in Note]),
    ]
    for title, names in (
        ("Runs in folders whose names begin with `_` or `.`, left out", results.found.hidden),
        ("Zip files, not read", results.found.archives),
        ("Folders that are links, not followed", results.found.links),
    ):
        if names:
            lines += ["", f"{title} ({len(names)}):", "", *(f"- `{name}`" for name in names[:_MAX_NAMED])]
            lines += [f"- … and {len(names) - _MAX_NAMED} more"] * (len(names) > _MAX_NAMED)
    return "\n".join(lines) + "\n"

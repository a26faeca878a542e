"""The estimate for people (Markdown, aligned so that a terminal shows it well) and for machines (csv)."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields

from lmev2.money.lines import Estimate, Line

HEAD = ("stage", "role", "method", "tier", "recorded", "calls", "input tokens", "output tokens", "cost")
TEXT_COLUMNS = 4
SUMS = ("calls", "input_tokens", "output_tokens", "cost")


def estimate_csv(estimate: Estimate) -> str:
    """All lines and columns, token counts and calls rounded."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Line)], lineterminator="\n")
    writer.writeheader()
    for line in estimate.lines:
        cells = asdict(line)
        writer.writerow(
            {
                name: (round(value, 6) if name.startswith("cost") else round(value))
                if isinstance(value, float)
                else value
                for name, value in cells.items()
            }
        )
    return text.getvalue()


def estimate_md(estimate: Estimate) -> str:
    """The open calls by line, totals, the budget, and what the numbers rest on."""
    open_ = [line for line in estimate.lines if line.calls]
    rows = [_row(line.stage, line.role, line.method, line.tier, [line]) for line in open_]
    for role in dict.fromkeys(line.role for line in estimate.lines):
        rows.append(_row("total", role, "", "", [line for line in estimate.lines if line.role == role]))
    rows.append(_row("total", "", "", "", estimate.lines))
    spent = f"The journal holds calls for {_money(estimate.spent)}."
    parts = [
        "# Still to be asked of the models\n",
        _table([HEAD, *rows]) if open_ else "Nothing: every call is recorded.\n",
        f"{spent} {_budget(estimate)}\n",
        "What the numbers rest on:\n",
        "".join(f"- {note}\n" for note in estimate.notes),
    ]
    return "\n".join(parts)


def _budget(estimate: Estimate) -> str:
    if estimate.budget is None:
        return "No budget is set."
    left = estimate.budget - estimate.spent
    expected, most = estimate.total("cost"), estimate.total("cost_at_most")
    if most <= left:
        verdict = "that suffices in any case."
    elif expected <= left:
        verdict = "that suffices for what is expected, not for the most."
    else:
        verdict = f"that does not suffice: the run will stop about {_money(expected - left)} before its end."
    return f"Of the budget of {_money(estimate.budget)}, {_money(max(0.0, left))} is left; {verdict}"


def _row(stage: str, role: str, method: str, tier: str, lines: Sequence[Line]) -> tuple[str, ...]:
    def cell(name: str) -> str:
        write = _money if name == "cost" else _count
        expected = write(sum(getattr(line, name) for line in lines))
        most = write(sum(getattr(line, f"{name}_at_most") for line in lines))
        return expected if expected == most else f"{expected} (at most {most})"

    return (stage, role, method, tier, _count(sum(line.recorded for line in lines)), *map(cell, SUMS))


def _count(value: float) -> str:
    return f"{round(value):,}"


def _money(value: float) -> str:
    return f"{value:,.2f}" if value >= 0.1 or not value else f"{value:.2g}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        [
            cell.ljust(width) if number < TEXT_COLUMNS else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    rule = [
        "-" * width if number < TEXT_COLUMNS else "-" * (width - 1) + ":"
        for number, width in enumerate(widths)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in [lines[0], rule, *lines[1:]])

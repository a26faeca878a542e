"""What the haystacks are like, for readers and for the paper's Figure 3."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.haystack.measures import ALL
from lmev2.store import write_csv, write_text

_ASSEMBLED = (
    "Assembled from the evidence labels (docs/haystacks.md). A core is the fewest trajectories that answer "
    "all questions of a domain; its size is proven to be the least where *least possible* equals it."
)
_GIVEN = "These are the dataset's own haystacks, so nothing is known of how their answer cores were chosen."
_CORE_FIGURES = (
    *("size", "lower_bound", "gap", "heuristic_size", "cost", "cost_lower_bound"),
    *("smallest", "optimal", "successes", "failures", "families"),
)


def write_report(
    measured: Sequence[Mapping[str, Any]],
    cores: Sequence[Mapping[str, Any]] | None,
    dataset: str,
    tiers: Mapping[str, Mapping[str, Any]],
    csv_path: str | Path,
    markdown: str | Path,
) -> None:
    """Write the report as a document, and its figures as csv.

    Args:
        measured: rows of `measure_haystacks`, by domain.
        cores: the entries of `core.json`; None where the haystacks are the dataset's own.
        dataset: its name.
        tiers: the config's `haystack.tiers`, of tiers that were assembled.
        csv_path: one row per tier, domain and measure, and per domain and figure of its core.
        markdown: the document.
    """
    rows = [
        {key: row[key] for key in ("tier", "domain", "measure")}
        | {key: _number(row[key]) for key in ("mean", "least", "most")}
        | {"questions": row["questions"]}
        for row in measured
    ]
    for core in cores or ():
        for name in _CORE_FIGURES:
            value = _number(core[name])
            rows.append(
                {"tier": "", "domain": core["domain"], "measure": f"core {name.replace('_', ' ')}"}
                | dict.fromkeys(("mean", "least", "most"), value)
                | {"questions": core["questions"]}
            )
    write_csv(csv_path, [{**row, "dataset": dataset} for row in rows])
    parts = [
        f"# Haystacks of {dataset}",
        _GIVEN if cores is None else _ASSEMBLED,
        *(_tier_table(measured, tier) for tier in dict.fromkeys(row["tier"] for row in measured)),
        *([] if cores is None else [_core_table(cores), *_short_tiers(measured, tiers)]),
        "Tokens are approximate and of accessibility trees only. The share of successes is that among "
        "successes and failures. Answer trajectories are those of a haystack that hold evidence for its "
        "question.",
    ]
    write_text("\n\n".join(parts) + "\n", markdown)


def _tier_table(measured: Sequence[Mapping[str, Any]], tier: str) -> str:
    rows = [row for row in measured if row["tier"] == tier]
    by_place = {(row["measure"], row["domain"]): row for row in rows}
    domains = list(dict.fromkeys(row["domain"] for row in rows))
    lines = [
        ["per question", *(domain or "all" for domain in domains)],
        ["---", *("---:" for _ in domains)],
        *(
            [measure, *(_spread(by_place.get((measure, domain))) for domain in domains)]
            for measure in dict.fromkeys(row["measure"] for row in rows)
        ),
    ]
    return f"## {tier}\n\n" + _table(lines)


def _core_table(cores: Sequence[Mapping[str, Any]]) -> str:
    header = (
        *("domain", "core", "least possible", "gap", "paper's search", "proven"),
        *("success : failure", "families", "hops", "trajectories"),
    )
    lines = [list(header), ["---", *("---:" for _ in header[1:])]]
    for core in cores:
        lines.append(
            [
                core["domain"],
                *(str(core[name]) for name in ("size", "lower_bound")),
                f"{core['gap']:.1%}",
                str(core["heuristic_size"]),
                _proven(core),
                f"{core['successes']} : {core['failures']}",
                *(str(core[name]) for name in ("families", "hops", "trajectories")),
            ]
        )
    return "## Answer cores\n\n" + _table(lines)


def _proven(core: Mapping[str, Any]) -> str:
    if core["optimal"]:
        return "size and preferences"
    if not core["smallest"]:
        return "nothing"
    bound = core["cost_lower_bound"]
    return f"size (preferences {core['cost']}, at best {'unknown' if bound is None else bound})"


def _short_tiers(measured: Sequence[Mapping[str, Any]], tiers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each tier in which some haystacks are smaller than asked for."""
    sentences = []
    for row in measured:
        if row["measure"] == "trajectories" and row["domain"] == ALL:
            size = tiers[row["tier"]]["size"]
            short = sum(value < size for value in row["values"])
            if short:
                sentences.append(
                    f"In {row['tier']}, {short} of {row['questions']} haystacks are smaller than {size}, the "
                    f"smallest {row['least']}: no more trajectories are without the question's answer."
                )
    return sentences


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _spread(row: Mapping[str, Any] | None) -> str:
    """The mean, and least and most where they differ."""
    if row is None:
        return ""
    mean, least, most = (_readable(row[key]) for key in ("mean", "least", "most"))
    return mean if least == most else f"{mean} ({least} to {most})"


def _readable(value: float) -> str:
    """As in the csv, but large numbers whole and with commas."""
    return f"{value:,.0f}" if value >= 1000 else _number(value)


def _number(value: Any) -> str:
    """Whole numbers as such, others with two or three digits, truth in words, nothing as nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or value == int(value):
        return str(int(value))
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}"

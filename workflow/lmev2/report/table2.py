"""Table 2: accuracy per ability and latency, one row a method, as csv and for people."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.report.captions import describe_models, explain_latencies, explain_models
from lmev2.report.numbers import csv_accuracy, csv_seconds, short_accuracy, short_seconds
from lmev2.stats.accuracy import COLUMNS
from lmev2.stats.scores import list_ids
from lmev2.store import read_rows, replacing, write_text

ALPHA = 0.05


def write_table2(
    accuracy: str | Path,
    latency: str | Path,
    significance: str | Path,
    csv_path: str | Path,
    md_path: str | Path,
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    dataset: str,
    models: Mapping[str, Mapping[str, Any]],
    alpha: float = ALPHA,
) -> None:
    """Write Table 2 (paper, section 5) from the stats tables.

    Args:
        accuracy: the `accuracy` file (subset "all" is used).
        latency: the `latency` file.
        significance: the `significance` file.
        csv_path: one row a method: `method,label,family`, per tier `{tier}_{column}` for overall, the
            abilities, `latency_s` (mean), `n` (questions) and `errors`, then `{tier}_{column}_mark`,
            at last `dataset` and `models`. A cell without data is empty.
        md_path: the same for people, with a caption.
        methods: one mapping an arm, in the order of the rows: `id`, `operating_point`, `label`,
            `family`, `ablation_of`. Only default operating points have a row.
        tiers: tiers in the order of the columns.
        dataset: name of the dataset.
        models: the config's `models` section.
        alpha: level of the marks (one-sided, uncorrected).

    Raises:
        ValueError: a method has no result in any tier.
    """
    methods = [method for method in methods if method["operating_point"] == ""]
    cells = _collect_cells(read_rows(accuracy), read_rows(latency))
    without = [m["id"] for m in methods if not any((m["id"], tier) in cells for tier in tiers)]
    if without:
        raise ValueError(f"no results for the methods {list_ids(without)}: run their stages first")
    marks = find_marks(read_rows(significance), methods, alpha)
    _write_csv(csv_path, methods, tiers, cells, marks, dataset, describe_models(models))
    write_text(_render(methods, tiers, cells, marks, dataset, models, alpha), md_path)


def find_marks(
    significance: Sequence[Mapping[str, Any]], methods: Sequence[Mapping[str, Any]], alpha: float = ALPHA
) -> set[tuple[str, str, str]]:
    """The marked cells, as (method, tier, column).

    A method is marked where it beats every other non-ablation method of its family at `alpha`: exact
    paired bootstrap, one-sided, uncorrected, as the paper's. Ablations, and methods that are alone in
    their family, have no mark. No correction is needed over baselines, because all must be beaten.
    """
    unmarked = {method["id"] for method in methods if method["ablation_of"]}
    beaten: dict[tuple[str, str, str], list[bool]] = {}
    for row in significance:
        if row["is_family_baseline"] and row["operating_point"] == "" and row["method"] not in unmarked:
            cell = (row["method"], row["tier"], row["column"])
            beaten.setdefault(cell, []).append(row["p_one_sided"] < alpha)
    return {cell for cell, all_baselines in beaten.items() if all(all_baselines)}


def _collect_cells(
    accuracy: Sequence[Mapping[str, Any]], latency: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], dict[str, Any]]:
    """(method, tier) -> column -> accuracy, with `n_{column}`, errors and latency_s beside them."""
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in accuracy:
        if row["subset"] == "all" and row["operating_point"] == "":
            cell = cells.setdefault((row["method"], row["tier"]), {"latency_s": None})
            cell[row["column"]] = row["accuracy"]
            cell[f"n_{row['column']}"] = row["n"]
            if row["column"] == "overall":
                cell["errors"] = row["errors"]
    for row in latency:
        if row["operating_point"] == "":
            cells[row["method"], row["tier"]]["latency_s"] = row["latency_mean_s"]
    return cells


def _write_csv(
    path: str | Path,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    cells: Mapping[tuple[str, str], Mapping[str, Any]],
    marks: set[tuple[str, str, str]],
    dataset: str,
    models: str,
) -> None:
    rows = []
    for method in methods:
        row = {"method": method["id"], "label": method["label"], "family": method["family"]}
        for tier in tiers:
            cell = cells.get((method["id"], tier), {})
            row |= {f"{tier}_{column}": csv_accuracy(cell.get(column)) for column in COLUMNS}
            row[f"{tier}_latency_s"] = csv_seconds(cell.get("latency_s"))
            row[f"{tier}_n"] = cell.get("n_overall", "")
            row[f"{tier}_errors"] = cell.get("errors", "")
            row |= {
                f"{tier}_{column}_mark": "*" if (method["id"], tier, column) in marks else ""
                for column in COLUMNS
            }
        rows.append(row | {"dataset": dataset, "models": models})
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _render(
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    cells: Mapping[tuple[str, str], Mapping[str, Any]],
    marks: set[tuple[str, str, str]],
    dataset: str,
    models: Mapping[str, Mapping[str, Any]],
    alpha: float,
) -> str:
    without_latency = [
        f"{method['label']} ({tier})"
        for tier in tiers
        for method in methods
        if (cell := cells.get((method["id"], tier))) and cell["latency_s"] is None
    ]
    caption = [
        f"**Table 2.** Accuracy and mean query latency. Dataset: {dataset}. "
        f"Models: {describe_models(models)}.",
        explain_models(models),
        f"\\* better than every other non-ablation method of its family (exact paired bootstrap over "
        f"questions, one-sided, p < {alpha:g}, uncorrected). − marks an ablation of the method above. "
        "Errors are answers that failed for good; they score 0.",
        explain_latencies(without_latency),
    ]
    blocks = ["\n".join(sentence for sentence in caption if sentence)]
    for tier in tiers:
        sizes = {
            column: max(cells.get((m["id"], tier), {}).get(f"n_{column}", 0) for m in methods)
            for column in COLUMNS
        }
        header = ["method", *(f"{c} (n = {sizes[c]})" for c in COLUMNS), "latency (s)", "errors"]
        lines = [
            f"Tier: {tier}\n",
            _line(header),
            _line(["---", *["---:"] * (len(header) - 1)]),
        ]
        for method in methods:
            cell = cells.get((method["id"], tier), {})
            lines.append(
                _line(
                    [
                        _label(method),
                        *(
                            short_accuracy(cell.get(c)) + r"\*" * ((method["id"], tier, c) in marks)
                            for c in COLUMNS
                        ),
                        short_seconds(cell.get("latency_s")),
                        str(cell.get("errors", "")),
                    ]
                )
            )
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _label(method: Mapping[str, Any]) -> str:
    label = method["label"].replace("|", r"\|")
    # Non-breaking spaces: markdown drops plain ones at the start of a cell.
    return "\u00a0\u00a0− " + label.removeprefix("− ") if method["ablation_of"] else label


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"

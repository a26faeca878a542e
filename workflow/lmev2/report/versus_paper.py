"""Our Table 2 beside the paper's, where the two compare."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source, explain_comparison
from lmev2.report.numbers import csv_accuracy, csv_seconds
from lmev2.report.paper import read_paper
from lmev2.stats.columns import COLUMNS
from lmev2.store import read_rows, write_csv

# The models of the paper's runs (docs/reproducing.md).
PAPER_MODELS = {
    "reader": "Qwen/Qwen3.5-9B",
    "controller": "Qwen/Qwen3.5-9B",
    "embedding": "Qwen/Qwen3-Embedding-8B",
    "judge": "gpt-5.2",
}
# Questions of the released dataset per column (paper, section 3).
PAPER_N = {"overall": 451, "static": 189, "dynamic": 127, "workflow": 106, "gotchas": 29}
_ROUNDING = 0.005  # printed to three decimals, so a weighted mean of columns is off by less


def write_versus_paper(path: str | Path, accuracy: str | Path, latency: str | Path, source: Source) -> None:
    """Write one row per method, tier and column of the paper's Table 2.

    Columns: `ours` with its interval and n, `paper`, `difference` (ours - paper), `paper_in_interval`
    (whether the paper's figure lies in our interval), `note`. Where nothing compares (another dataset,
    embedded models) ours is empty and every note says why.

    Args:
        path: the csv file.
        accuracy: the `accuracy` file (subset "all").
        latency: the `latency` file.
        source: dataset and models.
    """
    reason = explain_comparison(source)
    ours = {} if reason else _read_ours(accuracy, latency)
    models = _compare_models(source.models)
    rows = []
    for paper in read_paper("table2"):
        for column in (*COLUMNS, "latency_s"):
            mine = ours.get((paper["method"], paper["tier"], column))
            show = csv_seconds if column == "latency_s" else csv_accuracy
            theirs = float(paper[column])
            notes = [reason or models, _inconsistency(paper) if column == "overall" else ""]
            if not reason and mine is None:
                notes.insert(0, "We have no such row.")
            rows.append(
                {
                    "method": paper["method"],
                    "label": paper["label"],
                    "tier": paper["tier"],
                    "column": column,
                    "ours": show(mine["value"]) if mine else None,
                    "low": csv_accuracy(mine["low"]) if mine else None,
                    "high": csv_accuracy(mine["high"]) if mine else None,
                    "n": mine["n"] if mine else None,
                    "paper": paper[column],
                    "paper_mark": "*" if column in paper["marks"].split() else None,
                    "difference": _difference(mine, theirs, column),
                    "paper_in_interval": mine["low"] <= theirs <= mine["high"]
                    if mine and mine["low"] is not None
                    else None,
                    "note": " ".join(filter(None, notes)),
                    "dataset": source.dataset,
                    "models": source.models_of(paper["method"]),
                }
            )
    write_csv(path, rows)


def _read_ours(accuracy: str | Path, latency: str | Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    found = {}
    for row in read_rows(accuracy):
        if row["subset"] == "all" and row["operating_point"] == "":
            cell = {"value": row["accuracy"], "low": row["low"], "high": row["high"], "n": row["n"]}
            found[row["method"], row["tier"], row["column"]] = cell
    for row in read_rows(latency):
        if row["operating_point"] == "" and row["latency_mean_s"] is not None:
            cell = {"value": row["latency_mean_s"], "low": None, "high": None, "n": row["n"]}
            found[row["method"], row["tier"], "latency_s"] = cell
    return found


def _difference(mine: Mapping[str, Any] | None, theirs: float, column: str) -> str | None:
    if mine is None:
        return None
    difference = mine["value"] - theirs
    return f"{difference:+.1f}" if column == "latency_s" else f"{difference:+.4f}"


def _inconsistency(paper: Mapping[str, str]) -> str:
    """What to know of a row whose columns, weighted by their questions, do not give its overall."""
    columns: Sequence[str] = [column for column in COLUMNS if column != "overall"]
    mean = sum(PAPER_N[column] * float(paper[column]) for column in columns) / PAPER_N["overall"]
    if abs(mean - float(paper["overall"])) < _ROUNDING:
        return ""
    return (
        f"The paper's row is not consistent with itself: its columns, weighted by their questions, "
        f"give {mean:.3f}, not {paper['overall']}."
    )


def _compare_models(models: Mapping[str, Mapping[str, Any]]) -> str:
    other = [
        f"{role} {models[role]['model']} (paper: {name})"
        for role, name in PAPER_MODELS.items()
        if role in models and models[role]["model"] != name
    ]
    return f"Other models than the paper's: {', '.join(other)}." if other else ""

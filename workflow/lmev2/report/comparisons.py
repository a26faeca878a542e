"""The tests behind the marks of Table 2, for people: both readings of errors, effect sizes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source
from lmev2.stats.options import StatsOptions
from lmev2.stats.scores import name_arm
from lmev2.store import write_csv

_PROBABILITIES = ("p_one_sided", "p_two_sided", "p_standard_error", "p_mcnemar", "p_holm")
_WITHOUT = ("difference", "low", "high", "p_one_sided", "p_two_sided")
COLUMNS = (
    *("method", "baseline", "tier", "subset", "column", "n", "difference", "low", "high"),
    *("wins", "losses", "cohens_h", "odds_ratio", *_PROBABILITIES, "resamples", "beats", "errors"),
    *(f"{name}_without_errors" for name in _WITHOUT),
    *("test", "dataset", "models"),
)


def write_comparisons(
    path: str | Path, significance: Sequence[Mapping[str, Any]], source: Source, options: StatsOptions
) -> None:
    """Write each method against each non-ablation baseline of its family, per tier, subset and column.

    `beats` is what a mark needs of every baseline. Errors count as 0; the columns `…_without_errors` are
    the second reading: questions with an error in either arm left out (`errors` says how many).

    Args:
        path: the csv file.
        significance: rows of the `significance` table.
        source: dataset and models.
        options: what `beats` means.
    """
    rows = [
        {
            "method": name_arm(row["method"], row["operating_point"]),
            "baseline": name_arm(row["baseline"], row["baseline_operating_point"]),
            **{
                key: row[key]
                for key in ("tier", "subset", "column", "n", "wins", "losses", "resamples", "errors")
            },
            **{key: _number(row[key]) for key in ("difference", "low", "high", "cohens_h", "odds_ratio")},
            **{key: _number(row[key], "{:.4g}") for key in _PROBABILITIES},
            "beats": options.decides(row),
            **{
                f"{key}_without_errors": _number(
                    row[f"{key}_without_errors"], "{:.4g}" if key.startswith("p_") else "{:.4f}"
                )
                for key in _WITHOUT
            },
            "test": options.describe(),
            "dataset": source.dataset,
            "models": _models(row, source),
        }
        for row in significance
        if row["is_family_baseline"]
    ]
    write_csv(path, rows, COLUMNS)


def _models(row: Mapping[str, Any], source: Source) -> str:
    """The models behind both arms; where they differ, of the method, then of the baseline."""
    mine = source.models_of(row["method"], row["operating_point"])
    theirs = source.models_of(row["baseline"], row["baseline_operating_point"])
    return mine if mine == theirs else f"{mine} | {theirs}"


def _number(value: float | None, form: str = "{:.4f}") -> str | None:
    return None if value is None else form.format(value)

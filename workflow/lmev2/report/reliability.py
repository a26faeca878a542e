"""How far verdicts can be relied on, as csv."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source, describe_models
from lmev2.report.numbers import csv_accuracy
from lmev2.stats.reliability import compare_verdicts
from lmev2.store import write_csv


def write_reliability(verdicts: Sequence[Mapping[str, Any]], path: str | Path, source: Source) -> None:
    """Write flip rates and kappas of the verdicts, all judged evaluators together and each apart.

    Args:
        verdicts: rows of the `verdicts` table.
        path: the csv file; without judged answers it has a header only.
        source: dataset and models.
    """
    rows = [
        {
            **{key: row[key] for key in ("evaluator", "comparison", "answers", "pairs", "unreadable")},
            **{key: csv_accuracy(row[key]) for key in ("flip_rate", "kappa")},
            **{"dataset": source.dataset, "models": describe_models(source.models)},
        }
        for row in compare_verdicts(verdicts)
    ]
    columns = ("evaluator", "comparison", "answers", "pairs", "unreadable", "flip_rate", "kappa")
    write_csv(path, rows, (*columns, "dataset", "models"))

"""Table 2: accuracy per ability and latency, one row a method; its variants are the same over subsets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmev2.report.captions import (
    Source,
    describe_models,
    explain_comparison,
    explain_imports,
    explain_latencies,
    explain_models,
)
from lmev2.report.numbers import csv_accuracy, csv_seconds, short_accuracy, short_seconds
from lmev2.stats.columns import COLUMNS
from lmev2.stats.options import DEFAULTS, StatsOptions
from lmev2.stats.scores import list_ids
from lmev2.store import read_rows, write_csv, write_text

Method = Mapping[str, Any]


@dataclass(frozen=True)
class Table2:
    """The cells of Table 2 over one subset of the questions.

    Attributes:
        methods: the rows, in order: `id`, `label`, `family`, `ablation_of`.
        tiers: in order.
        cells: (method, tier) -> accuracy per column, `n_{column}`, `errors`, `latency_s` (mean).
        marks: the marked cells, as (method, tier, column).
        subset: as in the `accuracy` table.
        options: what the marks mean.
    """

    methods: Sequence[Method]
    tiers: Sequence[str]
    cells: Mapping[tuple[str, str], Mapping[str, Any]]
    marks: set[tuple[str, str, str]]
    subset: str = "all"
    options: StatsOptions = field(default_factory=StatsOptions)

    def cell(self, method: Method, tier: str) -> Mapping[str, Any]:
        """The cell values of one method in one tier; empty where it has none."""
        return self.cells.get((method["id"], tier), {})

    def is_marked(self, method: Method, tier: str, column: str) -> bool:
        """Whether the accuracy has a star."""
        return (method["id"], tier, column) in self.marks

    def n(self, tier: str, column: str) -> int:
        """How many questions a column has."""
        return max(self.cell(method, tier).get(f"n_{column}", 0) for method in self.methods)

    def is_best(self, method: Method, tier: str, column: str) -> bool:
        """Whether no method of the family is better, and the family has others; ablations do not compete."""
        mine = self.cell(method, tier).get(column)
        family = [m for m in self.methods if m["family"] == method["family"] and not is_ablation(m)]
        values = [value for m in family if (value := self.cell(m, tier).get(column)) is not None]
        return mine is not None and not is_ablation(method) and len(values) > 1 and mine == max(values)

    def emptied(self, subset: str) -> "Table2":
        """The same rows without figures, for a subset that has no questions."""
        return replace(self, cells={}, marks=set(), subset=subset)

    def families(self) -> list[list[Method]]:
        """The methods by family, in order of first appearance."""
        grouped: dict[str, list[Method]] = {}
        for method in self.methods:
            grouped.setdefault(method["family"], []).append(method)
        return list(grouped.values())

    def without_latency(self) -> list[str]:
        """Labels of the cells with a latency missing."""
        return [
            f"{method['label']} ({tier})"
            for tier in self.tiers
            for method in self.methods
            if (cell := self.cell(method, tier)) and cell["latency_s"] is None
        ]


def read_table2(
    accuracy: str | Path,
    latency: str | Path,
    significance: str | Path,
    methods: Sequence[Method],
    tiers: Sequence[str],
    options: StatsOptions = DEFAULTS,
) -> dict[str, Table2]:
    """Table 2 of every subset of the `accuracy` table that has questions; "all" comes first.

    Only default operating points have a row, and methods that read the labels (pilot studies) none.

    Raises:
        ValueError: a method has no result in any tier.
    """
    methods = [m for m in methods if m["operating_point"] == "" and not m.get("labels")]
    rows, tests, seconds = read_rows(accuracy), read_rows(significance), read_rows(latency)
    tables = {}
    for subset in sorted({"all", *(row["subset"] for row in rows)}, key=lambda name: (name != "all", name)):
        cells = _collect_cells([row for row in rows if row["subset"] == subset], seconds)
        without = [m["id"] for m in methods if not any((m["id"], tier) in cells for tier in tiers)]
        if without:
            raise ValueError(f"no results for the methods {list_ids(without)}: run their stages first")
        mine = [row for row in tests if row["subset"] == subset]
        tables[subset] = Table2(methods, tiers, cells, find_marks(mine, methods, options), subset, options)
    return tables


def find_marks(
    significance: Sequence[Mapping[str, Any]],
    methods: Sequence[Method],
    options: StatsOptions = DEFAULTS,
) -> set[tuple[str, str, str]]:
    """The marked cells, as (method, tier, column).

    A method is marked where it beats every other non-ablation method of its family as `options` say (the
    paper: one-sided, uncorrected, 5 %). Ablations, and methods that are alone in their family, have no
    mark. No correction is needed over baselines, because all must be beaten.
    """
    unmarked = {method["id"] for method in methods if method["ablation_of"]}
    beaten: dict[tuple[str, str, str], list[bool]] = {}
    for row in significance:
        if row["is_family_baseline"] and row["operating_point"] == "" and row["method"] not in unmarked:
            cell = (row["method"], row["tier"], row["column"])
            beaten.setdefault(cell, []).append(options.decides(row))
    return {cell for cell, all_baselines in beaten.items() if all(all_baselines)}


def write_table2_csv(path: str | Path, tables: Sequence[Table2], source: Source) -> None:
    """Write Table 2, or several subsets of it below each other, as csv.

    One row a method: `method,label,family`, per tier `{tier}_{column}` for overall, the abilities,
    `latency_s` (mean over all questions), `n` (questions) and `errors`, then `{tier}_{column}_mark`, at
    last `dataset` and `models`; with several tables `subset` comes first. A cell without data is empty.
    """
    rows = []
    for table in tables:
        for method in table.methods:
            row = {"subset": table.subset} if len(tables) > 1 or table.subset != "all" else {}
            row |= {"method": method["id"], "label": method["label"], "family": method["family"]}
            for tier in table.tiers:
                cell = table.cell(method, tier)
                row |= {f"{tier}_{column}": csv_accuracy(cell.get(column)) for column in COLUMNS}
                row[f"{tier}_latency_s"] = csv_seconds(cell.get("latency_s"))
                row[f"{tier}_n"] = cell.get("n_overall", "")
                row[f"{tier}_errors"] = cell.get("errors", "")
                row |= {
                    f"{tier}_{column}_mark": "*" if table.is_marked(method, tier, column) else ""
                    for column in COLUMNS
                }
            rows.append(row | {"dataset": source.dataset, "models": source.models_of(method["id"])})
    write_csv(path, rows)


def write_table2_markdown(path: str | Path, tables: Sequence[Table2], source: Source, title: str) -> None:
    """Write Table 2, or several subsets of it, for people; `title` says which questions count."""
    blocks = ["\n".join(caption_sentences(tables[0], source, title, star=r"\*", bold="**"))]
    for table in tables:
        for tier in table.tiers:
            header = ["method", *(f"{c} (n = {table.n(tier, c)})" for c in COLUMNS), "latency (s)", "errors"]
            subset = f", questions: {describe_subset(table.subset)}" if table.subset != "all" else ""
            lines = [
                f"Tier: {tier}{subset}\n",
                _line(header),
                _line(["---", *["---:"] * (len(header) - 1)]),
                *(_line(_markdown_row(table, method, tier)) for method in table.methods),
            ]
            blocks.append("\n".join(lines))
    write_text("\n\n".join(blocks) + "\n", path)


def caption_sentences(
    table: Table2, source: Source, title: str, *, star: str = "*", bold: str = ""
) -> list[str]:
    """The caption of Table 2, one sentence or two an entry."""
    sentences = [
        f"{bold}Table 2.{bold} {title}. Dataset: {source.dataset}. Models: {describe_models(source.models)}.",
        explain_models(source.models),
        explain_imports(source),
        "" if source.released or explain_models(source.models) else explain_comparison(source),
        f"{star} better than every other non-ablation method of its family ({table.options.describe()}). "
        "− marks an ablation of the method above. Errors are answers that failed for good; they score 0.",
        explain_latencies(table.without_latency()),
    ]
    return [sentence for sentence in sentences if sentence]


def describe_subset(subset: str) -> str:
    """A subset in words."""
    words = {
        "all": "all",
        "judge_free": "those that need no judge",
        "answerable": "without abstention",
        "abstention": "abstention only",
    }
    return words.get(subset, subset.replace("domain=", "domain "))


def is_ablation(method: Method) -> bool:
    """Whether the row is indented below another."""
    return bool(method["ablation_of"])


def bare_label(method: Method) -> str:
    """The label without a leading minus; tables write it themselves."""
    return method["label"].removeprefix("− ") if is_ablation(method) else method["label"]


def _collect_cells(
    accuracy: Sequence[Mapping[str, Any]], latency: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], dict[str, Any]]:
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in accuracy:
        if row["operating_point"] == "":
            cell = cells.setdefault((row["method"], row["tier"]), {"latency_s": None})
            cell[row["column"]] = row["accuracy"]
            cell[f"n_{row['column']}"] = row["n"]
            if row["column"] == "overall":
                cell["errors"] = row["errors"]
    for row in latency:
        if row["operating_point"] == "" and (row["method"], row["tier"]) in cells:
            cells[row["method"], row["tier"]]["latency_s"] = row["latency_mean_s"]
    return cells


def _markdown_row(table: Table2, method: Method, tier: str) -> list[str]:
    cell = table.cell(method, tier)
    # Non-breaking spaces: markdown drops plain ones at the start of a cell.
    indent = "\u00a0\u00a0− " if is_ablation(method) else ""
    return [
        indent + bare_label(method).replace("|", r"\|"),
        *(short_accuracy(cell.get(c)) + r"\*" * table.is_marked(method, tier, c) for c in COLUMNS),
        short_seconds(cell.get("latency_s")),
        str(cell.get("errors", "")),
    ]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"

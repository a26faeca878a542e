"""Figure 4: pilot studies, what a reader can do without context and with the evidence itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lmev2.report.captions import Source, describe_models, explain_comparison, explain_intervals, origin
from lmev2.report.numbers import csv_accuracy
from lmev2.report.paper import read_paper
from lmev2.report.stacked import legend_above
from lmev2.report.style import COLOURS, GREY, MARKERS, captioned_figure, figure_style, save_figure
from lmev2.stats.columns import COLUMNS
from lmev2.stats.options import DEFAULTS, StatsOptions
from lmev2.store import read_rows, write_csv

NO_CONTEXT = "lmev2.memory.no_retrieval:NoRetrieval"


def plot_figure4(
    accuracy: str | Path,
    csv_path: str | Path,
    png: str | Path,
    pdf: str | Path,
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
    options: StatsOptions = DEFAULTS,
) -> None:
    """Write and draw the accuracies of the pilot studies on the non-abstention questions (paper, Figure 4).

    Args:
        accuracy: the `accuracy` file (subset "answerable").
        csv_path: one row per setting, tier and column with our figures, and the paper's (Figure 4, and
            Table 6 for other models without context), for which `tier` is empty.
        png: bitmap.
        pdf: vector figure; the paper's figures for its own reader stand in it where they compare.
        methods: one mapping an arm, in order; drawn are those with `labels` and the one that retrieves
            nothing.
        tiers: in order.
        source: dataset and models.
        options: what the intervals are.
    """
    arms = [arm for arm in methods if arm["labels"] or arm["class"] == NO_CONTEXT]
    found = {
        (row["method"], row["operating_point"], row["tier"], row["column"]): row
        for row in read_rows(accuracy)
        if row["subset"] == "answerable"
    }
    ours = [
        {"arm": arm, "tier": tier, "column": column, **found[key]}
        for arm in arms
        for tier in tiers
        for column in COLUMNS
        if (key := (arm["id"], arm["operating_point"], tier, column)) in found
    ]
    _write(csv_path, ours, source)
    compares = not explain_comparison(source)
    with figure_style():
        caption = [
            *origin(source),
            "Non-abstention questions only. The oracle settings read the evidence labels; they bound what a "
            f"memory can give this reader. Bars: {explain_intervals(options)}."
            + "".join(
                f" {arm['label']}: answered by {_model(arm, source)} itself."
                for arm in arms
                if arm["answers"]
            )
            + (" Grey: the paper's figures for Qwen3.5-9B." if compares else ""),
        ]
        figure, panels = captioned_figure(
            len(tiers), caption, width=4.2, height=2.2, left=0.5, above=0.55, gap=0.15
        )
        for tier, axes in zip(tiers, panels, strict=True):
            axes.set_title(f"tier: {tier}")
            _draw(axes, [row for row in ours if row["tier"] == tier], arms, compares)
        panels[0].set_ylabel("accuracy")
        legend_above(figure, panels[0])
        save_figure(figure, png, pdf)


def _model(arm: Mapping[str, Any], source: Source) -> str:
    """Who answered."""
    return source.models["agent" if arm["answers"] else "reader"]["model"]


def _write(path: str | Path, ours: Sequence[Mapping[str, Any]], source: Source) -> None:
    reason = explain_comparison(source)
    made_with = {"dataset": source.dataset, "models": describe_models(source.models)}
    rows = [
        {
            **{"source": "ours", "model": _model(row["arm"], source), "setting": row["arm"]["label"]},
            **{"tier": row["tier"], "column": row["column"], "n": row["n"]},
            **{key: csv_accuracy(row[key]) for key in ("accuracy", "low", "high")},
            "note": reason,
            **made_with,
        }
        for row in ours
    ]
    for name in ("figure4", "table6"):
        rows += [
            {
                **{"source": f"paper, {name}", "model": row["model"], "setting": row["setting"]},
                **{"tier": None, "column": column, "n": None},
                **{
                    "accuracy": row[column],
                    "low": None,
                    "high": None,
                    "note": "",
                    "dataset": "paper",
                    "models": "",
                },
            }
            for row in read_paper(name)
            for column in COLUMNS
        ]
    write_csv(path, rows)


def _draw(
    axes: Axes, rows: Sequence[Mapping[str, Any]], arms: Sequence[Mapping[str, Any]], compares: bool
) -> None:
    axes.set_ylim(0, 1.06)
    axes.set_xlim(-0.5, len(COLUMNS) - 0.5)
    sizes = {row["column"]: row["n"] for row in rows}
    axes.set_xticks(range(len(COLUMNS)), [f"{column}\nn = {sizes.get(column, 0)}" for column in COLUMNS])
    axes.grid(axis="x", visible=False)
    axes.tick_params(axis="x", length=0)
    for i, arm in enumerate(arms):
        mine = [row for row in rows if row["arm"] is arm]
        places = [COLUMNS.index(row["column"]) + (i - (len(arms) - 1) / 2) * 0.25 for row in mine]
        values = [row["accuracy"] for row in mine]
        errors = [
            [row["accuracy"] - row["low"] for row in mine],
            [row["high"] - row["accuracy"] for row in mine],
        ]
        axes.errorbar(
            places,
            values,
            errors,
            fmt=MARKERS[i % len(MARKERS)],
            color=COLOURS[i % len(COLOURS)],
            ms=5,
            elinewidth=0.8,
            label=arm["label"],
            clip_on=False,
        )
        for x, row in zip(places, mine, strict=True):
            number = f"{row['accuracy']:.2f}".removeprefix("0")
            place = {"textcoords": "offset points", "ha": "center", "size": 6}
            axes.annotate(number, (x, row["high"]), (0, 2), **place)
    if compares:
        for row in read_paper("figure4")[:3]:
            axes.plot(
                range(len(COLUMNS)),
                [float(row[column]) for column in COLUMNS],
                "_",
                color=GREY,
                ms=22,
                mew=1,
                zorder=1,
            )

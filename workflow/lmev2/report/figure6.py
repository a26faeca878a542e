"""Figure 6: accuracy against query latency per tier, with the Pareto frontier."""

import csv
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullFormatter

from lmev2.report.captions import describe_models, explain_latencies, explain_models
from lmev2.report.labels import place_labels
from lmev2.report.numbers import csv_accuracy, csv_seconds
from lmev2.report.style import COLOURS, GREY, MARKERS, figure_style, new_figure, save_figure
from lmev2.store import read_rows, replacing

_PANEL_WIDTH, _HEIGHT = 5.2, 4.8  # inches


@dataclass(frozen=True)
class Point:
    """One arm in one tier: accuracy over all questions with its interval, mean latency in seconds."""

    method: str
    operating_point: str
    tier: str
    accuracy: float
    low: float
    high: float
    latency_s: float | None
    on_frontier: bool = False


def plot_figure6(
    accuracy: str | Path,
    latency: str | Path,
    png: str | Path,
    pdf: str | Path,
    csv_path: str | Path,
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    dataset: str,
    models: Mapping[str, Mapping[str, Any]],
) -> None:
    """Draw Figure 6 (paper, section 5) and write its points.

    Args:
        accuracy: the `accuracy` file (subset "all", column "overall").
        latency: the `latency` file.
        png: bitmap.
        pdf: vector figure.
        csv_path: one row a point: arm, tier, accuracy with 95 % interval, mean latency in seconds,
            on_frontier, dataset, models. An arm without latency is in the csv only; the caption says so.
        methods: one mapping an arm, in order: `id`, `operating_point`, `label`, `family`, `ablation_of`.
        tiers: one panel each, in order.
        dataset: name of the dataset.
        models: the config's `models` section.
    """
    arms = {(method["id"], method["operating_point"]): method for method in methods}
    points = mark_frontier(_collect_points(read_rows(accuracy), read_rows(latency), list(arms), tiers))
    _write_csv(csv_path, points, arms, dataset, describe_models(models))
    with figure_style():
        figure = new_figure(_PANEL_WIDTH * len(tiers), _HEIGHT)
        panels = figure.subplots(1, len(tiers), sharey=True, squeeze=False)[0]
        caption = _caption(points, arms, dataset, models, width=90 * len(tiers))
        bottom = (0.62 + 0.14 * caption.count("\n")) / _HEIGHT
        figure.subplots_adjust(
            left=0.55 / (_PANEL_WIDTH * len(tiers)),
            right=1 - 0.15 / (_PANEL_WIDTH * len(tiers)),
            top=1 - 0.3 / _HEIGHT,
            bottom=bottom + 0.12 / _HEIGHT,
            wspace=0.06,
        )
        figure.text(0.1 / (_PANEL_WIDTH * len(tiers)), 0.06 / _HEIGHT, caption, size=7, color="#444444")
        drawn = [point for point in points if point.latency_s is not None]
        panels[0].set_ylim(0, min(1.04, max([0.2, *(point.high for point in drawn)]) + 0.06))
        panels[0].set_ylabel("accuracy (all questions)")
        panels[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.1f}"))
        colours, markers = _assign_looks(methods)
        latency_axis = LatencyAxis.around([point.latency_s for point in drawn])
        for tier, axes in zip(tiers, panels, strict=True):
            axes.set_title(f"tier: {tier}")
            axes.set_xlabel("mean query latency (s)")
            latency_axis.apply(axes)
            mine = [point for point in drawn if point.tier == tier]
            _draw_panel(axes, mine, arms, colours, markers, latency_axis)
        save_figure(figure, png, pdf)


def mark_frontier(points: Sequence[Point]) -> list[Point]:
    """Mark the points of each tier that no other point dominates.

    One point dominates another where it is at least as accurate and at most as slow, and better in one
    of the two. Points that agree in both share the frontier. Points without latency are never on it.
    """

    def is_dominated(point: Point) -> bool:
        return any(
            other.accuracy >= point.accuracy
            and other.latency_s <= point.latency_s
            and (other.accuracy > point.accuracy or other.latency_s < point.latency_s)
            for other in points
            if other.tier == point.tier and other.latency_s is not None
        )

    return [
        replace(point, on_frontier=point.latency_s is not None and not is_dominated(point))
        for point in points
    ]


def _collect_points(
    accuracy: Sequence[Mapping[str, Any]],
    latency: Sequence[Mapping[str, Any]],
    arms: Sequence[tuple[str, str]],
    tiers: Sequence[str],
) -> list[Point]:
    seconds = {(row["method"], row["operating_point"], row["tier"]): row["latency_mean_s"] for row in latency}
    scores = {
        (row["method"], row["operating_point"], row["tier"]): row
        for row in accuracy
        if row["subset"] == "all" and row["column"] == "overall"
    }
    return [
        Point(*arm, tier, row["accuracy"], row["low"], row["high"], seconds[*arm, tier])
        for tier in tiers
        for arm in arms
        if (row := scores.get((*arm, tier)))
    ]


def _write_csv(
    path: str | Path,
    points: Sequence[Point],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    dataset: str,
    models: str,
) -> None:
    columns = [
        *("method", "operating_point", "label", "family", "tier", "accuracy", "low", "high"),
        *("latency_s", "on_frontier", "dataset", "models"),
    ]
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for point in points:
            arm = arms[point.method, point.operating_point]
            writer.writerow(
                [
                    *(point.method, point.operating_point, arm["label"], arm["family"], point.tier),
                    *(csv_accuracy(value) for value in (point.accuracy, point.low, point.high)),
                    csv_seconds(point.latency_s),
                    "true" if point.on_frontier else "false",
                    dataset,
                    models,
                ]
            )


def _caption(
    points: Sequence[Point],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    dataset: str,
    models: Mapping[str, Mapping[str, Any]],
    width: int,
) -> str:
    without = [
        f"{_name(arms[point.method, point.operating_point])} ({point.tier})"
        for point in points
        if point.latency_s is None
    ]
    sentences = [
        f"Dataset: {dataset}. Models: {describe_models(models)}.",
        explain_models(models),
        "Bars: 95 % intervals. Stepped line: best accuracy within a latency. Hollow: ablations.",
        explain_latencies(without),
    ]
    return textwrap.fill(" ".join(sentence for sentence in sentences if sentence), width)


def _assign_looks(methods: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str], dict[str, str]]:
    """Colour by family, marker by method within it; both are repeated by the labels beside the points."""
    families: dict[str, list[str]] = {}
    for method in methods:
        members = families.setdefault(method["family"], [])
        if method["id"] not in members:
            members.append(method["id"])
    colours, markers = {}, {}
    for f, members in enumerate(families.values()):
        for m, method in enumerate(members):
            colours[method] = COLOURS[f % len(COLOURS)]
            markers[method] = MARKERS[m % len(MARKERS)]
    return colours, markers


# A query that takes less does nothing worth timing (no retrieval); the axis is not stretched for it.
FLOOR_S = 0.001


@dataclass(frozen=True)
class LatencyAxis:
    """The log axis that all panels share: range of the latencies from `FLOOR_S` up, and where less stands."""

    low: float
    high: float
    has_less: bool

    @classmethod
    def around(cls, latencies: Sequence[float]) -> "LatencyAxis":
        """An axis of at least one decade around `latencies` (seconds)."""
        timed = [latency for latency in latencies if latency >= FLOOR_S] or [1.0]
        low, high = min(timed) / 1.6, max(timed) * 2.5  # room for labels
        widen = max(1.0, math.sqrt(10 * low / high))
        return cls(low / widen, high * widen, any(latency < FLOOR_S for latency in latencies))

    def place(self, latency: float) -> float:
        """Where `latency` is drawn: itself, or below `FLOOR_S` a place left of all others."""
        return latency if latency >= FLOOR_S else self.low * (self.low / self.high) ** 0.1

    def apply(self, axes: Axes) -> None:
        """Set scale, limits and ticks; less than the floor stands behind a dotted line."""
        axes.set_xscale("log")
        left = self.low * (self.low / self.high) ** 0.18 if self.has_less else self.low
        axes.set_xlim(left, self.high)
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        multiples = [multiple * 10.0**exponent for exponent in exponents for multiple in range(1, 10)]
        inside = [tick for tick in multiples if self.low <= tick <= self.high]
        major = [tick for tick in inside if f"{tick:e}".startswith("1.")]
        if len(major) < 3:
            major = [tick for tick in inside if f"{tick:e}"[0] in "125"]
        labels = [f"{tick:g}" for tick in major]
        if self.has_less:
            axes.axvline(self.low, color=GREY, lw=0.6, ls=":")
            major, labels = [self.place(0), *major], [f"<{FLOOR_S:g}", *labels]
        axes.xaxis.set_major_locator(FixedLocator(major))
        axes.xaxis.set_major_formatter(FixedFormatter(labels))
        axes.xaxis.set_minor_locator(FixedLocator(inside))
        axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_panel(
    axes: Axes,
    points: Sequence[Point],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    colours: Mapping[str, str],
    markers: Mapping[str, str],
    latency_axis: LatencyAxis,
) -> None:
    places = [(latency_axis.place(point.latency_s), point.accuracy) for point in points]
    lines = []  # everything that labels should keep clear of
    frontier = sorted(place for place, point in zip(places, points, strict=True) if point.on_frontier)
    if frontier:
        steps = _steps(frontier, latency_axis.high)
        lines.append(steps)
        axes.plot(*zip(*steps, strict=True), color="#bbbbbb", lw=1.4, solid_joinstyle="miter", zorder=1)
    for method in dict.fromkeys(point.method for point in points):
        mine = sorted(place for place, point in zip(places, points, strict=True) if point.method == method)
        if len(mine) > 1:
            lines.append(mine)
            axes.plot(*zip(*mine, strict=True), color=colours[method], lw=0.8, ls=(0, (3, 2)), zorder=2)
    for (x, y), point in zip(places, points, strict=True):
        colour = colours[point.method]
        bar = [(x, point.low), (x, point.high)]
        lines.append(bar)
        axes.plot(*zip(*bar, strict=True), color=colour, alpha=0.5, lw=0.7, zorder=2, clip_on=False)
        is_ablation = arms[point.method, point.operating_point]["ablation_of"]
        axes.plot(
            x,
            y,
            marker=markers[point.method],
            ms=4.5 if point.operating_point else 6,
            mfc="white" if is_ablation else colour,
            mec=colour,
            ls="none",
            zorder=3,
            clip_on=False,
        )
    texts = []
    for point in points:
        default_is_drawn = any(p.method == point.method and not p.operating_point for p in points)
        short = point.operating_point and default_is_drawn
        texts.append(point.operating_point if short else _name(arms[point.method, point.operating_point]))
    place_labels(axes, places, texts, [colours[point.method] for point in points], lines)


def _steps(frontier: Sequence[tuple[float, float]], right: float) -> list[tuple[float, float]]:
    """The best accuracy within each latency, as a polyline from the first point to the right edge."""
    steps = [frontier[0]]
    for x, y in frontier[1:]:
        steps += [(x, steps[-1][1]), (x, y)]
    return [*steps, (right, steps[-1][1])]


def _name(arm: Mapping[str, Any]) -> str:
    return f"{arm['label']} ({arm['operating_point']})" if arm["operating_point"] else arm["label"]

"""Figure 6: accuracy against query latency per tier, with the Pareto frontier."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from lmev2.report.captions import Source, explain_intervals, explain_latencies, origin
from lmev2.report.labels import place_labels
from lmev2.report.latency_axis import LatencyAxis
from lmev2.report.operating_points import (
    ALL_METHODS,
    Point,
    Score,
    best_points,
    collect_points,
    compares,
    mark_frontier,
    score_methods,
    write_points,
    write_scores,
)
from lmev2.report.paper import reference_frontier
from lmev2.report.style import COLOURS, GREY, MARKERS, figure_style, name_arm_label, new_figure, save_figure
from lmev2.stats.options import DEFAULTS, StatsOptions
from lmev2.store import read_rows

_PANEL_WIDTH, _AXES_HEIGHT = 5.2, 3.9  # inches
_LINE, _LEGEND_COLUMNS = 0.15, 2


def plot_figure6(
    accuracy: str | Path,
    latency: str | Path,
    png: str | Path,
    pdf: str | Path,
    csv_path: str | Path,
    lafs_path: str | Path,
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
    reference: str = "auto",
    options: StatsOptions = DEFAULTS,
) -> None:
    """Draw Figure 6 (paper, section 5) and write its points and the latency-aware scores.

    Methods that read the labels (pilot studies) are left out: they compete with none.

    Args:
        accuracy: the `accuracy` file (subset "all", column "overall").
        latency: the `latency` file.
        png: bitmap.
        pdf: vector figure.
        csv_path: one row a point: arm, tier, accuracy with its interval, mean latency in seconds,
            on_frontier, dataset, models. An arm without latency is in the csv only; the caption says so.
        lafs_path: one row a method and tier, and one for all together: LAFS of its operating points, and
            its gain over the reference frontier where the two compare.
        methods: one mapping an arm, in order: `id`, `operating_point`, `label`, `family`, `ablation_of`.
        tiers: one panel each, in order.
        source: dataset and models.
        reference: whether the leaderboard's reference frontier is drawn: "always", "never" or "auto"
            (where the numbers compare with it).
        options: what the intervals are.
    """
    arms = {
        (method["id"], method["operating_point"]): method for method in methods if not method.get("labels")
    }
    points = mark_frontier(collect_points(read_rows(accuracy), read_rows(latency), list(arms), tiers))
    write_points(csv_path, points, arms, source)
    references = {tier: reference_frontier(tier) if compares(source, reference) else [] for tier in tiers}
    scores = score_methods(points, references)
    write_scores(lafs_path, scores, arms, source, references)
    drawn = [point for point in points if point.latency_s is not None]
    ids = list(dict.fromkeys(point.method for point in drawn))
    with figure_style():
        caption = _caption(
            points, arms, source, any(references.values()), options, width=int(18 * _PANEL_WIDTH * len(tiers))
        )
        legend_rows = 1 + -(-(len(ids) + 1) // _LEGEND_COLUMNS)
        below = 0.52 + _LINE * legend_rows + 0.14 * (caption.count("\n") + 1)
        width, height = _PANEL_WIDTH * len(tiers), _AXES_HEIGHT + 0.3 + below
        figure = new_figure(width, height)
        panels = figure.subplots(1, len(tiers), sharey=True, squeeze=False)[0]
        figure.subplots_adjust(
            left=0.55 / width,
            right=1 - 0.15 / width,
            top=1 - 0.3 / height,
            bottom=below / height,
            wspace=0.06,
        )
        figure.text(0.1 / width, 0.06 / height, caption, size=7, color="#444444")
        known = [accuracy for tier in tiers for accuracy, _ in references[tier]]
        panels[0].set_ylim(0, min(1.04, max([0.2, *known, *(point.high for point in drawn)]) + 0.06))
        panels[0].set_ylabel("accuracy (all questions)")
        panels[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        colours, markers = _assign_looks(list(arms.values()))
        latency_axis = LatencyAxis.around(
            [
                *(point.latency_s for point in drawn),
                *(latency for tier in tiers for _, latency in references[tier]),
            ]
        )
        for tier, axes in zip(tiers, panels, strict=True):
            axes.set_title(f"tier: {tier}")
            axes.set_xlabel("mean query latency (s)")
            latency_axis.apply(axes)
            mine = [point for point in drawn if point.tier == tier]
            _draw_panel(axes, mine, arms, colours, markers, latency_axis, references[tier])
            _draw_legend(axes, scores[tier], ids, arms, colours, markers)
        save_figure(figure, png, pdf)


def _caption(
    points: Sequence[Point],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    source: Source,
    has_reference: bool,
    options: StatsOptions,
    width: int,
) -> str:
    without = [
        f"{name_arm_label(arms[point.method, point.operating_point])} ({point.tier})"
        for point in points
        if point.latency_s is None
    ]
    sentences = [
        *origin(source),
        f"Bars: {explain_intervals(options)}. Stepped line: best accuracy within a latency. "
        "Hollow: ablations. LAFS: mean of that accuracy over log-uniform budgets of 1 to 200 s, in points"
        + (", and its gain over the reference frontier (dotted)." if has_reference else "."),
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


def _draw_panel(
    axes: Axes,
    points: Sequence[Point],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    colours: Mapping[str, str],
    markers: Mapping[str, str],
    latency_axis: LatencyAxis,
    reference: Sequence[tuple[float, float]],
) -> None:
    places = [(latency_axis.place(point.latency_s), point.accuracy) for point in points]
    lines = []  # everything that labels should keep clear of
    if reference:
        steps = _steps(best_points(reference), latency_axis.high)
        lines.append(steps)
        axes.plot(*zip(*steps, strict=True), color=GREY, lw=1.2, ls=":", zorder=1)
        axes.annotate(
            "reference", steps[-1], (-2, 3), textcoords="offset points", size=7, color=GREY, ha="right"
        )
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
        arm = arms[point.method, point.operating_point]
        texts.append(point.operating_point if short else name_arm_label(arm))
    place_labels(axes, places, texts, [colours[point.method] for point in points], lines)


def _draw_legend(
    axes: Axes,
    scores: Mapping[str, Score],
    ids: Sequence[str],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    colours: Mapping[str, str],
    markers: Mapping[str, str],
) -> None:
    """The methods with their LAFS below the panel; both panels list them in the same order."""
    handles, labels = [], []
    methods = {id_: arm for (id_, _), arm in reversed(list(arms.items()))}
    for id_ in (*ids, ALL_METHODS):
        score = scores.get(id_)
        look = (
            {"marker": markers[id_], "color": colours[id_], "ls": "none", "ms": 5}
            if id_
            else {"color": "#bbbbbb", "lw": 1.4}
        )
        if id_ and methods[id_]["ablation_of"]:
            look["mfc"] = "white"
        handles.append(Line2D([], [], **look))
        name = methods[id_]["label"] if id_ else "all together"
        gain = "" if score is None or score.gain is None else f" (+{score.gain:.3f})"
        labels.append(f"{name}: {'no latency' if score is None else f'{score.lafs:.1f}{gain}'}")
    axes.legend(
        handles,
        labels,
        title="LAFS" + (" (gain)" if any(score.gain is not None for score in scores.values()) else ""),
        loc="upper left",
        bbox_to_anchor=(0, -0.42 / _AXES_HEIGHT),
        ncols=_LEGEND_COLUMNS,
        alignment="left",
        frameon=False,
        fontsize=7,
        title_fontsize=7,
        borderaxespad=0,
        borderpad=0,
        labelspacing=0.35,
        handletextpad=0.4,
    )


def _steps(frontier: Sequence[tuple[float, float]], right: float) -> list[tuple[float, float]]:
    """The best accuracy within each latency, as a polyline from the first point to the right edge."""
    steps = [frontier[0]]
    for x, y in frontier[1:]:
        steps += [(x, steps[-1][1]), (x, y)]
    return [*steps, (right, steps[-1][1])]

"""The points of Figure 6, the Pareto frontier and the latency-aware scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source, explain_comparison
from lmev2.report.lafs import lafs, lafs_gain
from lmev2.report.numbers import csv_accuracy, csv_seconds
from lmev2.store import write_csv


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


def collect_points(
    accuracy: Sequence[Mapping[str, Any]],
    latency: Sequence[Mapping[str, Any]],
    arms: Sequence[tuple[str, str]],
    tiers: Sequence[str],
) -> list[Point]:
    """The points of all arms, in order of tiers and arms.

    Args:
        accuracy: rows of the `accuracy` table (subset "all", column "overall").
        latency: rows of the `latency` table.
        arms: (method, operating point) in order.
        tiers: in order.
    """
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


def best_points(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """(latency, accuracy) of the points that no faster one equals."""
    frontier: list[tuple[float, float]] = []
    for accuracy, latency in sorted(points, key=lambda point: (point[1], -point[0])):
        if not frontier or accuracy > frontier[-1][1]:
            frontier.append((latency, accuracy))
    return frontier


@dataclass(frozen=True)
class Score:
    """LAFS of some operating points, and what they add to the reference frontier (None: no reference)."""

    points: int
    lafs: float
    gain: float | None


# Stands for all methods together, among the methods' ids.
ALL_METHODS = ""


def score_methods(
    points: Sequence[Point], references: Mapping[str, Sequence[tuple[float, float]]]
) -> dict[str, dict[str, Score]]:
    """Per tier the score of each method over its operating points, and of `ALL_METHODS` together.

    Args:
        points: points without latency do not count; a method without others has no score.
        references: reference points of each tier; none where there is nothing to compare with.
    """
    scores: dict[str, dict[str, Score]] = {}
    for tier, known in references.items():
        mine: dict[str, list[tuple[float, float]]] = {ALL_METHODS: []}
        for point in points:
            if point.tier == tier and point.latency_s is not None:
                for method in (point.method, ALL_METHODS):
                    mine.setdefault(method, []).append((point.accuracy, point.latency_s))
        scores[tier] = {
            method: Score(len(found), lafs(found), lafs_gain(known, found) if known else None)
            for method, found in mine.items()
            if found
        }
    return scores


def compares(source: Source, reference: str) -> bool:
    """Whether the reference frontier belongs beside our points; `reference` as in `plot_figure6`."""
    if reference == "auto":
        return not explain_comparison(source)
    return reference == "always"


def write_points(
    path: str | Path,
    points: Sequence[Point],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    source: Source,
) -> None:
    """Write one row a point."""
    columns = [
        *("method", "operating_point", "label", "family", "tier", "accuracy", "low", "high"),
        *("latency_s", "on_frontier", "dataset", "models"),
    ]
    rows = []
    for point in points:
        arm = arms[point.method, point.operating_point]
        rows.append(
            {
                **{key: getattr(point, key) for key in ("method", "operating_point", "tier", "on_frontier")},
                **{key: arm[key] for key in ("label", "family")},
                **{key: csv_accuracy(getattr(point, key)) for key in ("accuracy", "low", "high")},
                "latency_s": csv_seconds(point.latency_s),
                "dataset": source.dataset,
                "models": source.models_of(point.method, point.operating_point),
            }
        )
    write_csv(path, rows, columns)


def write_scores(
    path: str | Path,
    scores: Mapping[str, Mapping[str, Score]],
    arms: Mapping[tuple[str, str], Mapping[str, Any]],
    source: Source,
    references: Mapping[str, Sequence[tuple[float, float]]],
) -> None:
    """Write one row a method and tier, and one for all methods together."""
    labels = {id_: arm["label"] for (id_, _), arm in reversed(list(arms.items()))}
    reason = explain_comparison(source)
    rows = []
    for tier, found in scores.items():
        known = references[tier]
        for method, score in found.items():
            rows.append(
                {
                    "method": method or "all",
                    "label": labels.get(method, "all methods together"),
                    "tier": tier,
                    "operating_points": score.points,
                    "lafs": f"{score.lafs:.3f}",
                    "reference_lafs": f"{lafs(known):.3f}" if known else None,
                    "lafs_gain": None if score.gain is None else f"{score.gain:.6f}",
                    "note": reason
                    or (
                        ""
                        if known
                        else "There is no reference frontier for this tier, or it is switched off."
                    ),
                    "dataset": source.dataset,
                    "models": source.models_of(method),
                }
            )
    columns = [
        *("method", "label", "tier", "operating_points", "lafs", "reference_lafs", "lafs_gain", "note"),
        *("dataset", "models"),
    ]
    write_csv(path, rows, columns)

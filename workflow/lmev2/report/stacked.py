"""Stacked bars: how the whole of something divides into classes."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Look = tuple[str, str]  # colour of the bar, colour of the number on it


def stacked_bars(
    axes: Axes,
    rows: Sequence[Mapping[Any, float]],
    looks: Mapping[Any, Look],
    largest: float,
    *,
    form: str = "{:.3g}",
    narrowest: float = 0.05,
) -> None:
    """One horizontal bar a row, from the top down, with the numbers in the segments that have room.

    Args:
        axes: where.
        rows: class -> size.
        looks: the classes in order, with their colours.
        largest: size that the axis ends at.
        form: of the numbers.
        narrowest: share of the axis that a number needs.
    """
    axes.set_xlim(0, largest * 1.04)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    starts = [0.0] * len(rows)
    for kind, (colour, ink) in looks.items():
        widths = [row[kind] for row in rows]
        look = {"height": 0.72, "color": colour, "edgecolor": "white", "lw": 0.5, "label": str(kind)}
        axes.barh(range(len(rows)), widths, left=starts, **look)
        for y, (start, width) in enumerate(zip(starts, widths, strict=True)):
            if width >= largest * narrowest:
                text = {"size": 7, "color": ink, "ha": "center", "va": "center"}
                axes.text(start + width / 2, y, form.format(width), **text)
        starts = [start + width for start, width in zip(starts, widths, strict=True)]


def legend_above(figure: Figure, axes: Axes) -> None:
    """The labels of `axes` in one line at the top of the figure."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="upper left",
        ncols=len(labels),
        frameon=False,
        fontsize=7,
        handlelength=1,
        handletextpad=0.4,
        columnspacing=1.2,
    )

"""One look for all figures: print sizes, colour-blind-safe colours, and files without dates."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lmev2.store import replacing

# Okabe and Ito's palette without yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#777777"
CAPTION_SIZE = 7
_CHARACTERS_PER_INCH = 18.5  # of the caption

_STYLE = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same glyphs everywhere
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.0,
    "pdf.fonttype": 42,  # text stays text
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Use the project's style, whatever the user's own matplotlib settings."""
    with matplotlib.style.context(["default", _STYLE]):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of `width` × `height` inches, outside pyplot's global state."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, png: str | Path, pdf: str | Path) -> None:
    """Write `figure` as bitmap (200 dpi) and vector; the same figure gives the same bytes."""
    with replacing(png) as temporary:
        figure.savefig(temporary, format="png", dpi=200, metadata={"Software": None})
    with replacing(pdf) as temporary:
        undated = {"CreationDate": None, "Creator": None, "Producer": None}
        figure.savefig(temporary, format="pdf", metadata=undated)


def captioned_figure(
    panels: int,
    caption: Sequence[str],
    *,
    width: float,
    height: float,
    left: float = 0.55,
    right: float = 0.15,
    above: float = 0.3,
    below: float = 0.42,
    gap: float = 0.15,
    sharey: bool = True,
) -> tuple[Figure, list[Axes]]:
    """A figure of panels side by side over a caption; all lengths in inches.

    Args:
        panels: how many.
        caption: sentences, wrapped to the width.
        width: of one panel.
        height: of the panels.
        left: room for the labels left of the first panel, and of each if they share no axis.
        right: room right of the last panel.
        above: room for titles and a legend.
        below: room for the labels below the panels.
        gap: between panels.
        sharey: whether the panels share the y axis.
    """
    between = gap if sharey else gap + left
    whole = left + panels * width + (panels - 1) * between + right
    text = textwrap.fill(" ".join(filter(None, caption)), int(whole * _CHARACTERS_PER_INCH))
    foot = 0.12 + 0.135 * (text.count("\n") + 1)
    total = above + height + below + foot
    figure = new_figure(whole, total)
    axes = figure.subplots(1, panels, sharey=sharey, squeeze=False)[0]
    figure.subplots_adjust(
        left=left / whole,
        right=1 - right / whole,
        top=1 - above / total,
        bottom=(below + foot) / total,
        wspace=between / width,
    )
    figure.text(0.08 / whole, 0.06 / total, text, size=CAPTION_SIZE, color="#444444", linespacing=1.15)
    return figure, list(axes)


def name_arm_label(arm: Mapping[str, Any]) -> str:
    """The label of an arm, its operating point in brackets; ablations keep their minus."""
    return f"{arm['label']} ({arm['operating_point']})" if arm["operating_point"] else arm["label"]

"""One look for all figures: print sizes, colour-blind-safe colours, and files without dates."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lmev2.store import replacing

# Okabe and Ito's palette without yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#777777"

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
    "svg.hashsalt": "lmev2",
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

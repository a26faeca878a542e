"""Direct labels beside the points of a figure that do not cover each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox

_SIZE = 7  # points, as all lengths below
_PAD = 1.0  # free space around a label
_MARKER = 3.5  # half a marker's width
_DISTANCES = (6, 11, 17, 24, 32, 42, 54, 68, 84)  # rings around the marker
_FIRST_WITH_LEADER = 2  # labels in this ring and beyond get a thin line to their point
_DIRECTIONS = 16
_ROUNDS = 3


@dataclass(frozen=True)
class _Place:
    """A place for one label, in pixels, and what it costs apart from the other labels."""

    box: Bbox
    leader: Path | None
    cost: float

    def conflicts(self, other: "_Place") -> float:
        """What the two labels cost each other."""
        return (
            100 * self.box.overlaps(other.box)
            + 20 * bool(self.leader and self.leader.intersects_bbox(other.box, filled=False))
            + 20 * bool(other.leader and other.leader.intersects_bbox(self.box, filled=False))
            + 5 * bool(self.leader and other.leader and self.leader.intersects_path(other.leader))
        )


def place_labels(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    colours: Sequence[str],
    lines: Sequence[Sequence[tuple[float, float]]] = (),
) -> list[Text]:
    """Write one label beside each point where it is free, the nearer the better.

    The axes' limits must be final and the figure's layout set. Labels choose their cheapest place in
    turn, and again for a few rounds once the others stand. A place that covers another label or a
    marker, or leaves the axes, is taken only where nothing else is left; crossing a line costs less.

    Args:
        axes: the axes, with the points drawn.
        points: data coordinates.
        texts: one label a point.
        colours: one colour a label.
        lines: other marks to keep clear of (error bars, curves), as polylines in data coordinates.

    Returns:
        The labels.
    """
    if not points:
        return []
    scale = axes.figure.dpi / 72  # pixels per point
    pixels = axes.transData.transform(points)
    markers = [_box(x, y, _MARKER * scale, _MARKER * scale) for x, y in pixels]
    paths = [Path(axes.transData.transform(line)) for line in lines]
    labels, places = [], []
    for i, (text, colour) in enumerate(zip(texts, colours, strict=True)):
        label = axes.text(0, 0, text, size=_SIZE, color=colour, ha="center", va="center", zorder=5)
        label.set_path_effects([withStroke(linewidth=1.5, foreground="white")])
        labels.append(label)
        size = label.get_window_extent()
        half = (size.width / 2 + _PAD * scale, size.height / 2 + _PAD * scale)
        others = markers[:i] + markers[i + 1 :]
        places.append(_list_places(pixels[i], half, scale, axes.get_window_extent(), others, paths))

    # Crowded points choose first: they have the fewest places.
    order = sorted(range(len(points)), key=lambda i: (_distance_to_nearest(i, pixels), i))
    chosen: dict[int, _Place] = {}
    for i in order * _ROUNDS:
        others = [place for j, place in chosen.items() if j != i]
        chosen[i] = min(places[i], key=lambda p: p.cost + sum(p.conflicts(other) for other in others))

    for i, place in sorted(chosen.items()):
        centre = ((place.box.x0 + place.box.x1) / 2, (place.box.y0 + place.box.y1) / 2)
        labels[i].set_position(axes.transData.inverted().transform(centre))
        if place.leader:
            x, y = axes.transData.inverted().transform(place.leader.vertices).T
            axes.plot(x, y, color=colours[i], lw=0.5, zorder=2)
    return labels


def _list_places(
    pixel: tuple[float, float],
    half: tuple[float, float],
    scale: float,
    frame: Bbox,
    other_markers: Sequence[Bbox],
    paths: Sequence[Path],
) -> list[_Place]:
    places = []
    for ring, distance in enumerate(_DISTANCES):
        for step in range(_DIRECTIONS):
            box = _box(*_centre(pixel, half, distance * scale, step), *half)
            leader = _leader(pixel, box) if ring >= _FIRST_WITH_LEADER else None
            leaves = box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1
            cost = ring + 1000.0 * leaves
            cost += 100 * sum(box.overlaps(marker) for marker in other_markers)
            cost += 3 * sum(path.intersects_bbox(box, filled=False) for path in paths)
            if leader:
                cost += 20 * sum(leader.intersects_bbox(marker, filled=False) for marker in other_markers)
                cost += 2 * sum(leader.intersects_path(path, filled=False) for path in paths)
            places.append(_Place(box, leader, cost))
    return places


def _box(x: float, y: float, half_width: float, half_height: float) -> Bbox:
    return Bbox.from_extents(x - half_width, y - half_height, x + half_width, y + half_height)


def _distance_to_nearest(i: int, pixels: Sequence[tuple[float, float]]) -> float:
    return min((math.dist(pixels[i], other) for j, other in enumerate(pixels) if j != i), default=math.inf)


def _centre(
    pixel: tuple[float, float], half: tuple[float, float], distance: float, step: int
) -> tuple[float, float]:
    """Centre of a label in one of the directions, its near edge `distance` pixels from the point."""
    angle = 2 * math.pi * step / _DIRECTIONS
    dx, dy = math.cos(angle), math.sin(angle)
    # Sideways the whole half width counts, upwards the half height; between, a mixture.
    x = pixel[0] + dx * distance + half[0] * max(-1.0, min(1.0, 1.4 * dx))
    y = pixel[1] + dy * distance + half[1] * max(-1.0, min(1.0, 1.4 * dy))
    return x, y


def _leader(pixel: tuple[float, float], box: Bbox) -> Path:
    """The line from the point to the nearest edge of its label."""
    return Path([tuple(pixel), (min(max(pixel[0], box.x0), box.x1), min(max(pixel[1], box.y0), box.y1))])

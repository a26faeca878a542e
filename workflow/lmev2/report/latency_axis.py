"""The log axis of query latencies, which has a place for none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

from lmev2.report.style import GREY

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

"""LAFS, the leaderboard's latency-aware frontier score, computed exactly (docs/statistics.md).

The mean, over budgets T that are log-uniform in [1, 200] s, of the best accuracy among the operating
points with latency <= T. The best accuracy is a step function of T, so the mean is a finite sum.
"""

import math
from collections.abc import Iterable, Sequence

LOWEST_S, HIGHEST_S = 1.0, 200.0

Operating = tuple[float, float]  # accuracy in [0, 1], latency in seconds


def lafs(points: Iterable[Operating]) -> float:
    """The score of a set of operating points, in points of accuracy (0 to 100).

    A latency of 0 counts as within every budget. A point slower than the largest budget adds nothing,
    nor does one at exactly the largest: it is within the budgets of a set of measure 0.

    Args:
        points: accuracy in [0, 1] and mean query latency in seconds of each.

    Raises:
        ValueError: a figure is not finite, an accuracy is not in [0, 1] or a latency is negative.
    """
    best, since, total = 0.0, LOWEST_S, 0.0
    for accuracy, latency in sorted(points, key=lambda point: point[1]):
        if not (0 <= accuracy <= 1 and 0 <= latency < math.inf):
            raise ValueError(f"no operating point: accuracy {accuracy}, latency {latency} s")
        if accuracy <= best or latency >= HIGHEST_S:
            continue
        start = max(latency, LOWEST_S)
        total += best * math.log(start / since)
        best, since = accuracy, start
    total += best * math.log(HIGHEST_S / since)
    return 100 * total / math.log(HIGHEST_S / LOWEST_S)


def lafs_gain(reference: Sequence[Operating], ours: Sequence[Operating]) -> float:
    """What our operating points add to the score of the reference frontier, in points; never negative."""
    # Never below 0 by rounding: more points cannot lower a best accuracy.
    return max(0.0, lafs([*reference, *ours]) - lafs(reference))

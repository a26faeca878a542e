"""Confidence intervals for accuracies and for paired differences."""

import math
import warnings
from collections.abc import Hashable, Sequence

import numpy as np
from scipy.stats import DegenerateDataWarning, bootstrap, norm

from lmev2.stats.bootstrap import CONFIDENCE, paired_bootstrap
from lmev2.stats.options import StatsOptions


def wilson(accuracy: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval for the mean score of `n` questions.

    Wilson, because columns are small (29 gotchas) and accuracies go down to 0: the interval stays in
    [0, 1] and does not shrink to a point there, as the normal and the bootstrap interval do.

    Over questions, because they are the sample; repeats of one question are not independent. The
    score of a question may be its average over repeats: a score in [0, 1] with mean p has at most the
    variance p (1 - p) of a 0/1 score, so the interval is then, if anything, too wide.

    Args:
        accuracy: mean score, in [0, 1].
        n: number of questions, at least 1.
        confidence: level of the interval.

    Returns:
        Lower and upper end.
    """
    if n < 1 or not 0 <= accuracy <= 1:
        raise ValueError(f"no interval for accuracy {accuracy} of {n} questions")
    z2 = float(norm.ppf((1 + confidence) / 2)) ** 2
    centre = (accuracy + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * accuracy * (1 - accuracy) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    # Rounding must not leave the point outside its own interval at 0 and 1.
    return max(0.0, min(accuracy, centre - half)), min(1.0, max(accuracy, centre + half))


def accuracy_interval(
    units: Sequence[int], denominator: int, options: StatsOptions, strata: Sequence[Hashable] | None = None
) -> tuple[float, float]:
    """The interval of a mean score by the kind that `options.interval` names.

    Args:
        units: score of each question times `denominator`.
        denominator: units per score point.
        options: kind, level, resamples, seed.
        strata: as in `bootstrap.exact`; Wilson's interval has none.
    """
    if options.interval == "wilson":
        n = len(units)
        return wilson(sum(units) / (n * denominator), n, options.confidence)
    if options.interval == "bca":
        return bca(units, [0] * len(units), denominator, options)
    found = paired_bootstrap(
        units,
        denominator,
        options.confidence,
        strata=strata,
        resamples=options.resamples,
        seed=options.seed,
    )
    return found.low, found.high


def bca(a: Sequence[int], b: Sequence[int], denominator: int, options: StatsOptions) -> tuple[float, float]:
    """The bias-corrected accelerated bootstrap interval of the mean paired difference a - b.

    Resampled (`scipy.stats.bootstrap`, paired, seeded), without strata. Where all differences are equal
    it is that value: there is nothing to resample.
    """
    x, y = np.array(a) / denominator, np.array(b) / denominator
    if np.ptp(x - y) == 0:
        return float(x[0] - y[0]), float(x[0] - y[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DegenerateDataWarning)
        interval = bootstrap(
            (x, y),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            paired=True,
            vectorized=True,
            method="BCa",
            confidence_level=options.confidence,
            n_resamples=options.resamples,
            batch=1000,
            rng=np.random.default_rng(options.seed),
        ).confidence_interval
    return float(interval.low), float(interval.high)

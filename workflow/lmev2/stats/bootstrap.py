"""The paired bootstrap over questions, computed exactly (docs/statistics.md derives it).

n paired differences d_i are resampled with replacement; D* is the sum of the n draws. The draws are
independent with the empirical distribution of the d_i, so the distribution of D* is the n-th
convolution power of that distribution. No resampling is needed where the d_i lie on a lattice.

Differences are given as whole numbers in units of 1/denominator, so that no rounding decides whether
D* is 0: -1, 0, 1 for 0/1 scores, k/r for scores averaged over r repeats.

With strata, each stratum is resampled to its own size; D* is then a sum of independent sums, and its
distribution the convolution of theirs.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
RESAMPLES = 100_000
# Tail mass that is dropped, per point. Products of two kept terms then stay normal floating-point
# numbers (no slow subnormals), and p-values are right in relative terms down to about 1e-140.
_TINY = 1e-150
_TINY_IN_DEVIATIONS = 27.0  # a normal tail falls below _TINY within so many standard deviations
_MAX_WIDTH = 1 << 17  # lattice points of D*; a few seconds of convolution
_CHUNK = 10_000  # Monte Carlo resamples at a time, to bound memory


class LatticeTooFineError(ValueError):
    """The differences take too many distinct values for the exact distribution; use Monte Carlo."""


@dataclass(frozen=True)
class PairedBootstrap:
    """Arm A against arm B, paired by question.

    `difference`, `low` and `high` are mean differences per question (A - B) with the percentile
    interval. p-values are for D*, the resampled sum: `p_one_sided` = P(D* <= 0) ("A is better"),
    `p_two_sided` = min(1, 2 min(P(D* <= 0), P(D* >= 0))).
    """

    n: int
    wins: int  # questions with a positive difference
    losses: int
    difference: float
    low: float
    high: float
    p_one_sided: float
    p_other_side: float  # P(D* >= 0), the one-sided p of B against A
    resamples: int = 0  # 0: exact

    @property
    def p_two_sided(self) -> float:
        """Twice the smaller tail, at most 1."""
        return min(1.0, 2 * min(self.p_one_sided, self.p_other_side))

    @property
    def standard_error(self) -> float:
        """Monte Carlo standard error of `p_one_sided`; 0 for the exact computation."""
        p = self.p_one_sided
        return math.sqrt(p * (1 - p) / self.resamples) if self.resamples else 0.0

    def mirrored(self) -> "PairedBootstrap":
        """Arm B against arm A."""
        return replace(
            self,
            wins=self.losses,
            losses=self.wins,
            difference=0.0 - self.difference,
            low=0.0 - self.high,
            high=0.0 - self.low,
            p_one_sided=self.p_other_side,
            p_other_side=self.p_one_sided,
        )


def exact(
    differences: Sequence[int] | npt.NDArray[np.integer],
    denominator: int = 1,
    confidence: float = CONFIDENCE,
    *,
    strata: Sequence[Hashable] | None = None,
) -> PairedBootstrap:
    """Compare two arms by the exact paired bootstrap.

    Args:
        differences: one whole number per question, score of A minus score of B times `denominator`.
        denominator: units per score point (least common multiple of the numbers of repeats).
        confidence: level of the percentile interval. It agrees with the test: it leaves 0 out
            exactly where p_two_sided < 1 - confidence.
        strata: one label per question; questions are drawn within their stratum.

    Raises:
        ValueError: no questions.
        LatticeTooFineError: the exact distribution would be too long.
    """
    units, divisor = _reduce(differences)
    n = len(units)
    pmf, first = np.ones(1), 0
    for stratum in _split(_as_lattice(units), strata):
        power, start = _sum_of_draws(stratum)
        pmf, first = _trim(np.convolve(pmf, power), first + start)
    sums = first + np.arange(len(pmf))
    below, above = np.cumsum(pmf), np.cumsum(pmf[::-1])[::-1]  # P(D* <= s), P(D* >= s)
    tail = (1 - confidence) / 2
    # Both ends by the same rule, so that the interval of B - A is the mirror image.
    low = sums[int(np.argmax(below >= tail))]
    high = sums[len(sums) - 1 - int(np.argmax(above[::-1] >= tail))]
    return _result(
        units,
        sum(units) * divisor / (n * denominator),
        low=int(low) * divisor / (n * denominator),
        high=int(high) * divisor / (n * denominator),
        p_one_sided=min(1.0, float(pmf[sums <= 0].sum())),
        p_other_side=min(1.0, float(pmf[sums >= 0].sum())),
    )


def monte_carlo(
    differences: Sequence[int] | npt.NDArray[np.integer],
    denominator: int = 1,
    confidence: float = CONFIDENCE,
    *,
    strata: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PairedBootstrap:
    """Estimate what `exact` computes by seeded resampling: a check, and the way out for fine lattices.

    Raises:
        ValueError: no questions.
    """
    units, divisor = _reduce(differences)
    n = len(units)
    rng = np.random.default_rng(seed)
    sums = np.zeros(resamples)
    for stratum in _split(np.array([unit * divisor / denominator for unit in units]), strata):
        values, counts = np.unique(stratum, return_counts=True)
        for done in range(0, resamples, _CHUNK):
            size = min(_CHUNK, resamples - done)
            draws = rng.multinomial(len(stratum), counts / len(stratum), size=size)
            sums[done : done + size] += draws @ values
    sums[np.abs(sums) < 1e-9] = 0.0  # rounding must not decide the sign of a sum that is 0
    tail = (1 - confidence) / 2
    low, high = np.quantile(sums, [tail, 1 - tail], method="inverted_cdf")
    return _result(
        units,
        sum(units) * divisor / (n * denominator),
        low=float(low) / n,
        high=float(high) / n,
        p_one_sided=float(np.mean(sums <= 0)),
        p_other_side=float(np.mean(sums >= 0)),
        resamples=resamples,
    )


def paired_bootstrap(
    differences: Sequence[int] | npt.NDArray[np.integer],
    denominator: int = 1,
    confidence: float = CONFIDENCE,
    *,
    strata: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PairedBootstrap:
    """`exact` where the lattice allows it, else `monte_carlo` (the result says which).

    Raises:
        ValueError: no questions.
    """
    try:
        return exact(differences, denominator, confidence, strata=strata)
    except LatticeTooFineError:
        return monte_carlo(
            differences, denominator, confidence, strata=strata, resamples=resamples, seed=seed
        )


def _split(values: npt.NDArray, strata: Sequence[Hashable] | None) -> list[npt.NDArray]:
    """The values of each stratum, in order of first appearance."""
    if strata is None:
        return [values]
    members: dict[Hashable, list[int]] = {}
    for position, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(position)
    if sum(map(len, members.values())) != len(values):
        raise ValueError(f"{len(values)} differences, but strata for another number of questions")
    return [values[positions] for positions in members.values()]


def _sum_of_draws(units: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], int]:
    """Distribution of the sum of as many draws as there are units, and its first lattice point."""
    values, counts = np.unique(units, return_counts=True)
    pmf = np.zeros(int(values[-1] - values[0]) + 1)
    pmf[values - values[0]] = counts / len(units)
    return _power(pmf, int(values[0]), len(units))


def _reduce(differences: Sequence[int] | npt.NDArray[np.integer]) -> tuple[list[int], int]:
    """Differences on the coarsest lattice that holds them, and what they were divided by.

    Copies of an arm as repeats only refine the lattice; this undoes it, to the last bit.
    """
    units = [int(difference) for difference in differences]
    if not units:
        raise ValueError("a paired comparison needs at least one question")
    divisor = math.gcd(*units) or 1
    return [unit // divisor for unit in units], divisor


def _as_lattice(units: list[int]) -> npt.NDArray[np.int64]:
    """The differences as an array, if the distribution of D* stays short enough."""
    n, largest = len(units), max(map(abs, units))
    width = 2 * n * largest + 1
    if largest <= _MAX_WIDTH:
        deviation = float(np.std(np.array(units, dtype=np.float64))) * math.sqrt(n)
        width = min(width, round(2 * _TINY_IN_DEVIATIONS * deviation) + 2 * largest + 1)
    if width > _MAX_WIDTH:
        raise LatticeTooFineError(
            f"the exact bootstrap of {n} differences would need more than {_MAX_WIDTH} points; "
            "use Monte Carlo"
        )
    return np.array(units, dtype=np.int64)


def _power(pmf: npt.NDArray[np.float64], first: int, n: int) -> tuple[npt.NDArray[np.float64], int]:
    """Distribution of the sum of n draws: n-th convolution power by repeated squaring.

    Direct convolution adds and multiplies probabilities only, so nothing cancels and small tails keep
    their relative accuracy; an FFT would leave an absolute error of about 1e-16 everywhere. Its cost
    is bounded because tails below `_TINY` are cut after each step: the length grows with sqrt(n).
    """
    power, start = np.ones(1), 0
    while True:
        if n & 1:
            power, start = _trim(np.convolve(power, pmf), start + first)
        n >>= 1
        if not n:
            return power, start
        pmf, first = _trim(np.convolve(pmf, pmf), 2 * first)


def _trim(pmf: npt.NDArray[np.float64], first: int) -> tuple[npt.NDArray[np.float64], int]:
    kept = np.flatnonzero(pmf > _TINY)
    return pmf[kept[0] : kept[-1] + 1], first + int(kept[0])


def _result(
    units: list[int],
    difference: float,
    *,
    low: float,
    high: float,
    p_one_sided: float,
    p_other_side: float,
    resamples: int = 0,
) -> PairedBootstrap:
    return PairedBootstrap(
        n=len(units),
        wins=sum(unit > 0 for unit in units),
        losses=sum(unit < 0 for unit in units),
        difference=difference,
        low=low,
        high=high,
        p_one_sided=p_one_sided,
        p_other_side=p_other_side,
        resamples=resamples,
    )

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from lmev2.stats.bootstrap import LatticeTooFineError, exact, monte_carlo, paired_bootstrap
from lmev2.stats.holm import holm
from lmev2.stats.intervals import accuracy_interval, bca, wilson
from lmev2.stats.mcnemar import exact_mcnemar
from lmev2.stats.options import StatsOptions

outcomes = st.lists(st.integers(-1, 1), min_size=1, max_size=60)
lattices = st.integers(1, 6).flatmap(
    lambda r: st.tuples(st.lists(st.integers(-r, r), min_size=1, max_size=40), st.just(r))
)


def test_five_wins_one_loss_of_24():
    test = exact([1] * 5 + [-1] + [0] * 18)
    assert (round(test.p_one_sided, 3), round(test.p_two_sided, 3)) == (0.060, 0.120)
    assert (test.n, test.wins, test.losses) == (24, 5, 1)
    assert test.difference == 4 / 24


def test_an_arm_against_itself():
    test = exact([0] * 24)
    assert (test.p_one_sided, test.p_two_sided, test.low, test.high, test.difference) == (1, 1, 0, 0, 0)


@pytest.mark.parametrize("differences", [[1, 0, 0], [1, -1, 0, 1], [2, -1, 0, 1], [3, 3, -2, -2, 1]])
def test_agrees_with_all_resamples_written_out(differences):
    sums = [sum(draw) for draw in itertools.product(differences, repeat=len(differences))]
    test = exact(differences, 3)
    assert test.p_one_sided == pytest.approx(np.mean([s <= 0 for s in sums]), rel=1e-12)
    assert test.p_other_side == pytest.approx(np.mean([s >= 0 for s in sums]), rel=1e-12)
    ordered = np.sort(sums)
    tail = math.ceil(0.025 * len(sums))  # so many resamples hold 2.5 %
    scale = 3 * len(differences)
    assert test.low == pytest.approx(ordered[tail - 1] / scale)
    assert test.high == pytest.approx(ordered[-tail] / scale)


def test_agrees_with_the_mixture_of_binomials():
    n, wins, losses = 451, 60, 41
    test = exact([1] * wins + [-1] * losses + [0] * (n - wins - losses))
    # D* = W - L; given W = w, L is binomial over the other draws.
    w = np.arange(n + 1)
    at_least = binom.sf(w - 1, n - w, losses / (n - wins))
    assert test.p_one_sided == pytest.approx(np.sum(binom.pmf(w, n, wins / n) * at_least), rel=1e-9)


def test_small_tails_keep_their_relative_accuracy():
    # Only wins and ties: D* <= 0 means that no draw is a win.
    assert exact([1] * 200 + [0] * 251).p_one_sided == pytest.approx((251 / 451) ** 451, rel=1e-9)


# Derandomised: among fresh random cases, some would pass four standard errors by chance.
@settings(deadline=None, max_examples=300, derandomize=True)
@given(lattices, st.integers(0, 2**32 - 1))
def test_monte_carlo_agrees_within_four_standard_errors(case, seed):
    differences, denominator = case
    test, check = (
        exact(differences, denominator),
        monte_carlo(differences, denominator, resamples=20_000, seed=seed),
    )
    for p, estimate in (
        (test.p_one_sided, check.p_one_sided),
        (test.p_other_side, check.p_other_side),
    ):
        # Of the exact p: an estimate of 0 has no error of its own. One resample of slack for p near 0.
        assert abs(estimate - p) <= 4 * math.sqrt(p * (1 - p) / 20_000) + 1 / 20_000
    assert (check.difference, check.wins, check.losses) == (test.difference, test.wins, test.losses)


@st.composite
def repeated_arms(draw):
    """Differences of two arms with numbers of repeats of their own, and a stratum per question."""
    n, a, b = draw(st.integers(1, 40)), draw(st.integers(1, 5)), draw(st.integers(1, 5))
    denominator = math.lcm(a, b)
    correct = st.tuples(st.integers(0, a), st.integers(0, b), st.integers(0, 2))
    questions = draw(st.lists(correct, min_size=n, max_size=n))
    differences = [x * (denominator // a) - y * (denominator // b) for x, y, _ in questions]
    return differences, denominator, [stratum for *_, stratum in questions]


@settings(deadline=None, max_examples=120, derandomize=True)
@given(repeated_arms(), st.booleans(), st.integers(0, 2**32 - 1))
def test_monte_carlo_agrees_for_repeats_and_strata(case, stratified, seed):
    differences, denominator, strata = case
    strata = strata if stratified else None
    test = exact(differences, denominator, strata=strata)
    check = monte_carlo(differences, denominator, strata=strata, resamples=20_000, seed=seed)
    for p, estimate in ((test.p_one_sided, check.p_one_sided), (test.p_other_side, check.p_other_side)):
        assert abs(estimate - p) <= 4 * math.sqrt(p * (1 - p) / 20_000) + 1 / 20_000
    assert test.low - 1e-12 <= test.difference <= test.high + 1e-12


@settings(deadline=None, max_examples=100)
@given(repeated_arms())
def test_one_stratum_is_no_stratum(case):
    differences, denominator, _ = case
    assert exact(differences, denominator, strata=["all"] * len(differences)) == exact(
        differences, denominator
    )


def test_strata_of_one_question_each_leave_nothing_to_chance():
    test = exact([1, 0, -1, 1], strata=[0, 1, 2, 3])
    assert (test.low, test.high, test.p_one_sided, test.p_other_side) == (0.25, 0.25, 0, 1)
    with pytest.raises(ValueError, match="strata"):
        exact([1, 0], strata=[0])


def test_too_fine_a_lattice_falls_back_on_resampling_and_says_so():
    fine = [int(d) for d in np.random.default_rng(0).integers(-(10**9), 10**9, 300)]
    test = paired_bootstrap(fine, 10**9, resamples=2000, seed=1)
    assert test == monte_carlo(fine, 10**9, resamples=2000, seed=1)
    assert test.resamples == 2000 and test.standard_error > 0
    assert paired_bootstrap([1, 0]).resamples == 0


def test_monte_carlo_repeats_with_its_seed_and_states_its_error():
    first, again, other = (monte_carlo([1, 1, 0, -1, 0], seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other
    p = first.p_one_sided
    assert first.standard_error == pytest.approx(math.sqrt(p * (1 - p) / 100_000))
    assert exact([1, 0]).standard_error == 0


@settings(deadline=None, max_examples=100)
@given(outcomes, st.integers(2, 7))
def test_copies_of_an_arm_as_repeats_change_nothing(differences, copies):
    assert exact([d * copies for d in differences], copies) == exact(differences)


@settings(deadline=None, max_examples=100)
@given(lattices)
def test_swapping_the_arms_mirrors_the_result(case):
    differences, denominator = case
    swapped = exact([-d for d in differences], denominator)
    mirrored = exact(differences, denominator).mirrored()
    assert (swapped.low, swapped.high, swapped.difference) == (
        mirrored.low,
        mirrored.high,
        mirrored.difference,
    )
    assert swapped.p_one_sided == pytest.approx(mirrored.p_one_sided, rel=1e-9)
    assert swapped.p_other_side == pytest.approx(mirrored.p_other_side, rel=1e-9)
    assert (swapped.wins, swapped.losses) == (mirrored.wins, mirrored.losses)


@settings(deadline=None, max_examples=200)
@given(outcomes)
def test_interval_leaves_zero_out_exactly_where_the_test_rejects(differences):
    test = exact(differences)
    if abs(test.p_two_sided - 0.05) > 1e-9:
        assert (test.low > 0 or test.high < 0) == (test.p_two_sided < 0.05)
    assert test.low <= test.difference <= test.high


def test_tens_of_thousands_of_questions_are_exact():
    n = 40_000
    test = exact(np.tile([1, 1, -1, 0], n // 4))
    assert test.p_one_sided < 1e-100
    balanced = exact(np.tile([1, -1, 0, 0], n // 4))
    assert balanced.p_one_sided + balanced.p_other_side == pytest.approx(
        1 + 1 / math.sqrt(2 * math.pi * n / 2), rel=1e-3
    )


def test_differences_too_fine_are_refused_not_approximated():
    differences = [int(d) for d in np.random.default_rng(0).integers(-(10**9), 10**9, 300)]
    with pytest.raises(LatticeTooFineError, match="use Monte Carlo"):
        exact(differences, 10**9)
    assert 0 < monte_carlo(differences, 10**9, resamples=2000).p_one_sided < 1
    with pytest.raises(LatticeTooFineError):
        exact([10**400, 1], 10**400)


def test_no_questions():
    with pytest.raises(ValueError, match="at least one question"):
        exact([])


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar(wins, losses):
    expected = binomtest(wins, wins + losses, 0.5).pvalue if wins + losses else 1
    assert exact_mcnemar(wins, losses) == expected
    assert exact_mcnemar(wins, losses) == pytest.approx(exact_mcnemar(losses, wins))


def test_mcnemar_known_value():
    assert exact_mcnemar(5, 1) == pytest.approx(14 / 64)


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []
    with pytest.raises(ValueError, match="p-values"):
        holm([0.1, math.nan])


def test_wilson():
    # Textbook value: 15 of 50.
    assert wilson(0.3, 50) == pytest.approx((0.1910, 0.4375), abs=1e-4)
    assert wilson(0, 29)[0] == 0
    assert wilson(1, 29)[1] == 1
    assert 0.1 < wilson(0, 29)[1] < 0.2
    with pytest.raises(ValueError, match="no interval"):
        wilson(math.nan, 3)


@settings(deadline=None)
@given(st.integers(1, 500), st.floats(0, 1))
def test_wilson_holds_its_point_and_agrees_with_scipy(n, share):
    wins = round(share * n)
    low, high = wilson(wins / n, n)
    reference = binomtest(wins, n).proportion_ci(method="wilson")
    assert 0 <= low <= wins / n <= high <= 1
    assert (low, high) == pytest.approx((reference.low, reference.high), abs=1e-9)


def test_percentile_intervals_of_an_accuracy():
    options = StatsOptions(interval="percentile")
    low, high = accuracy_interval([1] * 15 + [0] * 35, 1, options)
    assert (low, high) == (binom.ppf(0.025, 50, 0.3) / 50, binom.ppf(0.975, 50, 0.3) / 50)
    assert accuracy_interval([1] * 15 + [0] * 35, 1, options, [1] * 15 + [0] * 35) == (0.3, 0.3)
    assert accuracy_interval([3] * 15 + [0] * 35, 3, StatsOptions()) == wilson(0.3, 50)


def test_bca_is_seeded_and_shifts_against_the_skew():
    options = StatsOptions(interval="bca", resamples=5000, seed=1)
    low, high = accuracy_interval([1] * 3 + [0] * 47, 1, options)
    assert (low, high) == accuracy_interval([1] * 3 + [0] * 47, 1, options)
    percentile = accuracy_interval([1] * 3 + [0] * 47, 1, StatsOptions(interval="percentile"))
    assert low > percentile[0] and high > percentile[1]
    assert bca([1, 1], [0, 0], 1, options) == (1, 1)

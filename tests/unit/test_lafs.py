import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.report.lafs import lafs, lafs_gain
from lmev2.report.paper import read_paper, reference_frontier

points = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 400)), max_size=8)


@pytest.mark.parametrize(("tier", "score"), [("small", 55.765), ("medium", 51.074)])
def test_the_reference_frontiers(tier, score):
    assert lafs(reference_frontier(tier)) == pytest.approx(score, abs=5e-4)


@pytest.mark.parametrize(
    ("accuracy", "latency", "gain", "digits"),
    [
        (0.512, 0.2, 0.124, 5e-4),
        (0.55, 1, 2.485, 5e-4),
        (0.60, 0.5, 5.960, 5e-4),
        (0.80, 199.9, 0.000481, 5e-7),
    ],
)
def test_gains_on_the_small_frontier(accuracy, latency, gain, digits):
    assert lafs_gain(reference_frontier("small"), [(accuracy, latency)]) == pytest.approx(gain, abs=digits)


@pytest.mark.parametrize(("accuracy", "latency"), [(0.586, 26.9), (0.80, 200), (0.99, 500)])
def test_points_that_gain_nothing(accuracy, latency):
    assert lafs_gain(reference_frontier("small"), [(accuracy, latency)]) == 0


def test_edges():
    assert lafs([]) == 0
    assert lafs([(0.5, 0.0)]) == pytest.approx(50)  # no retrieval: within every budget
    assert lafs([(0.5, math.sqrt(200))]) == pytest.approx(25)  # half of the budgets on the log scale
    for wrong in [(1.2, 1), (0.5, -1), (0.5, math.nan), (math.nan, 1), (0.5, math.inf)]:
        with pytest.raises(ValueError, match="no operating point"):
            lafs([wrong])


@settings(deadline=None, max_examples=200)
@given(points)
def test_agrees_with_the_mean_over_many_budgets(case):
    budgets = np.exp((np.arange(4000) + 0.5) / 4000 * math.log(200))
    best = [max([a for a, s in case if s <= budget], default=0.0) for budget in budgets]
    assert lafs(case) == pytest.approx(100 * np.mean(best), abs=0.3)


@settings(deadline=None, max_examples=200)
@given(points, points)
def test_gain_is_never_negative_and_dominated_points_gain_nothing(reference, ours):
    assert lafs_gain(reference, ours) >= 0
    assert lafs_gain(reference + ours, ours) == pytest.approx(0, abs=1e-9)


def test_the_figures_of_the_paper_are_whole():
    assert len(read_paper("table2")) == 24
    assert {row["tier"] for row in read_paper("table2")} == {"small", "medium"}
    accuracies = ("overall", "static", "dynamic", "workflow", "gotchas")
    for name in ("table2", "figure4", "table6"):
        assert all(0 <= float(row[column]) <= 1 for row in read_paper(name) for column in accuracies)

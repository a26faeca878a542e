"""The answer core: never larger than need be, never worse than the paper's search, brute force agrees."""

from itertools import combinations

import numpy as np
from haystack_data import CORE, datasets, labels, question, trajectory
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.haystack.core import best_core, fewest, solve_core
from lmev2.haystack.cover import Cover, cover_of
from lmev2.haystack.evidence import read_domains
from lmev2.haystack.heuristic import greedy, improve, search


@st.composite
def covers(draw, most=7):
    """Small problems in which every hop has a candidate."""
    hops, trajectories = draw(st.integers(1, 6)), draw(st.integers(1, most))
    row = st.lists(st.booleans(), min_size=trajectories, max_size=trajectories).filter(any)
    numbers = st.lists(st.integers(-9, 0), min_size=trajectories, max_size=trajectories)
    outcomes = st.lists(st.sampled_from([1, -1, 0]), min_size=trajectories, max_size=trajectories)
    return Cover(
        serves=np.array(draw(st.lists(row, min_size=hops, max_size=hops))),
        cost=np.array(draw(numbers)),
        outcomes=np.array(draw(outcomes)),
        imbalance=draw(st.integers(0, 5)),
        ties=-np.array(draw(numbers)),
    )


def brute_force(cover):
    """The least value of all choices that serve every hop."""
    places = range(cover.serves.shape[1])
    choices = (list(c) for size in range(len(places) + 1) for c in combinations(places, size))
    return min(cover.value(choice) for choice in choices if cover.covers(choice))


@settings(deadline=None, max_examples=40)
@given(covers())
def test_the_programme_finds_the_minimum(cover):
    plain = greedy(cover, np.ones(len(cover.cost)))
    core = best_core(cover, plain, 1000)
    assert cover.covers(core.members)
    assert cover.value(core.members) == brute_force(cover)
    assert core.is_optimal and core.gap == 0
    assert len(core.members) <= len(plain) == core.heuristic


@settings(deadline=None, max_examples=25)
@given(covers(most=12), st.integers(0, 2))
def test_the_search_covers_and_improves(cover, seed):
    start = greedy(cover, np.ones(len(cover.cost)))
    better = improve(cover, start)
    found = search(cover, 3, seed)
    assert cover.covers(start) and cover.covers(better) and cover.covers(found)
    assert cover.value(found) <= cover.value(better) <= cover.value(start)
    assert found == search(cover, 3, seed)
    served = cover.serves[:, better].sum(axis=1)
    assert all((served[cover.serves[:, member]] == 1).any() for member in better)  # nobody is to spare


@settings(deadline=None, max_examples=8)
@given(datasets())
def test_each_question_has_the_fewest_trajectories_of_the_core(data):
    for domain in read_domains(*data):
        core, selected = solve_core(domain, CORE, 0)
        for group in domain.groups:
            rows = [row for row, hop in enumerate(domain.hops) if hop.question_id in group.questions]
            assert set(selected[group.anchor]) <= set(core.members)
            assert all(domain.serves[row][selected[group.anchor]].any() for row in rows)
            within = cover_of(domain, CORE["preferences"], 0).within(np.array(rows), core.members)
            assert len(selected[group.anchor]) == brute_force(within)[0]


def test_local_search_leaves_a_greedy_trap():
    """Greedy takes the middle and needs three; the two halves are enough."""
    serves = np.zeros((6, 3), bool)
    serves[[1, 2, 3, 4], 0] = serves[:3, 1] = serves[3:, 2] = True
    cover = Cover(serves, np.zeros(3, int), np.zeros(3, int), 0, np.arange(3))
    assert greedy(cover, np.ones(3)) == [0, 1, 2]
    assert improve(cover, [0, 1, 2]) == [1, 2]


def test_local_search_puts_one_in_the_place_of_two():
    serves = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]], bool)
    cover = Cover(serves, np.zeros(3, int), np.zeros(3, int), 0, np.arange(3))
    assert improve(cover, [0, 1]) == [2]


def test_preferences_decide_among_equal_sizes():
    """t1 serves more hops than t0; with balance alone the failure is taken beside the success."""
    coverage = [*labels("q1", ["t0", "t1"]), *labels("q2", ["t1", "t2"], ["t2"]), *labels("q3", ["t3", "t4"])]
    pool = [trajectory("t0"), trajectory("t1"), trajectory("t2")]
    pool += [trajectory("t3"), trajectory("t4", outcome="failure")]
    (domain,) = read_domains([question(f"q{i}") for i in (1, 2, 3)], coverage, pool)

    def members(**preferences):
        weights = {"reach": 0, "scarcity": 0, "balance": 0, **preferences}
        core, _ = solve_core(domain, {**CORE, "preferences": weights}, 0)
        assert core.is_optimal
        return [domain.ids[member] for member in core.members]

    assert "t1" in members(reach=1)
    assert "t4" in members(balance=1)
    assert len(members()) == 3


def test_one_trajectory_for_all_hops_of_a_question():
    serves = np.array([[1, 0, 1], [0, 1, 1]], bool)
    cover = Cover(serves, np.array([-9, -9, 0]), np.zeros(3, int), 0, np.zeros(3, int))
    assert fewest(cover, 10) == [2]


def test_without_nodes_the_search_stands_in():
    """What the solver says of a reached limit is understood."""
    chance = np.random.default_rng(1)
    serves = chance.random((60, 60)) < 0.08
    serves[~serves.any(axis=1), 0] = True
    cover = Cover(serves, np.zeros(60, int), np.zeros(60, int), 0, np.arange(60))
    plain = search(cover, 0, 0)
    core = best_core(cover, plain, 0)
    assert core.members == plain
    assert (core.least, core.least_cost, core.is_smallest) == (1, None, False)
    assert core.gap == 1 - 1 / len(plain)
    assert len(best_core(cover, plain, 1).members) < len(
        plain
    )  # here one node is enough to find a better one

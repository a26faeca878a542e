import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_data import make_trajectories, slice_entry, write_pool

from lmev2.memory.view import HaystackView, Pool


def unit(*values: float) -> list[float]:
    vector = np.array(values, np.float32)
    return (vector / np.linalg.norm(vector)).tolist()


@pytest.fixture
def pool(tmp_path):
    """Trajectories a (2 states), b (1 state), c (2 states); c/1 has no vector."""
    entries = [slice_entry("a", 0, 1), slice_entry("a", 1, 1), slice_entry("b", 0, 0), slice_entry("c", 0, 1)]
    entries.append(slice_entry("c", 1, 1))
    vectors = np.array([unit(1, 0), unit(0, 1), unit(1, 1)], np.float32)
    return Pool(*write_pool(tmp_path, "slices", entries, [[0], [1, 0], [2], [0], []], vectors), best=2)


def found(pool, haystack, query, k):
    return [(hit.entry["entry_id"], round(hit.score, 3)) for hit in pool.select(haystack).search(query, k)]


def test_a_view_searches_its_haystack_only(pool):
    query = np.array(unit(1, 0), np.float32)
    assert found(pool, ["b"], query, 5) == [("b/0", 0.707)]
    assert found(pool, ["a", "b", "c"], query, 2) == [("a/0", 1.0), ("c/0", 1.0)]


def test_ties_go_to_the_earlier_haystack_position(pool):
    query = np.array(unit(1, 0), np.float32)
    assert found(pool, ["c", "b", "a"], query, 2) == [("c/0", 1.0), ("a/0", 1.0)]


def test_an_entry_is_scored_by_the_mean_of_its_best_vectors(pool):
    assert ("a/1", 0.5) in found(pool, ["a"], np.array(unit(1, 0), np.float32), 5)


def test_an_entry_without_vector_is_never_found_and_k_may_exceed_the_haystack(pool):
    assert [entry for entry, _ in found(pool, ["c"], np.array(unit(0, 1), np.float32), 9)] == ["c/0"]


def test_a_trajectory_without_entries_adds_nothing(pool):
    assert len(pool.select(["nothing", "b"])) == 1
    assert pool.select([]).search(np.array(unit(0, 1), np.float32), 3) == []


def test_where_keeps_entries_with_a_value(pool):
    assert pool.select(["a", "c"]).where("centre_state", 1).column("entry_id") == ["a/1", "c/1"]


def test_digests_are_per_trajectory_and_of_entries_and_vectors(pool, tmp_path):
    assert pool.digest("a") != pool.digest("b")
    assert pool.digest("unknown") == ""
    entries = [slice_entry("a", 0, 1), slice_entry("a", 1, 1)]
    vectors = np.array([unit(1, 0), unit(0, 1)], np.float32)
    alone = Pool(*write_pool(tmp_path / "alone", "slices", entries, [[0], [1, 0]], vectors), best=2)
    assert alone.digest("a") == pool.digest("a")  # other trajectories do not matter
    other = Pool(*write_pool(tmp_path / "other", "slices", entries, [[0], [1]], vectors), best=2)
    assert other.digest("a") != pool.digest("a")


def test_files_that_do_not_fit_are_refused(tmp_path):
    entries = [slice_entry("a", 0, 0)]
    paths = write_pool(tmp_path, "slices", entries, [[0]], np.array([unit(1, 0)], np.float32))
    others = write_pool(
        tmp_path / "b", "slices", [slice_entry("b", 0, 0)], [[0]], np.array([unit(1, 0)], np.float32)
    )
    with pytest.raises(ValueError, match="does not hold the entries of"):
        Pool(paths[0], others[1], paths[2], best=1)


def test_a_haystack_view_gives_its_own_trajectories_only(tmp_path):
    trajectories = make_trajectories(tmp_path, {"a": ["tree"], "b": ["tree", "tree"]})
    view = HaystackView(["b"], trajectories, {})
    assert [state.index for state in view.trajectory("b").states] == [0, 1]
    with pytest.raises(KeyError, match="not in this haystack"):
        view.trajectory("a")


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_search_is_the_full_ranking(tmp_path_factory, data):
    n = data.draw(st.integers(1, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    vectors = rng.integers(-2, 3, (6, 3)).astype(np.float32) + np.float32(0.5)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lists = [data.draw(st.lists(st.integers(0, 5), max_size=4, unique=True)) for _ in range(n)]
    names = [f"t{row // 3}" for row in range(n)]
    entries = [{**slice_entry(name, row, n), "entry_id": str(row)} for row, name in enumerate(names)]
    best = data.draw(st.integers(1, 3))
    pool = Pool(*write_pool(tmp_path_factory.mktemp("pool"), "slices", entries, lists, vectors), best=best)
    haystack = data.draw(st.permutations(sorted(set(names))))
    query = vectors[0]
    scored = []
    for position, name in enumerate(haystack):
        for row in range(n):
            if names[row] == name and lists[row]:
                scores = sorted((float(np.vecdot(vectors[v], query)) for v in lists[row]), reverse=True)[
                    :best
                ]
                scored.append((-round(sum(scores) / len(scores), 5), position, row))
    k = data.draw(st.integers(0, n + 2))
    hits = pool.select(haystack).search(query, k)
    assert len(hits) == min(k, len(scored))
    expected = {row: -score for score, _, row in scored}
    assert [hit.score for hit in hits] == pytest.approx(
        [-score for score, _, _ in sorted(scored)[:k]], abs=1e-4
    )
    assert all(abs(expected[int(hit.entry["entry_id"])] - hit.score) < 1e-4 for hit in hits)

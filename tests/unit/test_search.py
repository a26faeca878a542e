import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.memory.search import mean_of_best, row_scores, top_k


def entry_scores(query, vectors, starts=None, rows=None, best=5):
    """Scores as a haystack's view makes them."""
    rows = np.arange(len(vectors)) if rows is None else rows
    distinct, positions = np.unique(rows, return_inverse=True)
    scores = row_scores(query, vectors, distinct)[positions]
    return scores if starts is None else mean_of_best(scores, starts, best)


def _unit(rng, *shape):
    vectors = rng.normal(size=shape).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


_scores = st.lists(
    st.one_of(st.sampled_from([0.5, 0.25, -0.0, 0.0, float("-inf")]), st.floats(-1, 1, width=32)), max_size=40
)


@settings(deadline=None, max_examples=300)
@given(_scores, st.integers(0, 45))
def test_top_k_is_the_head_of_the_full_ranking(scores, k):
    ranked = sorted(
        (row for row, score in enumerate(scores) if score > float("-inf")),
        key=lambda row: (-scores[row], row),
    )
    assert top_k(np.array(scores, dtype=np.float32), k).tolist() == ranked[:k]


def test_eight_equal_scores_keep_their_order():
    assert top_k(np.full(8, 0.3, dtype=np.float32), 6).tolist() == [0, 1, 2, 3, 4, 5]


def test_k_beyond_the_haystack_gives_all_of_it():
    assert top_k(np.array([0.1, 0.3, -np.inf, 0.2]), 100).tolist() == [1, 3, 0]


def test_nan_and_negative_k_are_refused():
    with pytest.raises(ValueError, match="score 1 of 2 is NaN"):
        top_k(np.array([0.1, np.nan]), 1)
    with pytest.raises(ValueError, match="-1"):
        top_k(np.array([0.1]), -1)


@pytest.mark.parametrize("dimension", [3, 256, 1000, 1024, 4096])
def test_identical_vectors_get_identical_scores_wherever_they_stand(dimension):
    # 1000 is a dimension at which a matrix-vector product fails this.
    rng = np.random.default_rng(1)
    vectors, query = _unit(rng, 1000, dimension), _unit(rng, dimension)
    same = rng.choice(1000, size=100, replace=False)
    vectors[same] = vectors[0]
    scores = {
        score
        for first in range(4)
        for score in entry_scores(query, vectors[first:])[same[same >= first] - first].tolist()
    }
    assert len(scores) == 1
    assert scores.pop() == pytest.approx(vectors[0] @ query, abs=1e-6)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.integers(0, 9), max_size=7), max_size=8), st.integers(1, 4), st.integers(0, 5))
def test_entry_scores_are_the_mean_of_the_best(entries, best, seed):
    rng = np.random.default_rng(seed)
    vectors, query = _unit(rng, 10, 8), _unit(rng, 8)
    rows = np.array([row for entry in entries for row in entry], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(entry) for entry in entries], dtype=np.int64)])
    cosines = vectors.astype(np.float64) @ query
    expected = [
        np.mean(sorted(cosines[entry], reverse=True)[:best]) if entry else -np.inf for entry in entries
    ]
    found = entry_scores(query, vectors, starts, rows, best)
    assert found.shape == (len(entries),)
    assert found.tolist() == pytest.approx(expected, abs=1e-5)
    # Equal sets of vectors tie exactly, in any order of their vectors.
    for entry, score in zip(entries, found, strict=True):
        shuffled = rng.permutation(np.array(entry, dtype=np.int64))
        assert entry_scores(query, vectors, np.array([0, len(entry)]), shuffled, best)[0] == score


def test_without_an_index_the_positions_are_rows():
    rng = np.random.default_rng(0)
    vectors, query = _unit(rng, 6, 4), _unit(rng, 4)
    starts = np.array([0, 2, 2, 6])
    with_index = entry_scores(query, vectors, starts, np.arange(6), 2)
    assert (entry_scores(query, vectors, starts, best=2) == with_index).all()
    assert with_index[1] == -np.inf
    assert 1 not in top_k(with_index, 3)


def test_a_haystack_without_vectors():
    nothing = np.zeros((0, 4), dtype=np.float32)
    query = np.ones(4, dtype=np.float32)
    assert entry_scores(query, nothing, np.array([0, 0, 0])).tolist() == [-np.inf, -np.inf]
    assert top_k(entry_scores(query, nothing), 6).tolist() == []


@settings(deadline=None, max_examples=100)
@given(st.sets(st.integers(0, 199)), st.sampled_from([1, 256, 4096, 10_000]))
def test_rows_scored_in_place_score_as_copied_ones(rows, dimensions):
    vectors = _unit(np.random.default_rng(0), 200, dimensions)
    rows = np.array(sorted(rows), dtype=np.int64)
    query = vectors[7]
    assert (row_scores(query, vectors, rows) == np.vecdot(vectors[rows], query)).all()

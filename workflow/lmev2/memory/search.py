"""Exact nearest-neighbour search over the entries of one haystack.

A haystack is a view: the caller selects its entries' vectors, in haystack order (position of the
trajectory, then state index), and that order breaks ties.
"""

import numpy as np

# How many of an entry's most similar vectors make its score; measured in docs/embeddings.md.
BEST_CHUNKS = 5


def entry_scores(
    query: np.ndarray,
    vectors: np.ndarray,
    starts: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    best: int = BEST_CHUNKS,
) -> np.ndarray:
    """Cosine score of every entry: the mean over its `best` most similar vectors.

    Identical vectors get bit-identical scores, wherever they stand and however many threads run:
    each row is its own dot product. A matrix-vector product would not do, it sums the rows of a block
    and those at its edge in different orders.

    Args:
        query: float32 [d], L2-normalised.
        vectors: float32 [m, d], L2-normalised, C-contiguous.
        starts: int [n + 1], entry i owns positions `starts[i]` to `starts[i + 1]` (exclusive) of
            `rows`; None if every entry has exactly one vector (n = m).
        rows: int, the row of `vectors` at each position, so that a text that occurs in several
            entries is stored and scored once; None if positions are rows.
        best: an entry with fewer vectors is scored by all it has, one with none gets -inf.

    Returns:
        float32 [n].
    """
    scores = np.vecdot(vectors, query)
    if rows is not None:
        scores = scores[rows]
    if starts is None:
        return scores
    return _mean_of_best(scores, np.asarray(starts), best)


def _mean_of_best(scores: np.ndarray, starts: np.ndarray, best: int) -> np.ndarray:
    """Mean of the `best` highest scores of each segment, -inf for empty segments."""
    lengths = np.diff(starts)
    result = np.full(len(lengths), -np.inf, dtype=np.float32)
    filled = lengths > 0
    if not filled.any():
        return result
    # `reduceat` takes no empty segments; without them the starts delimit the same segments.
    starts, lengths = starts[:-1][filled], lengths[filled]
    remaining = scores[starts[0] : starts[-1] + lengths[-1]].astype(np.float32)
    starts = starts - starts[0]
    positions = np.arange(len(remaining))
    total = np.zeros(len(starts), dtype=np.float32)
    for taken in range(best):
        # The highest score that is left in each segment, added in falling order for equal sums.
        highest = np.maximum.reduceat(remaining, starts)
        total += np.where(lengths > taken, highest, 0)
        is_highest = remaining == np.repeat(highest, lengths)
        first = np.minimum.reduceat(np.where(is_highest, positions, len(positions) - 1), starts)
        remaining[first] = -np.inf
    result[filled] = total / np.minimum(lengths, best)
    return result


def top_k(scores: np.ndarray, k: int) -> np.ndarray:
    """Row numbers of the `k` highest scores: descending score, then row number.

    Rows with -inf (entries without a vector) never rank; with fewer than `k` others all of them are
    returned.

    Raises:
        ValueError: a score is NaN, or k is negative.
    """
    if k < 0:
        raise ValueError(f"k must not be negative, it is {k}")
    if np.isnan(scores).any():
        raise ValueError(f"score {int(np.isnan(scores).argmax())} of {len(scores)} is NaN")
    candidates = np.flatnonzero(scores > -np.inf)
    if 0 < k < len(candidates):
        threshold = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k]
        candidates = candidates[scores[candidates] >= threshold]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]

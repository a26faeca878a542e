"""Exact nearest-neighbour search over the entries of one haystack.

A haystack is a view: the caller selects its entries' vectors, in haystack order (position of the
trajectory, then state index), and that order breaks ties.
"""

import numpy as np

# How many of an entry's most similar vectors make its score; measured in docs/embedded-models.md.
BEST_CHUNKS = 5
# A call of numpy costs about as much time as so many products of a dot product.
_PRODUCTS_PER_CALL = 8192


def row_scores(query: np.ndarray, vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Cosine score of some rows of a pool's matrix, read in place.

    A haystack is a few hundred runs of neighbouring rows; copying them out (230 MB for 14,000 slices of
    4,096 dimensions) would take longer than scoring them. Small gaps are scored along: a call costs
    about as much as a few thousand products.

    Args:
        query: float32 [d], L2-normalised.
        vectors: float32 [m, d], L2-normalised, C-contiguous.
        rows: int [n], rising, without duplicates.

    Returns:
        float32 [n]. Identical vectors get bit-identical scores, wherever they stand and however many
        threads run: each row is its own dot product. A matrix-vector product would not do, it sums the
        rows of a block and those at its edge in different orders.
    """
    if not len(rows):
        return np.zeros(0, np.float32)
    gap = 1 + _PRODUCTS_PER_CALL // max(1, vectors.shape[1])
    breaks = np.flatnonzero(np.diff(rows) > gap) + 1
    firsts = [0, *breaks.tolist()]
    lasts = [*breaks.tolist(), len(rows)]
    scores = np.empty(len(rows), np.float32)
    for first, last in zip(firsts, lasts, strict=True):
        start = rows[first]
        span = np.vecdot(vectors[start : rows[last - 1] + 1], query)
        scores[first:last] = span if len(span) == last - first else span[rows[first:last] - start]
    return scores


def mean_of_best(scores: np.ndarray, starts: np.ndarray, best: int = BEST_CHUNKS) -> np.ndarray:
    """Score of every entry: the mean over its `best` most similar vectors.

    Args:
        scores: float32 [m], one a vector.
        starts: int [n + 1], entry i owns positions `starts[i]` to `starts[i + 1]` (exclusive) of `scores`.
        best: an entry with fewer vectors is scored by all it has, one with none gets -inf.

    Returns:
        float32 [n].
    """
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

"""Holm's correction for several comparisons."""

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm-adjusted p-values, in the given order.

    The k-th smallest of m values is multiplied by m - k + 1; the adjusted values never fall as the
    raw ones rise and are at most 1. Rejecting those below alpha keeps the chance of any false claim
    in the family at alpha, whatever the dependence between the tests.

    Raises:
        ValueError: a value is not in [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"p-values must be in [0, 1]: {list(p_values)}")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted.tolist()

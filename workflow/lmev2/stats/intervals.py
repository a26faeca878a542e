"""Confidence intervals for accuracies."""

import math

from scipy.stats import norm

from lmev2.stats.bootstrap import CONFIDENCE


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

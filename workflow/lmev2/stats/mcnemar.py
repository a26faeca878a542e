"""McNemar's exact test."""

from scipy.stats import binomtest


def exact_mcnemar(wins: int, losses: int) -> float:
    """Two-sided p-value of McNemar's exact test (binomial, 1/2, over the discordant questions).

    With repeats, `wins` and `losses` count the questions whose score, averaged over the repeats, is
    higher in one arm than in the other. The test is then the sign test on these questions; equal
    averages are left out as concordant pairs are. With one repeat the two tests are the same.

    Args:
        wins: questions where the first arm scores higher.
        losses: questions where the second arm does.
    """
    discordant = wins + losses
    return float(binomtest(wins, discordant, 0.5).pvalue) if discordant else 1.0

"""The config's `stats` section as one value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lmev2.stats.bootstrap import CONFIDENCE, RESAMPLES


@dataclass(frozen=True)
class StatsOptions:
    """How arms are estimated, compared and marked; the defaults are the paper's (docs/statistics.md).

    Attributes:
        alpha: level of the marks.
        confidence: level of all intervals.
        sidedness: "one_sided" (A is better) or "two_sided": which p-value decides a mark.
        correction: "none" or "holm": whether that p-value is Holm-adjusted.
        interval: "wilson", "percentile" (exact bootstrap) or "bca" for accuracies. Differences have the
            exact percentile interval, or with "bca" that one.
        resamples: of what cannot be computed exactly.
        seed: of the resamples.
        stratify: columns of the scores ("domain", "question_type"): questions are resampled within
            their stratum; none by default.
    """

    alpha: float = 0.05
    confidence: float = CONFIDENCE
    sidedness: str = "one_sided"
    correction: str = "none"
    interval: str = "wilson"
    resamples: int = RESAMPLES
    seed: int = 0
    stratify: tuple[str, ...] = ()

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> "StatsOptions":
        """From the config's `stats` section, or those of its keys that a stage needs."""
        return cls(**{**section, "stratify": tuple(section.get("stratify", ()))})

    def decides(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of `significance` says that the method beats the baseline."""
        if self.correction == "holm":
            p = row["p_holm"]
        else:
            p = row["p_one_sided"] if self.sidedness == "one_sided" else row["p_two_sided"]
        return row["difference"] > 0 and p < self.alpha

    def describe(self) -> str:
        """The test behind the marks, in words."""
        sides = self.sidedness.replace("_", "-")
        correction = "Holm-corrected" if self.correction == "holm" else "uncorrected"
        strata = f", stratified by {' and '.join(self.stratify)}" if self.stratify else ""
        return (
            f"exact paired bootstrap over questions{strata}, {sides}, p < {self.alpha:g}, {correction}"
        ).replace("question_type", "question type")


DEFAULTS = StatsOptions()

"""Every arm against every other: paired tests per tier, subset and column."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lmev2.stats.bootstrap import PairedBootstrap, paired_bootstrap
from lmev2.stats.columns import COLUMNS
from lmev2.stats.holm import holm
from lmev2.stats.intervals import bca
from lmev2.stats.mcnemar import exact_mcnemar
from lmev2.stats.options import DEFAULTS, StatsOptions
from lmev2.stats.scores import connect, list_ids, name_arm
from lmev2.store import read_table, write_table

Arm = tuple[str, str]  # method, operating point

_TOTALS = """
SELECT tier, method, operating_point, question_id, ability, domain, question_type, abstention, judged,
       sum(score)::INT AS total, count(*)::INT AS repeats, bool_or(status <> 'ok') AS failed
FROM scores
GROUP BY ALL
ORDER BY tier, method, operating_point, question_id
"""


@dataclass(frozen=True)
class _Answers:
    """What one arm scored, in the tier's order of questions."""

    units: npt.NDArray[np.int64]  # score times the tier's denominator
    failed: npt.NDArray[np.bool_]  # a status other than "ok" in any repeat

    def take(self, chosen: npt.NDArray[np.bool_]) -> "_Answers":
        return _Answers(self.units[chosen], self.failed[chosen])


def tabulate_significance(
    scores: str | Path,
    methods: Sequence[Mapping[str, Any]],
    out: str | Path,
    options: StatsOptions = DEFAULTS,
) -> None:
    """Write the `significance` table.

    In the subset "all" it has all ordered pairs of arms, per tier and column; in the other subsets of
    the `accuracy` table only the pairs that count for a mark.

    A pair counts for the method's mark (`is_family_baseline`) where the baseline is another method of
    the same family, at its default operating point, and no ablation. `p_holm` adjusts the p-values of an
    arm against these baselines (of the sidedness in `options`) together over all baselines and columns
    of a tier and subset: they are the claims that one row of Table 2 makes. It is null for other pairs.

    Args:
        scores: the `scores` file.
        methods: one mapping an arm: `id`, `operating_point`, `family`, `ablation_of` (None if none);
            those with `labels` are left out (they know the evidence, and have fewer questions).
        out: the `significance` file, in the order of `methods` within tier, subset and column.
        options: sidedness, intervals, strata, resamples.

    Raises:
        ValueError: an arm of the scores is not in `methods`, or two arms of a tier answered different
            questions (the ids are named).
    """
    with connect(scores=read_table(scores)) as db:
        totals = db.sql(_TOTALS).to_arrow_table().to_pylist()
    arms: dict[Arm, Mapping[str, Any]] = {(m["id"], m["operating_point"]): m for m in methods}
    pilots = {arm for arm, method in arms.items() if method.get("labels")}
    tiers: dict[str, dict[Arm, list[dict[str, Any]]]] = {}
    for row in totals:
        arm = (row["method"], row["operating_point"])
        if arm in pilots:
            continue
        if arm not in arms:
            raise ValueError(f"the scores have an arm that the config does not know: {name_arm(*arm)}")
        tiers.setdefault(row["tier"], {}).setdefault(arm, []).append(row)
    rows = []
    for tier, found in tiers.items():
        _check_same_questions(tier, found)
        ordered = {arm: found[arm] for arm in arms if arm in found}
        rows += _compare_tier(tier, ordered, arms, options)
    write_table("significance", rows, out)


def is_family_baseline(method: Mapping[str, Any], baseline: Mapping[str, Any]) -> bool:
    """Whether beating `baseline` counts for the mark of `method` in Table 2."""
    return (
        method["family"] == baseline["family"]
        and method["id"] != baseline["id"]
        and baseline["operating_point"] == ""
        and not baseline["ablation_of"]
    )


def _check_same_questions(tier: str, answers: Mapping[Arm, list[dict[str, Any]]]) -> None:
    questions = {arm: {row["question_id"] for row in rows} for arm, rows in answers.items()}
    first, *others = questions
    for other in others:
        if questions[other] != questions[first]:
            raise ValueError(
                f"tier {tier}: {name_arm(*first)} and {name_arm(*other)} answered different questions, "
                f"so they cannot be compared; only the first: "
                f"{list_ids(list(questions[first] - questions[other])) or 'none'}; only the second: "
                f"{list_ids(list(questions[other] - questions[first])) or 'none'}"
            )


def _compare_tier(
    tier: str,
    found: Mapping[Arm, list[dict[str, Any]]],
    arms: Mapping[Arm, Mapping[str, Any]],
    options: StatsOptions,
) -> list[dict[str, Any]]:
    # Whole numbers: a score averaged over r repeats is k/r, and all r divide the denominator.
    denominator = math.lcm(*(row["repeats"] for rows in found.values() for row in rows))
    answers = {
        arm: _Answers(
            np.array([row["total"] * (denominator // row["repeats"]) for row in rows]),
            np.array([row["failed"] for row in rows]),
        )
        for arm, rows in found.items()
    }
    questions = next(iter(found.values()))
    abilities = np.array([question["ability"] for question in questions])
    strata = np.array(["\t".join(question[key] for key in options.stratify) for question in questions])
    rows = []
    for subset, in_subset in _subsets(questions).items():
        claims: dict[Arm, list[dict[str, Any]]] = {arm: [] for arm in found}
        for column in COLUMNS:
            chosen = in_subset & ((abilities == column) | (column == "overall"))
            if not chosen.any():
                continue
            comparison = _Comparison(
                {arm: mine.take(chosen) for arm, mine in answers.items()},
                strata[chosen] if options.stratify else None,
                denominator,
                options,
            )
            for arm, baseline in permutations(found, 2):
                counts = is_family_baseline(arms[arm], arms[baseline])
                if subset != "all" and not counts:
                    continue
                row = {
                    "method": arm[0],
                    "operating_point": arm[1],
                    "baseline": baseline[0],
                    "baseline_operating_point": baseline[1],
                    "tier": tier,
                    "subset": subset,
                    "column": column,
                    "is_family_baseline": counts,
                    **comparison.row(arm, baseline),
                    "p_holm": None,
                }
                rows.append(row)
                if counts:
                    claims[arm].append(row)
        for family in claims.values():
            kind = f"p_{options.sidedness}"
            for row, p in zip(family, holm([row[kind] for row in family]), strict=True):
                row["p_holm"] = p
    return rows


def _subsets(questions: Sequence[Mapping[str, Any]]) -> dict[str, npt.NDArray[np.bool_]]:
    """The subsets of the `accuracy` table that have questions, as masks."""
    domain = np.array([question["domain"] for question in questions])
    abstention = np.array([question["abstention"] for question in questions])
    judged = np.array([question["judged"] for question in questions])
    subsets = {
        "all": np.full(len(questions), True),
        "judge_free": ~judged,
        "abstention": abstention,
        "answerable": ~abstention,
        **{f"domain={name}": domain == name for name in sorted(set(domain.tolist()))},
    }
    return {name: mask for name, mask in subsets.items() if mask.any()}


class _Comparison:
    """The paired tests between arms over the same questions; a pair is tested once, in one direction."""

    def __init__(
        self,
        answers: Mapping[Arm, _Answers],
        strata: npt.NDArray | None,
        denominator: int,
        options: StatsOptions,
    ) -> None:
        self._answers = answers
        self._strata = strata
        self._denominator = denominator
        self._options = options
        self._tests: dict[tuple[Arm, Arm], PairedBootstrap] = {}
        self._tests_without: dict[tuple[Arm, Arm], PairedBootstrap] = {}

    def row(self, arm: Arm, baseline: Arm) -> dict[str, Any]:
        """The columns of `significance` that come from the scores."""
        a, b = self._answers[arm], self._answers[baseline]
        test = self._test(self._tests, arm, baseline, np.full(len(a.units), True))
        sound = ~(a.failed | b.failed)
        without = self._test(self._tests_without, arm, baseline, sound) if sound.any() else None
        low, high = test.low, test.high
        if self._options.interval == "bca":
            low, high = bca(a.units, b.units, self._denominator, self._options)
        mean_a, mean_b = (float(mine.units.mean()) / self._denominator for mine in (a, b))
        return {
            "n": test.n,
            "difference": test.difference,
            "low": low,
            "high": high,
            "p_one_sided": test.p_one_sided,
            "p_two_sided": test.p_two_sided,
            "resamples": test.resamples,
            "p_standard_error": test.standard_error,
            "p_mcnemar": exact_mcnemar(test.wins, test.losses),
            "wins": test.wins,
            "losses": test.losses,
            "cohens_h": 2 * (math.asin(math.sqrt(mean_a)) - math.asin(math.sqrt(mean_b))),
            "odds_ratio": test.wins / test.losses if test.losses else None,
            "errors": int((~sound).sum()),
            "difference_without_errors": without.difference if without else None,
            "low_without_errors": without.low if without else None,
            "high_without_errors": without.high if without else None,
            "p_one_sided_without_errors": without.p_one_sided if without else None,
            "p_two_sided_without_errors": without.p_two_sided if without else None,
        }

    def _test(
        self,
        done: dict[tuple[Arm, Arm], PairedBootstrap],
        arm: Arm,
        baseline: Arm,
        chosen: npt.NDArray[np.bool_],
    ) -> PairedBootstrap:
        if done is self._tests_without and chosen.all():
            return self._tests[arm, baseline]
        if (arm, baseline) not in done:
            differences = self._answers[arm].units[chosen] - self._answers[baseline].units[chosen]
            test = paired_bootstrap(
                differences,
                self._denominator,
                self._options.confidence,
                strata=None if self._strata is None else self._strata[chosen].tolist(),
                resamples=self._options.resamples,
                seed=self._options.seed,
            )
            done[arm, baseline], done[baseline, arm] = test, test.mirrored()
        return done[arm, baseline]

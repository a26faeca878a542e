"""Every arm against every other: paired tests per tier and column."""

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lmev2.stats.accuracy import COLUMNS
from lmev2.stats.bootstrap import PairedBootstrap, exact
from lmev2.stats.holm import holm
from lmev2.stats.mcnemar import exact_mcnemar
from lmev2.stats.scores import connect, list_ids, name_arm
from lmev2.store import read_table, write_table

Arm = tuple[str, str]  # method, operating point

_TOTALS = """
SELECT tier, method, operating_point, question_id, ability, sum(score)::INT AS total, count(*)::INT AS repeats
FROM scores
GROUP BY tier, method, operating_point, question_id, ability
ORDER BY tier, method, operating_point, question_id
"""


def tabulate_significance(scores: str | Path, methods: Sequence[Mapping[str, Any]], out: str | Path) -> None:
    """Write the `significance` table: all ordered pairs of arms, per tier and column.

    A pair counts for the method's mark (`is_family_baseline`) where the baseline is another method of
    the same family, at its default operating point, and no ablation. `p_holm` adjusts the one-sided
    p-values of an arm against these baselines together over all baselines and columns of a tier: they
    are the claims that one row of Table 2 makes. It is null for other pairs.

    Args:
        scores: the `scores` file.
        methods: one mapping an arm: `id`, `operating_point`, `family`, `ablation_of` (None if none).
        out: the `significance` file, in the order of `methods` within tier and column.

    Raises:
        ValueError: an arm of the scores is not in `methods`, or two arms of a tier answered different
            questions (the ids are named).
    """
    with connect(scores=read_table(scores)) as db:
        totals = db.sql(_TOTALS).to_arrow_table().to_pylist()
    arms: dict[Arm, Mapping[str, Any]] = {(m["id"], m["operating_point"]): m for m in methods}
    tiers: dict[str, dict[Arm, list[dict[str, Any]]]] = {}
    for row in totals:
        arm = (row["method"], row["operating_point"])
        if arm not in arms:
            raise ValueError(f"the scores have an arm that the config does not know: {name_arm(*arm)}")
        tiers.setdefault(row["tier"], {}).setdefault(arm, []).append(row)
    rows = []
    for tier, answers in tiers.items():
        _check_same_questions(tier, answers)
        rows += _compare_tier(tier, [arm for arm in arms if arm in answers], arms, answers)
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
    order: list[Arm],
    arms: Mapping[Arm, Mapping[str, Any]],
    answers: Mapping[Arm, list[dict[str, Any]]],
) -> list[dict[str, Any]]:
    # Whole numbers: a score averaged over r repeats is k/r, and all r divide the denominator.
    denominator = math.lcm(*(row["repeats"] for rows in answers.values() for row in rows))
    units = {
        arm: np.array([row["total"] * (denominator // row["repeats"]) for row in answers[arm]])
        for arm in order
    }
    ability = np.array([row["ability"] for row in answers[order[0]]])
    rows = []
    for column in COLUMNS:
        member = np.full(len(ability), True) if column == "overall" else ability == column
        if not member.any():
            continue
        tests = _compare_all({arm: units[arm][member] for arm in order}, denominator)
        for arm, baseline in permutations(order, 2):
            test = tests[arm, baseline]
            rows.append(
                {
                    "method": arm[0],
                    "operating_point": arm[1],
                    "baseline": baseline[0],
                    "baseline_operating_point": baseline[1],
                    "tier": tier,
                    "column": column,
                    "is_family_baseline": is_family_baseline(arms[arm], arms[baseline]),
                    "n": test.n,
                    "difference": test.difference,
                    "low": test.low,
                    "high": test.high,
                    "p_one_sided": test.p_one_sided,
                    "p_two_sided": test.p_two_sided,
                    "p_mcnemar": exact_mcnemar(test.wins, test.losses),
                    "p_holm": None,
                    "wins": test.wins,
                    "losses": test.losses,
                }
            )
    for arm in order:
        family = [
            row
            for row in rows
            if (row["method"], row["operating_point"]) == arm and row["is_family_baseline"]
        ]
        for row, p in zip(family, holm([row["p_one_sided"] for row in family]), strict=True):
            row["p_holm"] = p
    return rows


def _compare_all(
    units: Mapping[Arm, npt.NDArray[np.integer]], denominator: int
) -> dict[tuple[Arm, Arm], PairedBootstrap]:
    """Each unordered pair is tested once; the other direction is its mirror image."""
    tests: dict[tuple[Arm, Arm], PairedBootstrap] = {}
    for arm, baseline in permutations(units, 2):
        if (baseline, arm) in tests:
            tests[arm, baseline] = tests[baseline, arm].mirrored()
        else:
            tests[arm, baseline] = exact(units[arm] - units[baseline], denominator)
    return tests

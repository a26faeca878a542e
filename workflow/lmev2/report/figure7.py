"""Figure 7: what wrong answers are due to."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source, origin
from lmev2.report.stacked import legend_above, stacked_bars
from lmev2.report.style import captioned_figure, figure_style, name_arm_label, save_figure
from lmev2.stats.failures import Failure, classify
from lmev2.stats.scores import connect
from lmev2.store import read_table, write_csv

# Colour, and ink on it; apart in lightness as well as in hue.
_LOOKS = {
    Failure.MISS_MAJOR: ("#0072B2", "white"),
    Failure.MISS_MINOR: ("#7cc4ea", "black"),
    Failure.READING: ("#E69F00", "black"),
    Failure.GOTCHA: ("#CC79A7", "black"),
    Failure.PREMISE: ("#009E73", "white"),
    Failure.NO_ANSWER: ("#555555", "white"),
    Failure.UNKNOWN: ("#dddddd", "black"),
}

_WRONG = """
SELECT method, operating_point, tier, ability, abstention, scores.status,
       1 / count(*) OVER (PARTITION BY method, operating_point, tier, question_id) AS weight, score,
       holds_family, holds_trajectory, holds_url, holds_gold
FROM scores
JOIN (SELECT * EXCLUDE (ability, abstention, domain, status) FROM retrieval) AS retrieval
USING (question_id, method, operating_point, tier, repeat)
QUALIFY score = 0
ORDER BY tier, method, operating_point, question_id, repeat
"""


def plot_figure7(
    scores: str | Path,
    retrieval: str | Path,
    csv_path: str | Path,
    png: str | Path,
    pdf: str | Path,
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
) -> None:
    """Count the wrong answers by cause and draw them (paper, Figure 7).

    Args:
        scores: the `scores` file.
        retrieval: the `retrieval` file.
        csv_path: one row per arm, tier and class: questions (a wrong answer in one of r repeats counts
            1/r) and their share of the arm's wrong answers.
        png: bitmap.
        pdf: vector figure.
        methods: one mapping an arm, in order; those that read the labels are left out.
        tiers: in order.
        source: dataset and models.
    """
    arms = [arm for arm in methods if not arm.get("labels")]
    with connect(scores=read_table(scores), retrieval=read_table(retrieval)) as db:
        wrong = db.sql(_WRONG).to_arrow_table().to_pylist()
        asked = set(db.sql("SELECT DISTINCT method, operating_point, tier FROM scores").fetchall())
    counts: dict[tuple[str, str, str], dict[Failure, float]] = defaultdict(
        lambda: dict.fromkeys(Failure, 0.0)
    )
    for row in wrong:
        counts[row["method"], row["operating_point"], row["tier"]][classify(row)] += row["weight"]
    _write(csv_path, counts, asked, arms, tiers, source)
    looks = {kind: _LOOKS[kind] for kind in Failure if any(found[kind] for found in counts.values())}
    largest = max((sum(found.values()) for found in counts.values()), default=1)
    with figure_style():
        caption = [
            *origin(source),
            "Wrong answers by cause. Retrieval miss: the context held no trajectory of an answer's task "
            "family (major), or the family but no answer trajectory (minor). Reading failure: an answer "
            "trajectory, an answer's URL or the gold text was in the context.",
        ]
        figure, panels = captioned_figure(
            len(tiers), caption, width=3.4, height=0.26 * len(arms) + 0.2, left=1.9, above=0.62, gap=0.2
        )
        for tier, axes in zip(tiers, panels, strict=True):
            axes.set_title(f"tier: {tier}")
            axes.set_xlabel("questions answered wrong")
            rows = [counts[arm["id"], arm["operating_point"], tier] for arm in arms]
            stacked_bars(axes, rows, looks, largest)
        panels[0].set_yticks(range(len(arms)), [name_arm_label(arm) for arm in arms])
        legend_above(figure, panels[0])
        save_figure(figure, png, pdf)


def _write(
    path: str | Path,
    counts: Mapping[tuple[str, str, str], Mapping[Failure, float]],
    asked: Collection[tuple[str, str, str]],  # an official run may be of some tiers only
    arms: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
) -> None:
    rows = []
    for tier in tiers:
        for arm in arms:
            if (arm["id"], arm["operating_point"], tier) not in asked:
                continue
            found = counts[arm["id"], arm["operating_point"], tier]
            total = sum(found.values())
            rows += [
                {
                    **{"method": arm["id"], "operating_point": arm["operating_point"], "label": arm["label"]},
                    **{"tier": tier, "cause": str(kind), "questions": f"{number:.6g}"},
                    "share": f"{number / total:.4f}" if total else None,
                    "dataset": source.dataset,
                    "models": source.models_of(arm["id"], arm["operating_point"]),
                }
                for kind, number in found.items()
            ]
    write_csv(path, rows)

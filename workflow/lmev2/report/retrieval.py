"""Retrieval quality per method, tier and ability: a csv and a figure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lmev2.report.captions import Source, origin
from lmev2.report.numbers import csv_accuracy
from lmev2.report.stacked import legend_above
from lmev2.report.style import COLOURS, GREY, captioned_figure, figure_style, name_arm_label, save_figure
from lmev2.stats.columns import COLUMNS
from lmev2.stats.scores import connect
from lmev2.store import read_table, write_csv

NO_LABELS = "This dataset has no evidence labels: only the gold phrases and the tokens are known."
# Column of the `retrieval` table -> how the figure names it, marker.
_SHARES = {
    "holds_family": ("task family", "o"),
    "holds_trajectory": ("answer trajectory", "s"),
    "holds_state": ("evidence state", "^"),
    "holds_gold": ("every gold phrase", "D"),
}

# Repeats are averaged within a question first; a rank counts where the piece was found.
_SUMMARY = """
WITH question AS (
    SELECT method, operating_point, tier, question_id, ability,
           avg(context_tokens) AS context_tokens,
           avg(holds_family::INT) AS holds_family, avg(holds_trajectory::INT) AS holds_trajectory,
           avg(holds_state::INT) AS holds_state, avg(holds_every_hop::INT) AS holds_every_hop,
           avg(holds_url::INT) AS holds_url, avg(holds_gold::INT) AS holds_gold,
           avg(rank_trajectory) AS rank_trajectory, avg(rank_state) AS rank_state
    FROM retrieval GROUP BY ALL
),
member AS (SELECT *, unnest(['overall', ability]) AS "column" FROM question)
SELECT method, operating_point, tier, "column", count(*) AS n,
       count(holds_state) AS n_labelled, count(holds_gold) AS n_gold,
       avg(holds_family ORDER BY question_id) AS holds_family,
       avg(holds_trajectory ORDER BY question_id) AS holds_trajectory,
       avg(holds_state ORDER BY question_id) AS holds_state,
       avg(holds_every_hop ORDER BY question_id) AS holds_every_hop,
       avg(holds_url ORDER BY question_id) AS holds_url,
       avg(holds_gold ORDER BY question_id) AS holds_gold,
       avg(rank_trajectory ORDER BY question_id) AS rank_trajectory,
       avg(rank_state ORDER BY question_id) AS rank_state,
       avg(context_tokens ORDER BY question_id) AS context_tokens
FROM member
GROUP BY method, operating_point, tier, "column"
ORDER BY tier, method, operating_point, list_position($columns, "column")
"""


def report_retrieval(
    retrieval: str | Path,
    csv_path: str | Path,
    png: str | Path,
    pdf: str | Path,
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
) -> None:
    """Write the shares of questions whose context holds the evidence, and draw them.

    Args:
        retrieval: the `retrieval` file.
        csv_path: one row per arm, tier and column (overall, abilities): `n` questions, of which
            `n_labelled` have evidence labels and `n_gold` gold phrases; shares, mean ranks of the first
            piece where there is one, mean tokens. `note` says what the labels lack.
        png: bitmap.
        pdf: vector figure.
        methods: one mapping an arm, in order; pilot studies are in the csv only.
        tiers: in order.
        source: dataset and models.
    """
    rows = summarise(retrieval)
    _write(csv_path, rows, methods, tiers, source)
    # Figures draw the arms from the top down.
    arms = [arm for arm in methods if not arm.get("labels") and any(_of(rows, arm, tier) for tier in tiers)]
    labelled = any(row["n_labelled"] for row in rows)
    with figure_style():
        caption = [
            *origin(source),
            "Share of the questions whose context, as the reader got it, holds the evidence"
            + (" (questions with labels)" if labelled else "")
            + "; gold phrases: questions with phrases as answers, a ceiling for a reader that copies. "
            "Right: mean tokens of the context.",
            "" if labelled else NO_LABELS,
        ]
        figure, panels = captioned_figure(
            len(tiers),
            caption,
            width=3.2,
            height=0.24 * len(arms) + 0.2,
            left=1.9,
            right=0.5,
            above=0.62,
            gap=0.6,
        )
        for tier, axes in zip(tiers, panels, strict=True):
            _draw(axes, tier, [_of(rows, arm, tier) for arm in arms], labelled)
        panels[0].set_yticks(range(len(arms)), [name_arm_label(arm) for arm in arms])
        panels[0].invert_yaxis()
        legend_above(figure, panels[0])
        save_figure(figure, png, pdf)


def summarise(retrieval: str | Path) -> list[dict[str, Any]]:
    """The shares, mean ranks and mean tokens per arm, tier and column."""
    with connect(retrieval=read_table(retrieval)) as db:
        return db.sql(_SUMMARY, params={"columns": list(COLUMNS)}).to_arrow_table().to_pylist()


def _of(rows: Sequence[Mapping[str, Any]], arm: Mapping[str, Any], tier: str) -> Mapping[str, Any] | None:
    wanted = (arm["id"], arm["operating_point"], tier, "overall")
    keys = ("method", "operating_point", "tier", "column")
    return next((row for row in rows if tuple(row[key] for key in keys) == wanted), None)


def _write(
    path: str | Path,
    rows: Sequence[Mapping[str, Any]],
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
) -> None:
    order = {(arm["id"], arm["operating_point"]): arm for arm in methods}
    places = {arm: place for place, arm in enumerate(order)}
    shares = [name for name in rows[0] if name.startswith("holds_")] if rows else []
    table = []
    for row in sorted(
        rows, key=lambda row: (tiers.index(row["tier"]), places[row["method"], row["operating_point"]])
    ):
        arm = order[row["method"], row["operating_point"]]
        table.append(
            {
                **{key: row[key] for key in ("method", "operating_point")},
                **{"label": arm["label"], "family": arm["family"]},
                **{key: row[key] for key in ("tier", "column", "n", "n_labelled", "n_gold")},
                **{key: csv_accuracy(row[key]) for key in shares},
                **{
                    key: None if row[key] is None else f"{row[key]:.2f}"
                    for key in ("rank_trajectory", "rank_state")
                },
                "context_tokens": f"{row['context_tokens']:.0f}",
                "note": "" if row["n_labelled"] else "No evidence labels.",
                **{"dataset": source.dataset, "models": source.models_of(arm["id"], arm["operating_point"])},
            }
        )
    write_csv(path, table)


def _draw(axes: Axes, tier: str, rows: Sequence[Mapping[str, Any] | None], labelled: bool) -> None:
    axes.set_title(f"tier: {tier}")
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("share of questions")
    axes.text(1.02, 1.02, "tokens", transform=axes.transAxes, size=7, color=GREY)
    axes.grid(axis="y", visible=False)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    shares = [name for name in _SHARES if labelled or name == "holds_gold"]
    for y, row in enumerate(rows):
        values = [row[name] for name in shares if row and row[name] is not None]
        if values:
            axes.plot([min(values), max(values)], [y, y], color="#cccccc", lw=1.2, zorder=1)
        if row:
            axes.text(
                1.02,
                y,
                f"{row['context_tokens'] / 1000:,.1f}k" if row["context_tokens"] else "0",
                transform=axes.get_yaxis_transform(),
                size=7,
                color=GREY,
                va="center",
            )
    for i, name in enumerate(shares):
        label, marker = _SHARES[name]
        found = [(row[name], y) for y, row in enumerate(rows) if row and row[name] is not None]
        axes.plot(
            [share for share, _ in found],
            [y for _, y in found],
            marker=marker,
            color=COLOURS[i],
            ls="none",
            ms=5,
            label=label,
            mfc="none",
            mew=1.3,
            clip_on=False,
            zorder=3,
        )

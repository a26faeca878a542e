"""Figures 8 and 9: what coding agents spend their shell commands on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source, describe_models, origin
from lmev2.report.stacked import legend_above, stacked_bars
from lmev2.report.style import captioned_figure, figure_style, name_arm_label, save_figure
from lmev2.stats.scores import connect
from lmev2.store import read_table, write_csv

ROUNDS = 8
# Class of the `agent_commands` table -> what it counts as here.
GROUPS = {
    "setup": "set-up, reading the task",
    "harness": "harness-guided (manifest, helper)",
    "raw": "raw trajectory exploration",
    "visual": "visual inspection",
    "validation": "validation, other",
    "other": "validation, other",
}
_LOOKS = {
    "set-up, reading the task": ("#888888", "white"),
    "harness-guided (manifest, helper)": ("#009E73", "white"),
    "raw trajectory exploration": ("#E69F00", "black"),
    "visual inspection": ("#CC79A7", "black"),
    "validation, other": ("#dddddd", "black"),
}

_COUNTS = """
SELECT method, operating_point, tier, "class", round, count(*) AS commands
FROM commands GROUP BY ALL ORDER BY ALL
"""
_QUERIES = "SELECT method, operating_point, tier, count(*) AS queries FROM scores GROUP BY ALL ORDER BY ALL"


def plot_agent_figures(
    commands: str | Path,
    scores: str | Path,
    out: Mapping[str, str | Path],
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
) -> None:
    """Count the commands of coding agents by class and draw them (paper, Figures 8 and 9).

    Args:
        commands: the `agent_commands` file.
        scores: the `scores` file, for the number of queries (some may have no command).
        out: `figure8_{csv,png,pdf}`: commands per query of every arm; `figure9_{csv,png,pdf}`: the shares
            of the classes in each of the first eight rounds.
        methods: the arms that run an agent, in order. Figure 9 draws default operating points, no ablations.
        tiers: in order.
        source: dataset and models.
    """
    with connect(commands=read_table(commands), scores=read_table(scores)) as db:
        rows = db.sql(_COUNTS).to_arrow_table().to_pylist()
        queries = {
            (row["method"], row["operating_point"], row["tier"]): row["queries"]
            for row in db.sql(_QUERIES).to_arrow_table().to_pylist()
        }
    by_round: dict[tuple[str, str, str], dict[int, dict[str, int]]] = {}
    for row in rows:
        rounds = by_round.setdefault((row["method"], row["operating_point"], row["tier"]), {})
        groups = rounds.setdefault(row["round"], dict.fromkeys(_LOOKS, 0))
        groups[GROUPS[row["class"]]] += row["commands"]
    means = {
        arm: {
            group: sum(groups[group] for groups in by_round.get(arm, {}).values()) / asked for group in _LOOKS
        }
        for arm, asked in queries.items()
    }
    _plot_means(means, out, methods, tiers, source)
    main = [arm for arm in methods if not arm["operating_point"] and not arm["ablation_of"]] or methods
    _plot_rounds(by_round, out, main, tiers, source)


def _plot_means(
    means: Mapping[tuple[str, str, str], Mapping[str, float]],
    out: Mapping[str, str | Path],
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
) -> None:
    nothing = dict.fromkeys(_LOOKS, 0.0)
    drawn = {
        tier: [means.get((arm["id"], arm["operating_point"], tier), nothing) for arm in methods]
        for tier in tiers
    }
    write_csv(
        out["figure8_csv"],
        [
            {
                **{"method": arm["id"], "operating_point": arm["operating_point"], "label": arm["label"]},
                **{"tier": tier, "class": group, "commands_per_query": f"{mean:.3f}"},
                **{"dataset": source.dataset, "models": describe_models(source.models)},
            }
            for tier in tiers
            for arm, found in zip(methods, drawn[tier], strict=True)
            for group, mean in found.items()
        ],
    )
    largest = max((sum(found.values()) for rows in drawn.values() for found in rows), default=1) or 1
    with figure_style():
        caption = [*origin(source), "Shell commands per query by class, all attempts of a query together."]
        figure, panels = captioned_figure(
            len(tiers), caption, width=3.4, height=0.26 * len(methods) + 0.2, left=1.9, above=0.62, gap=0.2
        )
        for tier, axes in zip(tiers, panels, strict=True):
            axes.set_title(f"tier: {tier}")
            axes.set_xlabel("commands per query")
            stacked_bars(axes, drawn[tier], _LOOKS, largest, form="{:.1f}")
        panels[0].set_yticks(range(len(methods)), [name_arm_label(arm) for arm in methods])
        legend_above(figure, panels[0])
        save_figure(figure, out["figure8_png"], out["figure8_pdf"])


def _plot_rounds(
    by_round: Mapping[tuple[str, str, str], Mapping[int, Mapping[str, int]]],
    out: Mapping[str, str | Path],
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
) -> None:
    panels_of = [(arm, tier) for arm in methods for tier in tiers]
    shares = {
        (arm["id"], tier): [
            _shares(by_round.get((arm["id"], "", tier), {}).get(number, {})) for number in range(ROUNDS)
        ]
        for arm, tier in panels_of
    }
    write_csv(
        out["figure9_csv"],
        [
            {
                **{"method": arm["id"], "label": arm["label"], "tier": tier, "round": number + 1},
                **{"class": group, "share": f"{share:.4f}"},
                **{"dataset": source.dataset, "models": describe_models(source.models)},
            }
            for arm, tier in panels_of
            for number, found in enumerate(shares[arm["id"], tier])
            for group, share in found.items()
        ],
    )
    with figure_style():
        caption = [
            *origin(source),
            f"Shares of the classes in the first {ROUNDS} commands, over the queries that got so far.",
        ]
        figure, panels = captioned_figure(
            len(panels_of), caption, width=2.0, height=2.0, left=0.5, above=0.62, gap=0.15
        )
        for (arm, tier), axes in zip(panels_of, panels, strict=True):
            axes.set_title(f"{arm['label']}, {tier}")
            percent = [{key: 100 * share for key, share in row.items()} for row in shares[arm["id"], tier]]
            stacked_bars(axes, percent, _LOOKS, 100, form="{:.0f}", narrowest=0.09)
            axes.set_xticks([0, 50, 100])
            axes.set_xlabel("% of the commands")
        panels[0].set_yticks(range(ROUNDS), [str(number + 1) for number in range(ROUNDS)])
        panels[0].set_ylabel("round")
        legend_above(figure, panels[0])
        save_figure(figure, out["figure9_png"], out["figure9_pdf"])


def _shares(groups: Mapping[str, int]) -> dict[str, float]:
    total = sum(groups.values())
    return {group: groups.get(group, 0) / total if total else 0.0 for group in _LOOKS}

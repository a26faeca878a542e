"""Table 1 and Figures 2 and 3: the dataset itself, no model asked."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lmev2.records import ABILITIES, QUESTION_TYPES
from lmev2.report.captions import Source
from lmev2.report.paper import read_paper
from lmev2.report.style import COLOURS, GREY, captioned_figure, figure_style, save_figure
from lmev2.store import read_rows, write_csv


def write_table1(
    questions: str | Path, haystack_csv: Sequence[Mapping[str, Any]], path: str | Path, *, source: Source
) -> None:
    """Write Table 1: other benchmarks as the paper and its project page give them, then this dataset.

    Args:
        questions: the `questions` file.
        haystack_csv: rows of `lmev2.haystack.measures.measure_haystacks`.
        path: the csv file.
        source: the dataset.
    """
    rows = [{**row, "source": "paper"} for row in read_paper("table1")]
    asked = read_rows(questions, ["question_type", "image"])
    types = {row["question_type"] for row in asked}
    abilities = {QUESTION_TYPES[name][0] for name in types}
    tiers: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for row in haystack_csv:
        tiers[row["tier"]][row["measure"]] = row
    for tier, measures in tiers.items():
        sessions, tokens = (measures[name] for name in ("trajectories", "tokens"))
        rows.append(
            {
                "group": "this run",
                "benchmark": f"{source.dataset} {tier}",
                "domain": "web agent",
                "sessions": _range(sessions["least"], sessions["most"]),
                "tokens": f"{tokens['mean'] / 1e6:.2g}M",
                "context_multimodal": "yes",
                "questions": len(asked),
                "question_multimodal": "yes" if any(row["image"] for row in asked) else "no",
                **{ability: "yes" if ability in abilities else "no" for ability in ABILITIES},
                "premise": "yes" if any(QUESTION_TYPES[name][1] for name in types) else "no",
                "source": "this dataset",
            }
        )
    write_csv(path, rows)


def plot_figure2(
    questions: str | Path, csv_path: str | Path, png: str | Path, pdf: str | Path, *, source: Source
) -> None:
    """Count the questions by domain, type and answer format and draw them (paper, Figure 2).

    Args:
        questions: the `questions` file.
        csv_path: one row per kind (domain, type, format) and value.
        png: bitmap.
        pdf: vector figure.
        source: the dataset.
    """
    asked = read_rows(questions, ["domain", "question_type", "evaluator"])
    order = {name: place for place, name in enumerate(QUESTION_TYPES)}
    types = Counter(row["question_type"] for row in asked)
    kinds = {
        "domain": _by_size(Counter(row["domain"] for row in asked)),
        "type": sorted(types.items(), key=lambda item: order[item[0]]),
        "answer format": _by_size(Counter(row["evaluator"] for row in asked)),
    }
    write_csv(
        csv_path,
        [
            {"kind": kind, "value": value, "questions": n, "share": f"{n / len(asked):.4f}"}
            | {"dataset": source.dataset}
            for kind, counts in kinds.items()
            for value, n in counts
        ],
    )
    with figure_style():
        rows = sum(len(counts) + 1.6 for counts in kinds.values())
        caption = [f"Dataset: {source.dataset}. {len(asked)} questions. No model made these numbers."]
        figure, (axes,) = captioned_figure(1, caption, width=3.2, height=0.19 * rows, left=2.1, above=0.1)
        _draw_counts(axes, kinds)
        save_figure(figure, png, pdf)


def plot_figure3(
    rows: Sequence[Mapping[str, Any]],
    csv_path: str | Path,
    png: str | Path,
    pdf: str | Path,
    *,
    source: Source,
) -> None:
    """Draw the sizes of the haystacks and the answer trajectories per question (paper, Figure 3).

    Args:
        rows: of `lmev2.haystack.measures.measure_haystacks`, over all domains.
        csv_path: the same without the single values.
        png: bitmap.
        pdf: vector figure.
        source: the dataset.
    """
    write_csv(
        csv_path,
        [
            {key: row[key] for key in ("tier", "measure")}
            | {"mean": f"{row['mean']:.2f}"}
            | {key: row[key] for key in ("least", "most", "questions")}
            | {"dataset": source.dataset}
            for row in rows
        ],
    )
    tiers = list(dict.fromkeys(row["tier"] for row in rows))
    labelled = any(row["measure"] == "answer trajectories" for row in rows)
    with figure_style():
        caption = [
            f"Dataset: {source.dataset}. Haystack per question: mean, and least and most where they differ. "
            "Tokens are approximate (accessibility trees only). No model made these numbers.",
            ""
            if labelled
            else "This dataset has no evidence labels, so its answer trajectories are not known.",
        ]
        figure, panels = captioned_figure(
            4 if labelled else 3,
            caption,
            width=1.75 if labelled else 2.2,
            height=1.7,
            left=0.45,
            gap=0.1,
            sharey=False,
        )
        for colour, axes, measure in zip(COLOURS, panels, ("trajectories", "states", "tokens"), strict=False):
            _draw_sizes(axes, measure, [row for row in rows if row["measure"] == measure], tiers, colour)
        if labelled:
            _draw_answers(panels[3], [row for row in rows if row["measure"] == "answer trajectories"])
        save_figure(figure, png, pdf)


def _draw_counts(axes: Axes, kinds: Mapping[str, Sequence[tuple[str, int]]]) -> None:
    """Bars below each other, one group a kind, each under its name."""
    y, ticks = 0.0, []
    most = max(n for counts in kinds.values() for _, n in counts)
    for colour, (kind, counts) in zip(COLOURS, kinds.items(), strict=False):
        axes.text(0, y, kind, va="center", weight="bold", color=colour)
        for name, n in counts:
            y += 1
            axes.barh(y, n, height=0.7, color=colour)
            axes.text(n, y, f" {n}", va="center", size=7, color=GREY)
            ticks.append((y, name))
        y += 1.6
    axes.set_ylim(y - 1, -0.7)
    axes.set_yticks(*zip(*ticks, strict=True))
    axes.set_xlim(0, most * 1.1)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("questions")


def _draw_sizes(
    axes: Axes, measure: str, rows: Sequence[Mapping[str, Any]], tiers: Sequence[str], colour: str
) -> None:
    axes.set_title(f"{measure} per haystack")
    mean = [row["mean"] for row in rows]
    spread = [[row["mean"] - row["least"] for row in rows], [row["most"] - row["mean"] for row in rows]]
    axes.bar(range(len(rows)), mean, width=0.6, color=colour)
    if any(map(any, spread)):
        axes.errorbar(range(len(rows)), mean, spread, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=2)
    axes.set_xticks(range(len(rows)), tiers)
    axes.set_ylim(0, max(row["most"] for row in rows) * 1.15)
    axes.grid(axis="x", visible=False)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    for x, row in enumerate(rows):
        axes.text(x, row["most"], f"{_short(row['mean'])}", ha="center", va="bottom", size=7)


def _draw_answers(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    """Histogram of answer trajectories per question, tiers side by side."""
    axes.set_title("answer trajectories")
    largest = max(row["most"] for row in rows)
    width = 0.8 / len(rows)
    for i, row in enumerate(rows):
        counts = Counter(row["values"])
        places = [value + (i - (len(rows) - 1) / 2) * width for value in range(largest + 1)]
        axes.bar(
            places,
            [counts[value] for value in range(largest + 1)],
            width=width,
            color=COLOURS[3],
            alpha=1 - 0.5 * i / max(1, len(rows) - 1),
            label=f"{row['tier']} (mean {row['mean']:.1f})",
        )
    axes.set_xticks(range(largest + 1))
    axes.set_xlabel("in the haystack of a question")
    axes.set_ylabel("questions")
    axes.grid(axis="x", visible=False)
    axes.legend(frameon=False, fontsize=7, handlelength=1, loc="upper right", borderaxespad=0)


def _by_size(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least}-{most}"


def _short(value: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"

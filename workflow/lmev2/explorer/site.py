"""The explorer's page: an html file from a template, scripts and styles, and the data that all views need."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from lmev2.explorer.matrix import pack_matrix
from lmev2.explorer.packing import write_data
from lmev2.explorer.parts import ASSETS, SCRIPTS, TEMPLATES
from lmev2.explorer.summary import (
    describe_making,
    list_warnings,
    read_metas,
    table_caption,
    table_rows,
)
from lmev2.report.captions import Source
from lmev2.report.style import name_arm_label
from lmev2.report.table2 import read_table2
from lmev2.stats.columns import COLUMNS
from lmev2.stats.options import DEFAULTS, StatsOptions
from lmev2.stats.scores import name_arm
from lmev2.store import read_rows, write_text


def write_site(
    page: Path,
    assets: Path,
    index: Path,
    figure: Path,
    *,
    questions: str | Path,
    scores: str | Path,
    retrieval: str | Path,
    accuracy: str | Path,
    latency: str | Path,
    significance: str | Path,
    cost: str | Path,
    figure6: str | Path,
    config: Mapping[str, Any],
    metas: Sequence[str | Path],
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
    options: StatsOptions = DEFAULTS,
) -> dict[str, int]:
    """Write the page, its assets, Figure 6 and the index of all answers.

    Args:
        page: index.html.
        assets: folder of scripts and styles.
        index: data file with methods and matrix.
        figure: copy of Figure 6.
        questions: the `questions` file.
        scores: the `scores` file.
        retrieval: the `retrieval` file.
        accuracy: the `accuracy` file.
        latency: the `latency` file.
        significance: the `significance` file.
        cost: `cost.csv`.
        figure6: `figure6.png`.
        config: `config.json`, read.
        metas: meta files of the stages behind the results.
        methods: the arms, in order.
        tiers: in order.
        source: dataset and models.
        options: of the statistics.

    Returns:
        counts: warnings.
    """
    rows, asked = read_rows(scores), read_rows(questions, ["question_id", "abstention"])
    table = read_table2(accuracy, latency, significance, methods, tiers, options)["all"]
    named = {name_arm(m["id"], m["operating_point"]): m for m in methods}
    labels = {arm: name_arm_label(method) for arm, method in named.items()}
    answerable = sum(not row["abstention"] for row in asked)
    expected = {arm: answerable if method["labels"] else len(asked) for arm, method in named.items()}
    made = read_metas(metas)
    pilots = {arm for arm, method in named.items() if method["labels"]}
    warnings = list_warnings(source, rows, made, labels, expected, pilots)
    shutil.copyfile(figure6, figure)
    shutil.copytree(ASSETS, assets, dirs_exist_ok=True)
    _write_index(index, rows, read_rows(retrieval), asked, named, labels, tiers)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("index.html").render(
        source=source,
        tiers=tiers,
        columns=COLUMNS,
        sizes={tier: {column: table.n(tier, column) for column in COLUMNS} for tier in tiers},
        tables={tier: table_rows(table, tier) for tier in tiers},
        caption=table_caption(table, source),
        warnings=warnings,
        made=describe_making(made, config, cost),
        n_questions=len(asked),
        n_methods=len(methods),
        scripts=[f"assets/{name}" for name in SCRIPTS],
        figure=figure.name,
    )
    write_text(html, page)
    return {"warnings": len(warnings)}


def _write_index(
    index: Path,
    scores: Sequence[Mapping[str, Any]],
    retrieval: Sequence[Mapping[str, Any]],
    asked: Sequence[Mapping[str, Any]],
    named: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],
    tiers: Sequence[str],
) -> None:
    matrix = pack_matrix([row["question_id"] for row in asked], scores, retrieval)
    methods = [
        {
            "arm": arm,
            "label": labels[arm],
            "family": method["family"],
            "ablation": bool(method["ablation_of"]),
            "pilot": method["labels"],
        }
        for arm, method in named.items()
    ]
    write_data(index.parent, index.stem, {"methods": methods, "tiers": list(tiers), "matrix": matrix})

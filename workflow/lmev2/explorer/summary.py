"""The explorer's first page: results, what they were made with, and what to keep in mind."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmev2.records import EntryStatus, Status
from lmev2.report.captions import Source, explain_comparison, explain_imports, explain_models
from lmev2.report.numbers import short_accuracy, short_seconds
from lmev2.report.table2 import Table2, bare_label, caption_sentences, is_ablation
from lmev2.stats.columns import COLUMNS
from lmev2.stats.scores import name_arm

_COST = ("calls", "input_tokens", "output_tokens", "cost")


@dataclass(frozen=True)
class Warning:
    """Something to keep in mind; `grave` if the numbers must not be taken for more than they are."""

    title: str
    text: str
    grave: bool = False


def table_rows(table: Table2, tier: str) -> list[list[dict[str, Any]]]:
    """Table 2 of one tier for the page: methods by family; cells as text."""
    return [[_table_row(table, method, tier) for method in family] for family in table.families()]


def _table_row(table: Table2, method: Mapping[str, Any], tier: str) -> dict[str, Any]:
    cell = table.cell(method, tier)
    return {
        "id": method["id"],
        "label": bare_label(method),
        "ablation": is_ablation(method),
        "cells": [
            {
                "text": short_accuracy(cell.get(column)),
                "value": cell.get(column),
                "mark": table.is_marked(method, tier, column),
                "best": table.is_best(method, tier, column),
            }
            for column in COLUMNS
        ],
        "latency": short_seconds(cell.get("latency_s")),
        "errors": cell.get("errors", 0),
    }


def table_caption(table: Table2, source: Source) -> list[str]:
    """The sentences under Table 2 that the page does not say elsewhere."""
    said = {explain_models(source.models), explain_comparison(source), explain_imports(source)}
    return [sentence for sentence in caption_sentences(table, source, "")[1:] if sentence not in said]


def list_warnings(
    source: Source,
    scores: Iterable[Mapping[str, Any]],
    metas: Sequence[Mapping[str, Any]],
    labels: Mapping[str, str],
    expected: Mapping[str, int],
    pilots: Collection[str] = (),
) -> list[Warning]:
    """All that a reader of the numbers must know, the gravest first.

    Args:
        source: dataset and models.
        scores: the `scores` table.
        metas: meta files of the stages.
        labels: arm -> its label.
        expected: arm -> how many questions it is asked.
        pilots: arms that read the labels by design, and compete with none.
    """
    found = []
    if said := explain_models(source.models):
        found.append(Warning("Embedded models", said, grave=True))
    if said := explain_comparison(source):
        found.append(Warning("Not comparable with the paper", said))
    if said := explain_imports(source):
        found.append(Warning("Made elsewhere", said))
    found += _errors(scores, labels, expected)
    found += _entries(metas)
    found += _queries(metas, labels, pilots)
    missing = sum(_total(meta["counts"].get("missing_screenshots")) for meta in _of(metas, "ingest_dataset"))
    if missing:
        text = f"{missing} screenshots that the dataset names are not there; methods and reader did without."
        found.append(Warning("Missing screenshots", text))
    found += _code(metas)
    return sorted(found, key=lambda warning: not warning.grave)


def _errors(
    scores: Iterable[Mapping[str, Any]], labels: Mapping[str, str], expected: Mapping[str, int]
) -> list[Warning]:
    statuses: dict[tuple[str, str], Counter] = defaultdict(Counter)
    questions: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in scores:
        arm = name_arm(row["method"], row["operating_point"]), row["tier"]
        statuses[arm][row["status"]] += row["status"] != Status.OK
        questions[arm].add(row["question_id"])
    errors = [
        f"{labels.get(arm, arm)}, {tier}: " + ", ".join(f"{n} {status}" for status, n in sorted((+c).items()))
        for (arm, tier), c in sorted(statuses.items())
        if +c
    ]
    partial = [
        f"{labels.get(arm, arm)}, {tier}: {len(asked)} of {expected[arm]}"
        for (arm, tier), asked in sorted(questions.items())
        if arm in expected and len(asked) < expected[arm]
    ]
    found = []
    if errors:
        found.append(Warning("Errors, scored 0", "; ".join(errors) + "."))
    if partial:
        found.append(Warning("Not all questions were answered", "; ".join(partial) + "."))
    return found


def _entries(metas: Sequence[Mapping[str, Any]]) -> list[Warning]:
    found = []
    for kind in ("notes", "events"):
        for meta in _of(metas, f"write_{kind}"):
            statuses = meta["counts"].get("status", {})
            if templates := statuses.get(EntryStatus.TEMPLATE, 0):
                text = (
                    f"{templates} of {meta['counts']['rows']} {kind} were written by rule from the "
                    "trajectory: the controller's replies could not be used."
                )
                found.append(Warning(f"Templates for {kind}", text))
    return found


def _queries(
    metas: Sequence[Mapping[str, Any]], labels: Mapping[str, str], pilots: Collection[str]
) -> list[Warning]:
    fallbacks, missing, unsafe, cut = [], 0, [], 0
    for meta in _of(metas, "query_memory"):
        method = meta["params"]["method"]
        arm = name_arm(method["id"], method["operating_point"])
        label = labels.get(arm, arm)
        if count := meta["counts"].get("controller", {}).get("fallback", 0):
            fallbacks.append(f"{label}: {count} of {meta['counts']['rows']}")
        missing += _total(meta["counts"].get("missing_screenshots"))
        if not meta["params"].get("leaderboard_safe", True) and arm not in pilots:
            unsafe.append(label)
    for meta in _of(metas, "read_answers"):
        cut += meta["counts"].get("truncated", 0)
    found = []
    if fallbacks:
        text = "The controller's reply could not be used, the question itself was the query. "
        found.append(Warning("Controller fallbacks", text + "; ".join(sorted(fallbacks)) + "."))
    if missing:
        text = f"Contexts lack {missing} screenshots that they should show."
        found.append(Warning("Contexts without screenshots", text))
    if cut:
        found.append(Warning("Truncated contexts", f"{cut} contexts were longer than the reader's budget."))
    if unsafe:
        text = f"See more of a question than the privacy rule allows: {', '.join(sorted(set(unsafe)))}."
        found.append(Warning("Not leaderboard-safe", text, grave=True))
    return found


def _code(metas: Sequence[Mapping[str, Any]]) -> list[Warning]:
    states = {(meta.get("git") or {}).get("commit") for meta in metas} - {None}
    found = []
    if len(states) > 1:
        text = (
            f"Stage files come from {len(states)} commits; a stage is made anew only where its code changed."
        )
        found.append(Warning("Several commits", text))
    if any((meta.get("git") or {}).get("dirty") for meta in metas):
        text = "Some stage files were made with code that differs from its commit."
        found.append(Warning("Uncommitted code", text))
    return found


def describe_making(
    metas: Sequence[Mapping[str, Any]], config: Mapping[str, Any], cost: str | Path
) -> dict[str, Any]:
    """What the results were made with: models, prompts, data, code and cost.

    Args:
        metas: meta files of the stages.
        config: `config.json`.
        cost: `cost.csv`.

    Returns:
        models: role, provider, model, sampling; prompts: name, digest, whether it is the user's own;
        data: file, sha256; commits; versions; cost: role, model, calls, tokens, cost.
    """
    prompts: dict[str, Mapping[str, Any]] = {}
    for meta in metas:
        prompts |= meta["params"].get("prompts") or {}
    inputs = {name: sha for meta in _of(metas, "ingest_dataset") for name, sha in meta["inputs"].items()}
    return {
        "models": [
            {
                "role": role,
                "name": f"{model['provider']}:{model['model']}",
                "sampling": ", ".join(
                    f"{k} {v}" for k, v in sorted((model.get("sampling") or {}).items()) if v
                ),
            }
            for role, model in config["models"].items()
        ],
        "prompts": [
            {"name": name, "digest": prompt["sha256"][:12], "own": "path" in prompt}
            for name, prompt in sorted(prompts.items())
        ],
        "data": [{"file": name, "digest": sha[:12]} for name, sha in sorted(inputs.items())],
        "commits": sorted({commit for meta in metas if (commit := (meta.get("git") or {}).get("commit"))}),
        "versions": metas[0]["versions"] if metas else {},
        "cost": sum_cost(cost),
    }


def sum_cost(cost: str | Path) -> list[dict[str, Any]]:
    """The rows of `cost.csv` summed by stage, role and model."""
    sums: dict[tuple[str, str, str], Counter] = {}
    with Path(cost).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            total = sums.setdefault((row["stage"], row["role"], row["model"]), Counter())
            for column in _COST:
                total[column] += float(row[column] or 0)
    return [
        {"stage": stage, "role": role, "model": model, **{column: total[column] for column in _COST}}
        for (stage, role, model), total in sums.items()
    ]


def read_metas(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The meta files."""
    return [json.loads(Path(path).read_text(encoding="utf-8")) for path in paths]


def _of(metas: Iterable[Mapping[str, Any]], stage: str) -> list[Mapping[str, Any]]:
    return [meta for meta in metas if meta["stage"] == stage]


def _total(count: Any) -> int:
    """A count that may be broken down."""
    return sum(count.values()) if isinstance(count, Mapping) else int(count or 0)

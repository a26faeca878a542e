import csv

import pytest
from stats_data import MODELS, bits, method, score_rows, write_scores

from lmev2.report.numbers import csv_accuracy, csv_seconds, short_accuracy, short_seconds
from lmev2.report.table2 import find_marks, write_table2
from lmev2.stats.accuracy import tabulate_accuracy, tabulate_latency
from lmev2.stats.significance import tabulate_significance

METHODS = [
    method("none", label="No retrieval"),
    method("rag", label="RAG: query → slice"),
    method("full", label="Full"),
    method("full", operating_point="low", label="Full"),
    method("full_less", ablation_of="full", label="− notes|events"),
]
SCORES = {"none": "0" * 12, "rag": "1" * 3 + "0" * 9, "full": "1" * 11 + "0", "full_less": "1" * 12}
ABILITY = {"ability": lambda q: "static" if int(q[1:]) < 3 else "workflow"}


def rows_of(scores=SCORES, **values):
    return [
        row
        for name, text in scores.items()
        for row in score_rows(
            name, bits(text), **{"latency_s": 0.0 if name == "none" else 2.5} | ABILITY | values
        )
    ]


def make(folder, rows, methods=METHODS, **options):
    scores = write_scores(folder / "scores", rows)
    tabulate_accuracy(scores, folder / "accuracy")
    tabulate_latency(scores, folder / "latency")
    tabulate_significance(scores, methods, folder / "significance")
    write_table2(
        *(folder / name for name in ("accuracy", "latency", "significance", "table2.csv", "table2.md")),
        **{"methods": methods, "tiers": ["small"], "dataset": "mini", "models": MODELS} | options,
    )
    with (folder / "table2.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), (folder / "table2.md").read_text(encoding="utf-8")


def test_columns_and_rows(tmp_path):
    rows = rows_of() + rows_of({"full": "1" * 12}, operating_point="low")
    rows += rows_of({name: text for name, text in SCORES.items() if name != "none"}, tier="medium")
    table, _ = make(tmp_path, rows, tiers=["small", "medium"])
    columns = ["overall", "static", "dynamic", "workflow", "gotchas"]
    assert list(table[0]) == [
        *("method", "label", "family"),
        *(
            f"{tier}_{name}"
            for tier in ("small", "medium")
            for name in [*columns, "latency_s", "n", "errors", *(f"{column}_mark" for column in columns)]
        ),
        *("dataset", "models"),
    ]
    assert [row["method"] for row in table] == ["none", "rag", "full", "full_less"]
    full = table[2]
    assert (full["small_overall"], full["small_static"], full["small_workflow"]) == (
        "0.9167",
        "1.0000",
        "0.8889",
    )
    assert (full["small_dynamic"], full["small_gotchas"]) == ("", "")  # no such questions
    assert (full["small_latency_s"], full["small_n"], full["small_errors"]) == ("2.5", "12", "0")
    assert table[0]["small_latency_s"] == "0"
    assert (table[0]["medium_overall"], table[0]["medium_n"]) == ("", "")
    assert (full["dataset"], full["models"]) == ("mini", "reader embedded:extractive; judge openai:gpt-5.2")


def test_marks(tmp_path):
    table, text = make(tmp_path, rows_of())
    marks = {row["method"]: (row["small_overall_mark"], row["small_static_mark"]) for row in table}
    # full beats none and rag overall, but only equals rag in static; the ablation is better still: no mark.
    # rag beats none, but not full.
    assert marks == {"none": ("", ""), "rag": ("", ""), "full": ("*", ""), "full_less": ("", "")}
    assert r"| Full | .917\* | 1.000 |" in text


def test_every_baseline_must_be_beaten_at_alpha():
    def row(name, baseline, p, **values):
        return {
            "method": name,
            "operating_point": "",
            "baseline": baseline,
            "tier": "small",
            "column": "overall",
            "is_family_baseline": True,
            "p_one_sided": p,
        } | values

    methods = [method("a"), method("b"), method("c"), method("x", ablation_of="a")]
    rows = [
        *(row("a", "b", 0.049), row("a", "c", 0.0)),
        *(row("b", "a", 0.01), row("b", "c", 0.05)),
        *(row("x", "a", 0.0), row("c", "other_family", 0.0, is_family_baseline=False)),
        row("c", "a", 0.0, operating_point="low"),
    ]
    assert find_marks(rows, methods) == {("a", "small", "overall")}
    assert find_marks(rows, methods, alpha=0.04) == set()
    assert find_marks(rows, methods, alpha=0.06) == {("a", "small", "overall"), ("b", "small", "overall")}


def test_text_for_people(tmp_path):
    rows = rows_of()
    rows[0]["status"] = "length_no_answer"
    _, text = make(tmp_path, rows)
    assert "Dataset: mini. Models: reader embedded:extractive; judge openai:gpt-5.2." in text
    assert "embedded engine (reader)" in text
    assert "compare with nothing published" in text
    assert "| method | overall (n = 12) | static (n = 3) | dynamic (n = 0) |" in text
    assert "| No retrieval | .000 | .000 |  | .000 |  | 0 | 1 |" in text
    assert "\u00a0− notes\\|events |" in text
    assert "No latency" not in text


def test_no_warning_where_no_model_is_embedded(tmp_path):
    _, text = make(tmp_path, rows_of(), models={"reader": {"provider": "openai", "model": "m"}})
    assert "embedded" not in text


def test_incomplete_latency_is_empty_and_explained(tmp_path):
    rows = rows_of()
    for row in rows:
        if row["method"] == "rag" and row["question_id"] == "q11":
            row["latency_s"] = None
    table, text = make(tmp_path, rows)
    assert [row["small_latency_s"] for row in table] == ["0", "", "2.5", "2.5"]
    assert "No latency is given for RAG: query → slice (small)" in text


def test_a_method_without_results_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no results for the methods new"):
        make(tmp_path, rows_of(), methods=[*METHODS, method("new")])


def test_numbers():
    assert [csv_seconds(x) for x in (None, 0.0, 0.1, 12.3456, 17723.4, 1.23456e-6)] == [
        *("", "0", "0.1", "12.35", "17720", "0.000001235"),
    ]
    assert [csv_accuracy(x) for x in (None, 0.0, 2 / 3)] == ["", "0.0000", "0.6667"]
    assert [short_accuracy(x) for x in (None, 0.0, 0.4276, 1.0)] == ["", ".000", ".428", "1.000"]
    assert [short_seconds(x) for x in (None, 0.0, 0.0123, 0.1, 177.24)] == ["", "0", "0.012", "0.1", "177.2"]

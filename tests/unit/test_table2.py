import csv
import re
from xml.etree import ElementTree

import pytest
from stats_data import MODELS, bits, method, score_rows, write_scores

from lmev2.report.captions import Source
from lmev2.report.numbers import csv_accuracy, csv_seconds, short_accuracy, short_seconds
from lmev2.report.paper import read_paper
from lmev2.report.table2 import find_marks
from lmev2.report.table_files import VARIANTS, write_table2
from lmev2.stats.accuracy import tabulate_accuracy, tabulate_latency
from lmev2.stats.options import StatsOptions
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


NAMES = (
    *("csv", "md", "tex", "html", "vs_paper", "comparisons"),
    *(f"{variant}_{ending}" for variant in VARIANTS for ending in ("csv", "md")),
)
REAL = {"reader": {"provider": "openai", "model": "m"}}


def make(folder, rows, methods=METHODS, tiers=("small",), models=MODELS, released=False, **options):
    folder.mkdir(exist_ok=True)
    options = StatsOptions(**options)
    scores = write_scores(folder / "scores", rows)
    tabulate_accuracy(scores, folder / "accuracy")
    tabulate_latency(scores, folder / "latency")
    tabulate_significance(scores, methods, folder / "significance", options)
    write_table2(
        *(folder / name for name in ("accuracy", "latency", "significance")),
        {name: folder / name for name in NAMES},
        methods=methods,
        tiers=tiers,
        source=Source("mini", models, released),
        options=options,
    )
    return read_csv(folder / "csv"), (folder / "md").read_text(encoding="utf-8")


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
            "difference": 0.1,
            "p_one_sided": p,
            "p_two_sided": {0.049: 0.098}.get(p, p),
            "p_holm": 0.05,
        } | values

    methods = [method("a"), method("b"), method("c"), method("x", ablation_of="a")]
    rows = [
        *(row("a", "b", 0.049), row("a", "c", 0.0)),
        *(row("b", "a", 0.01), row("b", "c", 0.05)),
        *(row("x", "a", 0.0), row("c", "other_family", 0.0, is_family_baseline=False)),
        row("c", "a", 0.0, operating_point="low"),
    ]
    assert find_marks(rows, methods) == {("a", "small", "overall")}
    assert find_marks(rows, methods, StatsOptions(alpha=0.04)) == set()
    assert find_marks(rows, methods, StatsOptions(alpha=0.06)) == {
        ("a", "small", "overall"),
        ("b", "small", "overall"),
    }
    two_sided = StatsOptions(alpha=0.06, sidedness="two_sided")
    assert find_marks(rows, methods, two_sided) == {("b", "small", "overall")}
    corrected = StatsOptions(correction="holm")
    assert find_marks(rows, methods, corrected) == set()


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
    _, text = make(tmp_path, rows_of(), models=REAL)
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


def test_methods_that_read_the_labels_have_no_row(tmp_path):
    methods = [*METHODS, method("oracle", family="pilot", labels=True)]
    table, _ = make(tmp_path, rows_of(SCORES | {"oracle": "1" * 12}), methods)
    assert [row["method"] for row in table] == ["none", "rag", "full", "full_less"]


def test_latex(tmp_path):
    rows = rows_of() + rows_of(tier="medium")
    make(tmp_path, rows, tiers=("small", "medium"))
    lines = (tmp_path / "tex").read_text(encoding="utf-8").splitlines()
    assert r"\begin{tabular}{lrrrrrrrrrrrr}" in lines
    assert r" & \multicolumn{6}{c}{small} & \multicolumn{6}{c}{medium} \\" in lines
    assert r"\cmidrule(lr){2-7} \cmidrule(lr){8-13}" in lines
    assert r"$n$ & 12 & 3 & 0 & 9 & 0 &  & 12 & 3 & 0 & 9 & 0 &  \\" in lines
    body = [line for line in lines if line.endswith(r"\\") and "multicolumn" not in line]
    assert [line.count(" & ") for line in body] == [12] * 6
    full = next(line for line in lines if line.startswith("Full"))
    # The ablation is better overall, but does not compete; in static two others are equal.
    assert full.startswith(r"Full & \textbf{.917}$^{*}$ & \textbf{1.000} &  & \textbf{.889}$^{*}$ &  & 2.5 &")
    ablation = next(line for line in lines if "quad" in line)
    assert ablation.startswith(r"\quad $-$ notes\textbar{}events & 1.000 &")
    assert next(line for line in lines if line.startswith("RAG")).startswith(
        r"RAG: query $\rightarrow$ slice &"
    )
    text = "\n".join(lines)
    assert text.isascii() and text.count(r"\midrule") == 1
    assert "p $<$ 0.05" in text and "caption{Accuracy" in text


def test_latex_escapes_what_is_special(tmp_path):
    make(tmp_path, rows_of(), [method(name, label=f"{name}_1 & 50% #{{}}~^\\") for name in SCORES])
    text = (tmp_path / "tex").read_text(encoding="utf-8")
    assert r"rag\_1 \& 50\% \#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{} &" in text


def test_html_groups_families_and_marks_the_best(tmp_path):
    methods = [*METHODS[:1], *(m | {"family": "<r&d>"} for m in METHODS[1:])]
    make(tmp_path, rows_of(), methods)
    text = (tmp_path / "html").read_text(encoding="utf-8")
    assert text.count("<tbody>") == 2
    page = ElementTree.fromstring(re.sub("<meta[^>]*>|<br>", "", text.removeprefix("<!DOCTYPE html>")))
    assert {len(row) for row in page.iterfind(".//tbody/tr")} == {7}
    assert '<td class="ablation">− notes|events</td><td>1.000</td>' in text
    assert "<td>Full</td><td><strong>.917</strong><sup>*</sup></td>" in text
    # Alone in its family: nothing to be best of.
    assert "<td>No retrieval</td><td>.000</td>" in text


def test_variants(tmp_path):
    kind = {
        "judged": lambda q: int(q[1:]) >= 8,
        "abstention": lambda q: int(q[1:]) >= 10,
        "domain": lambda q: "web" if int(q[1:]) < 4 else "enterprise",
    }
    make(tmp_path, rows_of(**kind))
    free = read_csv(tmp_path / "judge_free_csv")
    assert {(row["subset"], row["small_n"]) for row in free} == {("judge_free", "8")}
    assert free[1]["small_overall"] == "0.3750"
    domains = read_csv(tmp_path / "domains_csv")
    assert [(row["subset"], row["method"], row["small_n"]) for row in domains[::4]] == [
        ("domain=enterprise", "none", "8"),
        ("domain=web", "none", "4"),
    ]
    apart = read_csv(tmp_path / "abstention_csv")
    assert [row["small_n"] for row in apart[::4]] == ["2", "10"]
    full = next(row for row in free if row["method"] == "full")
    assert full["small_overall_mark"] == "*"
    text = (tmp_path / "domains_md").read_text(encoding="utf-8")
    assert "Tier: small, questions: domain enterprise" in text and "by domain. Dataset: mini" in text


def test_a_variant_without_questions_has_the_methods_without_figures(tmp_path):
    make(tmp_path, rows_of(judged=True))
    free = read_csv(tmp_path / "judge_free_csv")
    assert [(row["subset"], row["method"], row["small_overall"]) for row in free] == [
        ("judge_free", name, "") for name in SCORES
    ]


PAPER = [method("no_retrieval", family="none"), method("rag_query_to_slice"), method("mine")]


def versus(folder, **options):
    scores = {"no_retrieval": "0" * 12, "rag_query_to_slice": "10" * 6, "mine": "1" * 12}
    make(folder, rows_of(scores), PAPER, **options)
    return {(r["method"], r["tier"], r["column"]): r for r in read_csv(folder / "vs_paper")}


def test_comparison_with_the_paper(tmp_path):
    rows = versus(tmp_path, models=REAL, released=True)
    assert len(rows) == len(read_paper("table2")) * 6
    slice_ = rows["rag_query_to_slice", "small", "overall"]
    assert (slice_["ours"], slice_["paper"], slice_["difference"]) == ("0.5000", ".428", "+0.0720")
    assert slice_["paper_in_interval"] == "true"
    assert slice_["note"] == "Other models than the paper's: reader m (paper: Qwen/Qwen3.5-9B)."
    assert rows["rag_query_to_slice", "small", "latency_s"]["difference"] == "+2.4"
    codex = rows["codex", "small", "overall"]
    assert (codex["ours"], codex["paper"], codex["difference"]) == ("", ".699", "")
    assert codex["note"].startswith("We have no such row.")
    nothing = rows["no_retrieval", "small", "overall"]
    assert "give 0.033, not .013" in nothing["note"]
    assert "give" not in rows["agentrunbook_c", "medium", "overall"]["note"]
    assert rows["agentrunbook_r", "small", "workflow"]["paper_mark"] == ""
    assert rows["agentrunbook_r", "medium", "workflow"]["paper_mark"] == "*"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"models": REAL}, "the dataset (mini) is not the released one."),
        ({"released": True}, "embedded models made the numbers (reader)."),
    ],
)
def test_nothing_else_compares_with_the_paper(tmp_path, options, reason):
    rows = versus(tmp_path, **options)
    assert {row["ours"] for row in rows.values()} == {""}
    assert {row["difference"] for row in rows.values()} == {""}
    assert all(f"Nothing is comparable with the paper: {reason}" in row["note"] for row in rows.values())
    text = (tmp_path / "md").read_text(encoding="utf-8")
    assert "comparable with the paper" in text or "compare with nothing published" in text


def test_comparisons_give_both_readings(tmp_path):
    rows = rows_of()
    next(row for row in rows if row["method"] == "full" and row["question_id"] == "q11")["status"] = "refusal"
    make(tmp_path, rows)
    table = read_csv(tmp_path / "comparisons")
    row = next(
        r
        for r in table
        if (r["method"], r["baseline"], r["subset"], r["column"]) == ("full", "rag", "all", "overall")
    )
    assert (row["difference"], row["errors"], row["difference_without_errors"]) == ("0.6667", "1", "0.7273")
    assert (row["beats"], row["resamples"]) == ("true", "0")
    assert "one-sided, p < 0.05, uncorrected" in row["test"]

import math

import pytest
from stats_data import bits, method, score_rows, write_scores

from lmev2.stats.bootstrap import exact
from lmev2.stats.holm import holm
from lmev2.stats.options import StatsOptions
from lmev2.stats.significance import tabulate_significance
from lmev2.store import read_rows

A, B = "111111000000000000000000", "000001111110000000000000"  # 5 questions each way
STRONG, WEAK = "111110" + "0" * 18, "000001" + "0" * 18  # 5 wins, 1 loss, 24 questions


def significance(folder, rows, methods, subset="all", **options):
    out = folder / "significance"
    tabulate_significance(write_scores(folder / "scores", rows), methods, out, StatsOptions(**options))
    return [row for row in read_rows(out) if row["subset"] == subset]


def test_the_example_of_five_wins_and_one_loss(tmp_path):
    rows = score_rows("strong", bits(STRONG)) + score_rows("weak", bits(WEAK))
    table = significance(tmp_path, rows, [method("weak"), method("strong")])
    assert [(r["method"], r["baseline"], r["column"]) for r in table] == [
        ("weak", "strong", "overall"),
        ("strong", "weak", "overall"),
        ("weak", "strong", "static"),
        ("strong", "weak", "static"),
    ]
    up, down = table[1], table[0]
    assert (round(up["p_one_sided"], 3), round(up["p_two_sided"], 3)) == (0.060, 0.120)
    assert (up["n"], up["wins"], up["losses"], up["p_mcnemar"]) == (24, 5, 1, pytest.approx(0.21875))
    assert (down["difference"], down["low"], down["high"]) == (
        -up["difference"],
        0.0 - up["high"],
        0.0 - up["low"],
    )
    assert down["p_two_sided"] == up["p_two_sided"]
    assert down["p_one_sided"] == pytest.approx(exact([-1] * 5 + [1] + [0] * 18).p_one_sided)


def test_equal_arms(tmp_path):
    rows = score_rows("a", bits(A)) + score_rows("b", bits(A))
    for row in significance(tmp_path, rows, [method("a"), method("b")]):
        assert (row["p_one_sided"], row["p_two_sided"], row["p_mcnemar"], row["p_holm"]) == (1, 1, 1, 1)
        assert (row["low"], row["high"]) == (0, 0)


def test_five_copies_are_no_more_significant_than_one(tmp_path):
    methods = [method("a"), method("b")]
    once = significance(tmp_path, score_rows("a", bits(STRONG)) + score_rows("b", bits(WEAK)), methods)
    copies = {question: [score] * 5 for question, score in bits(STRONG).items()}
    assert significance(tmp_path, score_rows("a", copies) + score_rows("b", bits(WEAK)), methods) == once


def test_repeats_are_averaged_exactly(tmp_path):
    rows = score_rows("a", {"q0": [1, 1, 0], "q1": [1, 0, 0]}) + score_rows("b", {"q0": [1, 0], "q1": [0, 0]})
    row = significance(tmp_path, rows, [method("a"), method("b")])[0]
    test = exact([1, 2], 6)  # 2/3 - 1/2 and 1/3 - 0
    assert (row["difference"], row["p_one_sided"], row["low"]) == (
        test.difference,
        test.p_one_sided,
        test.low,
    )


def test_columns_use_their_own_questions_and_empty_ones_have_no_row(tmp_path):
    kind = {"ability": lambda q: "gotchas" if q in ("q0", "q1") else "static"}
    rows = score_rows("a", bits("1111"), **kind) + score_rows("b", bits("0011"), **kind)
    table = significance(tmp_path, rows, [method("a"), method("b")])
    first = {r["column"]: (r["n"], r["difference"]) for r in table if r["method"] == "a"}
    assert first == {"overall": (4, 0.5), "static": (2, 0), "gotchas": (2, 1)}


def test_family_baselines_and_holm(tmp_path):
    methods = [
        method("base"),
        method("other"),
        method("full"),
        method("full", operating_point="low"),
        method("full_ablated", ablation_of="full"),
        method("agent", family="agent"),
    ]
    scores = {
        ("base", ""): WEAK,
        ("other", ""): A,
        ("full", ""): STRONG,
        ("full", "low"): B,
        ("full_ablated", ""): A,
        ("agent", ""): B,
    }
    rows = [
        row
        for (name, point), text in scores.items()
        for row in score_rows(name, bits(text), operating_point=point)
    ]
    table = significance(tmp_path, rows, methods)
    assert len(table) == 6 * 5 * 2

    def baselines(name, point=""):
        return {
            (r["baseline"], r["baseline_operating_point"])
            for r in table
            if (r["method"], r["operating_point"]) == (name, point) and r["is_family_baseline"]
        }

    assert baselines("full") == {("base", ""), ("other", "")}
    assert baselines("full", "low") == {("base", ""), ("other", "")}
    assert baselines("full_ablated") == {("base", ""), ("other", ""), ("full", "")}
    assert baselines("agent") == set()
    for name in ("base", "other", "full", "full_ablated"):
        family = [
            r for r in table if r["method"] == name and r["operating_point"] == "" and r["is_family_baseline"]
        ]
        assert [r["p_holm"] for r in family] == holm([r["p_one_sided"] for r in family])
    assert all((r["p_holm"] is None) == (not r["is_family_baseline"]) for r in table)


def test_tiers_are_compared_apart(tmp_path):
    rows = [
        row
        for tier, a in (("small", STRONG), ("medium", WEAK))
        for row in score_rows("a", bits(a), tier=tier) + score_rows("b", bits(WEAK), tier=tier)
    ]
    table = significance(tmp_path, rows, [method("a"), method("b")])
    found = {r["tier"]: r["difference"] for r in table if r["method"] == "a" and r["column"] == "overall"}
    assert found == {"small": 4 / 24, "medium": 0}


def test_unequal_question_sets_are_refused_with_the_ids(tmp_path):
    rows = score_rows("a", {"q1": 1, "q2": 1, "q3": 1}) + score_rows("b", {"q3": 1, "q4": 0})
    with pytest.raises(
        ValueError, match=r"tier small: a and b .* only the first: q1, q2; only the second: q4"
    ):
        significance(tmp_path, rows, [method("a"), method("b")])


def test_unknown_arms_are_refused(tmp_path):
    rows = score_rows("a", bits("1"), operating_point="low")
    with pytest.raises(ValueError, match="a@low"):
        significance(tmp_path, rows, [method("a")])


def test_other_subsets_have_the_family_baselines_only(tmp_path):
    kind = {"judged": lambda q: q in ("q0", "q1"), "abstention": lambda q: q == "q0"}
    rows = score_rows("a", bits("1110"), **kind) + score_rows("b", bits("0101"), **kind)
    rows += score_rows("c", bits("0000"), **kind)
    methods = [method("a"), method("b"), method("c", family="other")]
    found = {
        subset: {(r["method"], r["baseline"]): r["n"] for r in significance(tmp_path, rows, methods, subset)}
        for subset in ("judge_free", "abstention", "answerable", "domain=web", "domain=enterprise")
    }
    pairs = [("a", "b"), ("b", "a")]
    assert found == {
        "judge_free": dict.fromkeys(pairs, 2),
        "abstention": dict.fromkeys(pairs, 1),
        "answerable": dict.fromkeys(pairs, 3),
        "domain=web": dict.fromkeys(pairs, 4),
        "domain=enterprise": {},
    }
    row = next(r for r in significance(tmp_path, rows, methods, "judge_free") if r["method"] == "a")
    assert (row["difference"], row["wins"], row["losses"]) == (0, 1, 1)  # q2 and q3


def test_both_readings_of_errors(tmp_path):
    def status(failing):
        return {"status": lambda q: "length_no_answer" if q in failing else "ok"}

    rows = score_rows("a", bits("0110"), **status({"q0"})) + score_rows("b", bits("1000"), **status({"q3"}))
    row = significance(tmp_path, rows, [method("a"), method("b")])[0]
    assert (row["n"], row["difference"], row["errors"]) == (4, 0.25, 2)
    without = exact([1, 1])  # q1 and q2 are left
    assert row["difference_without_errors"] == without.difference
    assert row["p_one_sided_without_errors"] == without.p_one_sided == 0
    swapped = significance(tmp_path, rows, [method("a"), method("b")])[1]
    assert swapped["difference_without_errors"] == -1
    rows = score_rows("a", bits("00"), status="refusal") + score_rows("b", bits("10"))
    row = significance(tmp_path, rows, [method("a"), method("b")])[0]
    assert (row["errors"], row["difference_without_errors"], row["p_two_sided_without_errors"]) == (
        2,
        None,
        None,
    )


def test_without_errors_both_readings_agree(tmp_path):
    rows = score_rows("a", bits(STRONG)) + score_rows("b", bits(WEAK))
    for row in significance(tmp_path, rows, [method("a"), method("b")]):
        assert row["errors"] == 0
        for key in ("difference", "low", "high", "p_one_sided", "p_two_sided"):
            assert row[f"{key}_without_errors"] == row[key]


def test_strata_are_resampled_apart(tmp_path):
    domain = {"domain": lambda q: "web" if int(q[1:]) < 3 else "enterprise"}
    rows = score_rows("a", bits("111000"), **domain) + score_rows("b", bits("000000"), **domain)
    methods = [method("a"), method("b")]
    plain, stratified = (
        significance(tmp_path, rows, methods, **options)[0] for options in ({}, {"stratify": ("domain",)})
    )
    # All of web is won and nothing of enterprise: within strata no resample differs.
    assert (stratified["low"], stratified["high"], stratified["p_one_sided"]) == (0.5, 0.5, 0)
    assert plain["p_one_sided"] == pytest.approx(0.5**6)


def test_two_sided_claims_are_corrected_two_sided(tmp_path):
    rows = score_rows("a", bits(STRONG)) + score_rows("b", bits(WEAK))
    for row in significance(tmp_path, rows, [method("a"), method("b")], sidedness="two_sided"):
        assert row["p_holm"] == pytest.approx(min(1, 2 * row["p_two_sided"]))  # overall and static


def test_effect_sizes(tmp_path):
    rows = score_rows("a", bits(STRONG)) + score_rows("b", bits(WEAK))
    up, down = significance(tmp_path, rows, [method("a"), method("b")])[:2]
    assert (up["odds_ratio"], down["odds_ratio"]) == (5, 0.2)
    h = 2 * math.asin(math.sqrt(5 / 24)) - 2 * math.asin(math.sqrt(1 / 24))
    assert (up["cohens_h"], down["cohens_h"]) == (pytest.approx(h), pytest.approx(-h))
    only = significance(
        tmp_path, score_rows("a", bits("1")) + score_rows("b", bits("0")), [method("a"), method("b")]
    )
    assert only[0]["odds_ratio"] is None


def test_bca_intervals_on_request(tmp_path):
    rows = score_rows("a", bits(STRONG)) + score_rows("b", bits(WEAK))
    options = {"interval": "bca", "resamples": 2000, "seed": 3}
    row, again = (significance(tmp_path, rows, [method("a"), method("b")], **options)[0] for _ in range(2))
    assert (row["low"], row["high"]) == (again["low"], again["high"])
    assert row["low"] < row["difference"] < row["high"]
    assert row["p_one_sided"] == exact([1] * 5 + [-1] + [0] * 18).p_one_sided

import pytest
from stats_data import bits, method, score_rows, write_scores

from lmev2.stats.bootstrap import exact
from lmev2.stats.holm import holm
from lmev2.stats.significance import tabulate_significance
from lmev2.store import read_rows

A, B = "111111000000000000000000", "000001111110000000000000"  # 5 questions each way
STRONG, WEAK = "111110" + "0" * 18, "000001" + "0" * 18  # 5 wins, 1 loss, 24 questions


def significance(folder, rows, methods):
    tabulate_significance(write_scores(folder / "scores", rows), methods, folder / "significance")
    return read_rows(folder / "significance")


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

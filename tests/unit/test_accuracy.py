import math

import pytest
from stats_data import bits, score_rows, write_scores

from lmev2.stats.accuracy import tabulate_accuracy, tabulate_latency
from lmev2.stats.intervals import wilson
from lmev2.store import read_rows


def accuracy(folder, rows):
    tabulate_accuracy(write_scores(folder / "scores.parquet", rows), folder / "accuracy.parquet")
    return {(r["method"], r["subset"], r["column"]): r for r in read_rows(folder / "accuracy.parquet")}


def latency(folder, rows):
    tabulate_latency(write_scores(folder / "scores.parquet", rows), folder / "latency.parquet")
    (row,) = read_rows(folder / "latency.parquet")
    return row


def test_subsets_and_columns(tmp_path):
    table = accuracy(
        tmp_path,
        score_rows(
            "m",
            bits("1100"),
            ability=lambda q: "static" if q < "q2" else "gotchas",
            domain=lambda q: "desk" if q == "q0" else "web",
            judged=lambda q: q == "q3",
            abstention=lambda q: q == "q1",
        ),
    )
    found = {key[1:]: (row["n"], row["accuracy"]) for key, row in table.items()}
    assert found == {
        ("all", "overall"): (4, 0.5),
        ("all", "static"): (2, 1),
        ("all", "gotchas"): (2, 0),
        ("judge_free", "overall"): (3, 2 / 3),
        ("judge_free", "static"): (2, 1),
        ("judge_free", "gotchas"): (1, 0),
        ("abstention", "overall"): (1, 1),
        ("abstention", "static"): (1, 1),
        ("answerable", "overall"): (3, 1 / 3),
        ("answerable", "static"): (1, 1),
        ("answerable", "gotchas"): (2, 0),
        ("domain=desk", "overall"): (1, 1),
        ("domain=desk", "static"): (1, 1),
        ("domain=web", "overall"): (3, 1 / 3),
        ("domain=web", "static"): (1, 1),
        ("domain=web", "gotchas"): (2, 0),
    }
    row = table["m", "all", "overall"]
    assert (row["low"], row["high"]) == wilson(0.5, 4)


def test_repeats_are_averaged_within_a_question_first(tmp_path):
    # Unequal repeats cannot come from the pipeline, but show the order of averaging.
    rows = score_rows("m", {"q0": [1, 0, 0, 0], "q1": 1}, is_unknown=lambda q: q == "q0", status="ok")
    rows[1]["status"] = rows[2]["status"] = "empty_reply"
    row = accuracy(tmp_path, rows)["m", "all", "overall"]
    assert (row["n"], row["accuracy"], row["unknown"], row["errors"]) == (2, 0.625, 0.5, 2)
    assert (row["low"], row["high"]) == wilson(0.625, 2)


def test_arms_and_tiers_are_kept_apart_and_sorted(tmp_path):
    rows = [
        *score_rows("m", bits("1"), tier="small"),
        *score_rows("m", bits("0"), tier="medium"),
        *score_rows("m", bits("0"), tier="small", operating_point="low"),
    ]
    tabulate_accuracy(write_scores(tmp_path / "s", rows), tmp_path / "a")
    found = [
        (r["tier"], r["operating_point"], r["accuracy"])
        for r in read_rows(tmp_path / "a")
        if r["subset"] == "all"
    ]
    assert (
        found
        == [("medium", "", 0), ("medium", "", 0), ("small", "", 1), ("small", "", 1)]
        + [("small", "low", 0)] * 2
    )


def test_latency(tmp_path):
    rows = score_rows("m", bits("1" * 21), latency_s=lambda q: float(q[1:]))
    row = latency(tmp_path, rows)
    assert (row["n"], row["latency_mean_s"], row["latency_median_s"]) == (21, 10, 10)
    assert (row["latency_p95_s"], row["latency_max_s"]) == (pytest.approx(19), 20)


def test_zero_latency_is_a_latency(tmp_path):
    row = latency(tmp_path, score_rows("m", bits("10"), latency_s=0.0))
    assert (row["n"], row["latency_mean_s"], row["latency_max_s"]) == (2, 0, 0)


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_domain_without_latencies_is_never_averaged_away(tmp_path, missing):
    rows = score_rows(
        "m",
        {"q0": [1, 1], "q1": [1, 1], "q2": [1, 1]},
        domain=lambda q: "desk" if q == "q2" else "web",
        latency_s=lambda q: missing if q == "q2" else 1.0,
    )
    row = latency(tmp_path, rows)
    assert row["n"] == 2
    assert [row[key] for key in row if key.startswith("latency_")] == [None] * 4

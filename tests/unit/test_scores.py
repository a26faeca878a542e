import pytest
from stats_data import fill

from lmev2.records import SCHEMAS
from lmev2.stats.scores import tabulate_scores
from lmev2.store import read_rows, read_table, write_table

QUESTIONS = [
    fill("questions", question_id="q1", evaluator="mc_choice_match"),
    fill("questions", question_id="q2", evaluator="llm_abstention_checker", abstention=True, domain="desk"),
]


def stage_rows(repeats=1, **values):
    """Query, read and judge rows of one arm over both questions."""
    keys = [{"question_id": q["question_id"], "repeat": r} for q in QUESTIONS for r in range(repeats)]
    values = {"method": "m"} | values
    return (
        [fill("query", **key, latency_s=0.5, **values) for key in keys],
        [fill("read", **key, **values) for key in keys],
        [fill("judge", **key, score=1, **values) for key in keys],
    )


def tabulate(folder, *arms, questions=QUESTIONS):
    write_table("questions", questions, folder / "questions.parquet")
    paths = {"query": [], "read": [], "judge": []}
    for i, arm in enumerate(arms):
        for stage, rows in zip(paths, arm, strict=True):
            paths[stage].append(folder / f"{stage}{i}.parquet")
            write_table(stage, rows, paths[stage][-1])
    out = folder / "scores.parquet"
    tabulate_scores(folder / "questions.parquet", *paths.values(), out)
    return out


def test_joins_all_stages(tmp_path):
    out = tabulate(tmp_path, stage_rows(repeats=2), stage_rows(method="a", operating_point="low"))
    assert read_table(out).schema.equals(SCHEMAS["scores"])
    rows = read_rows(out)
    assert [(r["method"], r["operating_point"], r["repeat"], r["question_id"]) for r in rows] == [
        *(("a", "low", 0, q) for q in ("q1", "q2")),
        *(("m", "", r, q) for r in (0, 1) for q in ("q1", "q2")),
    ]
    assert [r["judged"] for r in rows[:2]] == [False, True]
    assert rows[1]["domain"] == "desk"
    assert all(r["latency_s"] == 0.5 and r["score"] == 1 for r in rows)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (("ok", "ok", "ok"), "ok"),
        (("query_failed", "length_no_answer", "ok"), "query_failed"),
        (("ok", "length_no_answer", "judge_unreadable"), "length_no_answer"),
        (("ok", "ok", "judge_unreadable"), "judge_unreadable"),
    ],
)
def test_status_is_the_first_that_is_not_ok(tmp_path, statuses, expected):
    tables = stage_rows()
    for table, status in zip(tables, statuses, strict=True):
        table[1]["status"] = status
    tables[1][1]["is_unknown"] = None
    tables[2][1]["score"] = 0
    rows = read_rows(tabulate(tmp_path, tables))
    assert [row["status"] for row in rows] == ["ok", expected]
    assert rows[1]["is_unknown"] is False


def test_order_of_the_files_does_not_matter(tmp_path):
    arms = [stage_rows(method="b"), stage_rows(method="a")]
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    assert (
        tabulate(tmp_path / "x", *arms).read_bytes() == tabulate(tmp_path / "y", *reversed(arms)).read_bytes()
    )


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_missing_rows_are_named(tmp_path, stage):
    rows = stage_rows(operating_point="low")
    del rows[stage][1]
    name = ("query", "read", "judge")[stage]
    with pytest.raises(ValueError, match=f"{name} of m@low, tier small, repeat 0 lacks 1 of 2 questions: q2"):
        tabulate(tmp_path, rows)


def test_unknown_and_repeated_rows_are_named_together(tmp_path):
    query, read, judge = stage_rows()
    read.append(fill("read", question_id="q9", method="m"))
    with pytest.raises(ValueError, match=r"read of m, .* has unknown 1 .*: q9\n.*q1") as error:
        tabulate(tmp_path, (query, read, [*judge, judge[0]]))
    assert "judge of m, tier small, repeat 0 repeats 1 of 2 questions: q1" in str(error.value)


def test_a_repeat_that_is_missing_as_a_whole_is_named(tmp_path):
    rows = tuple([row for row in table if row["repeat"] != 1] for table in stage_rows(repeats=3))
    with pytest.raises(ValueError, match=r"query of m, tier small, repeat 1 lacks 2 of 2 questions: q1, q2"):
        tabulate(tmp_path, rows)


@pytest.mark.parametrize(("status", "score"), [("ok", None), ("ok", 2), ("judge_unreadable", 1)])
def test_impossible_scores_are_refused(tmp_path, status, score):
    query, read, judge = stage_rows()
    judge[1] |= {"status": status, "score": score}
    with pytest.raises(
        ValueError, match=rf"m, tier small, repeat 0, question q2: status '{status}', score {score}"
    ):
        tabulate(tmp_path, (query, read, judge))


def test_no_files(tmp_path):
    with pytest.raises(ValueError, match="no methods"):
        tabulate(tmp_path)

import argparse
import asyncio
import io
import json
import re
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from lmev2.cli import score
from lmev2.judge.judging import Judgement
from lmev2.records import Status

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "scoring.jsonl"


def run(*arguments):
    parser = argparse.ArgumentParser()
    score.add_arguments(parser)
    return score.run(parser.parse_args([str(argument) for argument in arguments]))


def row(prediction="B", answer="B", eval_function="mc_choice_match", **fields):
    return {"eval_function": eval_function, "prediction": prediction, "answer": answer, **fields}


@pytest.fixture
def scored(tmp_path, capsys):
    """Score rows (objects, or lines as bytes): exit code, rows written, summary."""

    def call(*rows, arguments=(), end=b"\n"):
        path = tmp_path / "rows.jsonl"
        lines = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in rows]
        path.write_bytes(b"".join(line + end for line in lines))
        code = run(path, *arguments)
        captured = capsys.readouterr()
        return code, [json.loads(line) for line in captured.out.split("\n") if line], captured.err

    return call


def test_rows_come_back_with_their_score(scored):
    code, rows, summary = scored(
        row(r"I think \boxed{B}", id="q1", note={"kept": [1, None]}),
        row(r"\boxed{C}"),
        row(r"\boxed{unknown}", answer="UNKNOWN"),
    )
    assert code == 0
    assert rows == [
        row(
            r"I think \boxed{B}", id="q1", note={"kept": [1, None]}, parsed="B", is_unknown=False, score=True
        ),
        row(r"\boxed{C}", parsed="C", is_unknown=False, score=False),
        row(r"\boxed{unknown}", answer="UNKNOWN", parsed="unknown", is_unknown=True, score=False),
    ]
    assert summary == "3 rows: 3 scored, 1 correct, 0 errors\n"


def test_all_scoring_vectors(scored):
    vectors = [json.loads(line) for line in VECTORS.read_bytes().split(b"\n") if line]
    code, rows, summary = scored(
        *(row(v["prediction_raw"], v["answer"], v["eval_function"]) for v in vectors)
    )
    assert code == 1 and len(rows) == len(vectors)
    for vector, found in zip(vectors, rows, strict=True):
        assert found["parsed"] == vector["parsed_boxed"]
        assert found["is_unknown"] == bool(vector["is_unknown"])
        if vector["expected_error"]:
            assert found["error"] and "score" not in found
        else:
            assert "error" not in found
            assert found["score"] is (vector["expected_bool"] and not vector["is_unknown"])
    assert summary.startswith("740 rows: 661 scored,") and summary.endswith(" 79 errors\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{not json", "line 2: not valid JSON"),
        (b'{"id": NaN}', "line 2: not valid JSON: NaN"),
        (b"\xff", "line 2: not valid JSON"),
        (b"[1]", "line 2: not a JSON object but list"),
        (
            json.dumps({"id": "q7", "prediction": "", "answer": ""}).encode(),
            "line 2, id 'q7': field 'eval_function'",
        ),
        (
            json.dumps({"eval_function": "mc_choice_match", "answer": ""}).encode(),
            "field 'prediction' is missing",
        ),
        (json.dumps(row(eval_function="nope")).encode(), "line 2: eval_function 'nope'"),
        (json.dumps(row(eval_function=None)).encode(), "eval_function None is empty"),
        (
            json.dumps(row(answer=5, eval_function="norm_phrase_set_match")).encode(),
            "must be a string, not 5",
        ),
        (
            json.dumps(row(eval_function="llm_gotchas_checker", id=3)).encode(),
            "line 2, id 3: llm_.* run with --judge",
        ),
    ],
)
def test_a_bad_row_gets_an_error_and_the_others_their_score(scored, line, message):
    code, rows, summary = scored(row(), line, row())
    assert code == 1
    assert [found.get("score") for found in rows] == [True, None, True]
    assert re.search(message, rows[1]["error"])
    assert summary == "3 rows: 2 scored, 2 correct, 1 errors\n"


def test_a_blank_answer_to_a_judged_question_is_wrong_without_a_judge(scored):
    code, rows, _ = scored(
        row(" ", eval_function="llm_gotchas_checker"),
        row(" ", eval_function="llm_gotchas_checker|require_non_empty=false"),
    )
    assert code == 1 and rows[0]["score"] is False and "--judge" in rows[1]["error"]


def test_only_newlines_end_a_row(scored):
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf"
    line = json.dumps(row("B", note=text), ensure_ascii=False).encode()
    code, rows, _ = scored(line, b"", line, end=b"\r\n")
    assert code == 0 and [found["note"] for found in rows] == [text, text]


def test_rows_scored_before_are_scored_anew(scored):
    _, rows, _ = scored(row(score=False, error="old", parsed="old", is_unknown=True))
    assert rows == [row(parsed="B", is_unknown=False, score=True)]


def test_standard_input(monkeypatch, capsys):
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(row()).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("-") == 0
    assert json.loads(capsys.readouterr().out)["score"] is True


def test_output_may_replace_the_input(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row()) + "\n")
    assert run(path, "--output", path) == 0
    assert json.loads(path.read_bytes())["score"] is True
    assert capsys.readouterr().out == ""


def test_wrong_usage_is_exit_code_2(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_text("")
    for arguments, message in [
        ([tmp_path / "absent.jsonl"], "absent.jsonl: no such file"),
        ([tmp_path], "is a folder"),
        ([path, "--output", tmp_path], "is a folder"),
        ([path, "--config", "c.yaml"], "--judge"),
    ]:
        assert run(*arguments) == 2
        assert message in capsys.readouterr().err


def test_the_judge_is_asked_where_one_is_needed(scored, monkeypatch):
    asked = []

    async def judge(function, question, answer, prediction, response):
        asked.append((function.name, question, answer, prediction, response))
        if prediction == "unclear":
            return Judgement(0, status=Status.JUDGE_UNREADABLE)
        return Judgement(1, 1, "so")

    monkeypatch.setattr(score, "_open_judge", lambda args: nullcontext((judge, asyncio.run)))
    name = "llm_gotchas_checker"
    code, rows, summary = scored(
        row(),
        row(r"\boxed{x}", eval_function=name, question="q"),
        row("unclear", eval_function=name, question="q"),
        row("x", eval_function=name),
        row("", eval_function=name),
        arguments=["--judge"],
    )
    assert asked == [(name, "q", "B", "x", r"\boxed{x}"), (name, "q", "B", "unclear", "unclear")]
    assert [found.get("score") for found in rows] == [True, True, None, None, False]
    assert rows[1]["reason"] == "so"
    assert "judge_unreadable" in rows[2]["error"] and "'question'" in rows[3]["error"]
    assert (code, summary) == (1, "5 rows: 3 scored, 2 correct, 2 errors\n")

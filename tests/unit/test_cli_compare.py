import argparse
import csv
import io
import json

import pytest

from lmev2.cli.compare import add_arguments, run

HEADER = "question_id,score\n"


def csv_file(path, scores, header=HEADER):
    path.write_text(header + "".join(f"{question},{score}\n" for question, score in scores), encoding="utf-8")
    return str(path)


def numbered(text):
    return [(f"q{i}", bit) for i, bit in enumerate(text)]


def compare(*argv):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(list(argv)))


@pytest.fixture
def example(tmp_path):
    """5 wins, 1 loss, 24 questions; B in another order."""
    a = csv_file(tmp_path / "a.csv", numbered("111110" + "0" * 18))
    b = csv_file(tmp_path / "b.csv", reversed(numbered("000001" + "0" * 18)))
    return a, b


def compare_json(capsys, *argv):
    assert compare(*argv, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_the_example(example, capsys):
    result = compare_json(capsys, *example)
    assert (round(result["p_one_sided"], 3), round(result["p_two_sided"], 3)) == (0.060, 0.120)
    assert result["p_mcnemar"] == pytest.approx(0.21875)
    assert (result["n"], result["wins"], result["losses"], result["ties"]) == (24, 5, 1, 18)
    assert (result["accuracy_a"], result["accuracy_b"], result["difference"]) == (5 / 24, 1 / 24, 4 / 24)
    assert (result["low"], result["high"], result["bootstrap"]) == (0, 9 / 24, "exact")
    assert (result["a"], result["b"]) == example


def test_text_for_people(example, capsys):
    assert compare(*example) == 0
    out = capsys.readouterr().out
    for part in ("24: A better 5, B better 1", "+0.1667", "[+0.0000, +0.3750]", "0.0599", "0.1198", "0.2188"):
        assert part in out


def test_an_arm_against_itself(example, capsys):
    result = compare_json(capsys, example[0], example[0])
    assert [result[key] for key in ("p_one_sided", "p_two_sided", "p_mcnemar", "low", "high")] == [
        1,
        1,
        1,
        0,
        0,
    ]


def test_copies_change_nothing_and_repeats_may_differ_in_number(example, tmp_path, capsys):
    once = compare_json(capsys, *example)
    copied = csv_file(tmp_path / "copied.csv", numbered("111110" + "0" * 18) * 5)
    assert compare_json(capsys, copied, example[1]) | {"a": example[0]} == once
    a = csv_file(tmp_path / "x.csv", [("q0", 1), ("q0", 0), ("q0", 0), ("q1", 1)])
    b = csv_file(tmp_path / "y.csv", [("q0", 1), ("q0", 0), ("q1", 0.25)])
    result = compare_json(capsys, a, b)
    assert result["difference"] == pytest.approx((1 / 3 - 1 / 2 + 0.75) / 2)
    assert result["bootstrap"] == "exact"


def test_scores_too_fine_fall_to_monte_carlo_and_say_so(tmp_path, capsys):
    a = csv_file(tmp_path / "a.csv", [(f"q{i}", f"0.{(i * 7919 + 1) % 99991:05d}{i:07d}") for i in range(60)])
    b = csv_file(tmp_path / "b.csv", [(f"q{i}", f"0.{(i * 104729) % 99991:05d}1") for i in range(60)])
    argv = (a, b, "--resamples", "2000", "--seed", "5")
    result = compare_json(capsys, *argv)
    assert (result["bootstrap"], result["resamples"], result["seed"]) == ("monte_carlo", 2000, 5)
    p = result["p_one_sided"]
    assert result["p_standard_error"] == pytest.approx((p * (1 - p) / 2000) ** 0.5)
    assert compare(*argv) == 0
    assert "Monte Carlo, 2000 resamples, seed 5" in capsys.readouterr().out


def test_extra_columns_byte_order_mark_crlf_and_blank_lines(tmp_path, example, capsys):
    text = "\ufeffscore,note,question_id\r\n" + "".join(
        f'{score},"a, b",{question}\r\n' for question, score in numbered("111110" + "0" * 18)
    )
    other = tmp_path / "other.csv"
    other.write_bytes((text + "\r\n").encode())
    expected = compare_json(capsys, *example)
    assert compare_json(capsys, str(other), example[1]) | {"a": example[0]} == expected


def test_standard_input(example, capsys, monkeypatch):
    expected = compare_json(capsys, *example)
    with open(example[1], "rb") as file:  # noqa: PTH123
        data = file.read()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert compare_json(capsys, example[0], "-") == expected | {"b": "-"}
    assert compare("-", "-") == 2
    assert "only one" in capsys.readouterr().err


def test_unequal_question_sets_are_refused_with_the_ids(tmp_path, capsys):
    a = csv_file(tmp_path / "a.csv", [("q1", 1), ("q2", 0), ("q3", 0)])
    b = csv_file(tmp_path / "b.csv", [("q3", 1), ("q4", 0)])
    assert compare(a, b) == 1
    captured = capsys.readouterr()
    assert "only in A: q1, q2; only in B: q4" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "q1,1\nq2,1.5\n", "line 3: score 1.5 is not in [0, 1]"),
        (HEADER + "q1,-0.1\n", "line 2: score -0.1 is not in [0, 1]"),
        (HEADER + "q1,\n", "line 2: score '' is not a number"),
        (HEADER + "q1,nan\n", "line 2: score 'nan' is not a number"),
        (HEADER + "q1,true\n", "line 2: score 'true' is not a number"),
        (HEADER + "q1,1e-999999999\n", "line 2: score '1e-999999999' is not a number"),
        (HEADER + "q1\n", "line 2: 1 cells where the header has 2"),
        (HEADER + " ,1\n", "line 2: empty question_id"),
        (HEADER + '"q1\nx",1\nq2,x\n', "line 4: score 'x' is not a number"),
        (HEADER + '"q1,1\n', "line 2: not valid CSV"),
        (HEADER + "q1,1\nq\udcff,1\n", "line 3: not UTF-8"),
        (
            "question_id,points\nq1,1\n",
            "line 1: needs one column 'score' in the header; found question_id, points",
        ),
        ("score,score,question_id\n1,1,q1\n", "line 1: needs one column 'score'"),
        ("", "line 1: needs one column 'question_id' in the header; found nothing"),
        (HEADER, "a header without rows"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path, capsys, example, text, message):
    bad = tmp_path / "bad.csv"
    bad.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert compare(example[0], str(bad)) == 1
    err = capsys.readouterr().err
    assert f"{bad}" in err
    assert message in err


def test_missing_file_and_wrong_usage(example, tmp_path, capsys):
    assert compare(example[0], str(tmp_path / "none.csv")) == 2
    assert "none.csv: No such file" in capsys.readouterr().err
    assert compare(example[0], str(tmp_path)) == 2
    for argv in ([example[0]], [*example, "--resamples", "0"]):
        with pytest.raises(SystemExit) as stop:
            compare(*argv)
        assert stop.value.code == 2


def test_a_comparison_leaves_other_readers_of_csv_their_limit(example, capsys):
    before = csv.field_size_limit()
    compare(*example)
    assert csv.field_size_limit() >= before

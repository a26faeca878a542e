"""What fate does to the command line: closed streams, full disks, files that are not what they should be."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lmev2.cli import main

ROW = json.dumps({"eval_function": "mc_choice_match", "prediction": "B", "answer": "B"}) + "\n"


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(ROW)
    return str(path)


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("question_id,score\nq1,1\n")
    return str(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "not YAML text"),
        (b"models: [", "not YAML text"),
        (b"- 1\n", "a config is a mapping"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_config_file_that_is_none(tmp_path, rows, capsys, content, message):
    config = tmp_path / "config.yaml"
    if content is not None:
        config.write_bytes(content)
    assert main(["score", rows, "--judge", "--config", str(config)]) == 2
    error = capsys.readouterr().err
    assert str(config) in error
    assert message in error


@pytest.mark.parametrize("closed", ["stdin", "stdout"])
def test_a_closed_standard_stream(rows, capsys, monkeypatch, closed):
    monkeypatch.setattr(sys, closed, None)
    assert main(["score", "-" if closed == "stdin" else rows]) == 2
    assert "is closed; give a file" in capsys.readouterr().err


def test_compare_with_standard_input_closed(scores, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["compare", "-", scores]) == 2
    assert "closed" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_full_disk_is_told_in_one_line(rows, scores, command):
    arguments = {"score": [rows], "compare": [scores, scores]}[command]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "lmev2", command, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert f"lmev2 {command}: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_output_to_a_pipe_is_written_and_does_not_replace_it(tmp_path, rows):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["score", rows, "--output", str(pipe)]) == 0
        assert json.loads(os.read(reader, 10_000))["score"] is True
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_interrupt_ends_without_a_traceback(rows, capsys, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("lmev2.cli.score.run", interrupt)
    assert main(["score", rows]) == 130
    assert capsys.readouterr().err == "lmev2 score: interrupted\n"


def test_a_score_of_absurd_length_is_no_number(tmp_path, scores, capsys):
    path = tmp_path / "long.csv"
    path.write_text(f"question_id,score\nq1,0.{'1' * 5000}\n")
    assert main(["compare", scores, str(path)]) == 1
    error = capsys.readouterr().err
    assert "line 2: score '0.111" in error
    assert len(error) < 300


def test_other_columns_may_be_long(tmp_path, scores, capsys):
    path = tmp_path / "contexts.csv"
    path.write_text(f"question_id,score,context\nq1,1,{'x' * 300_000}\n")
    assert main(["compare", scores, str(path)]) == 0
    assert "equal 1" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["-1", "x", "1.5", "9" * 5000])
def test_a_seed_is_a_whole_number(scores, capsys, value):
    with pytest.raises(SystemExit) as ended:
        main(["compare", scores, scores, f"--seed={value}"])
    assert ended.value.code == 2
    assert "is not a whole number from 0" in capsys.readouterr().err

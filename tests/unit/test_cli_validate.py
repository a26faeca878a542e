"""`lmev2 validate`: exit statuses, the readable report and the JSON one."""

import json

import pytest
from dataset_factory import make_dataset

from lmev2.cli import main


def run(*arguments):
    return main(["validate", *map(str, arguments)])


def test_sound_dataset(tmp_path, capsys):
    dataset = make_dataset(tmp_path / "data")
    files = sorted(tmp_path.rglob("*"))
    assert run(dataset) == 0
    out, err = capsys.readouterr()
    assert "questions      8 (enterprise 4, web 4)" in out
    assert out.endswith(f"{dataset}: sound\n") and not err
    assert sorted(tmp_path.rglob("*")) == files


def test_defects(tmp_path, capsys):
    dataset = make_dataset(tmp_path / "data", lambda content: content.questions[1].pop("answer"))
    assert run(dataset) == 1
    out = capsys.readouterr().out
    assert "1 defect" in out and "line 2, id 'q2': the field 'answer' is missing" in out


def test_json(tmp_path, capsys):
    dataset = make_dataset(tmp_path / "data", lambda content: content.questions[1].pop("answer"))
    assert run(dataset, "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["sound"] is False and report["counts"]["trajectories"] == 6
    (defect,) = report["defects"]
    assert (defect["file"], defect["line"], defect["id"]) == ("questions.jsonl", 2, "q2")


def test_only_the_tiers_asked_for(tmp_path):
    dataset = make_dataset(tmp_path / "data", lambda content: content.haystacks.pop("medium"))
    assert run(dataset) == 1
    assert run(dataset, "--tiers", "small") == 0


def test_no_such_folder(tmp_path, capsys):
    assert run(tmp_path / "nowhere") == 2
    assert "nowhere" in capsys.readouterr().err


def test_unknown_option(tmp_path):
    with pytest.raises(SystemExit) as caught:
        run(tmp_path, "--fast")
    assert caught.value.code == 2

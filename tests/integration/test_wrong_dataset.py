"""A wrong dataset fails with all its defects before any model is called."""

import json

import pytest
from project import JOURNAL, asked, clone, snakemake


@pytest.mark.slow
def test_a_wrong_dataset_fails_with_every_defect_before_any_model_is_called(unrun, tmp_path):
    folder = clone(unrun, tmp_path / "run")
    questions = folder / "data" / "questions.jsonl"
    lines = questions.read_text().splitlines()
    repeated = json.loads(lines[1])["id"]
    wrong = json.loads(lines[2])
    wrong["eval_function"] = "guess_match"
    questions.write_text("\n".join([*lines[:2], json.dumps(wrong), *lines[3:], lines[1], '{"id": ']) + "\n")
    haystacks = folder / "data" / "haystacks" / "lme_v2_small.json"
    content = json.loads(haystacks.read_text())
    first = json.loads(lines[0])["id"]
    content[first][0] = "ffffffff"
    haystacks.write_text(json.dumps(content))

    done = snakemake(folder, check=False)
    assert done.returncode != 0
    text = done.stdout
    for fault in (
        f"line {len(lines) + 1}",
        repeated,
        "guess_match",
        f"line {len(lines) + 2}",
        "ffffffff",
        first,
    ):
        assert fault in text, fault
    assert "questions.jsonl" in text and "haystacks/lme_v2_small.json" in text
    assert "4 defects" in text
    assert asked(folder) == {}
    assert not (folder / JOURNAL).exists()
    assert not (folder / "results" / "insert").exists()

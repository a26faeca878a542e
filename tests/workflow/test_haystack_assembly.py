"""Haystacks made from evidence labels, through Snakemake (haystack.mode: assemble)."""

import json
import shutil

import pytest
from project import clone, snakemake

from lmev2.store import read_rows


@pytest.fixture
def labelled(unrun, tmp_path):
    """A copy of the project whose dataset has evidence labels and no haystack files."""
    folder = clone(unrun, tmp_path / "project")
    shutil.rmtree(folder / "data" / "haystacks")
    lines = (folder / "data" / "trajectories.jsonl").read_text().splitlines()
    runs: dict[str, list[str]] = {}
    for row in map(json.loads, lines):
        runs.setdefault(row["domain"], []).append(row["id"])
    rows = []
    for row in map(json.loads, (folder / "data" / "questions.jsonl").read_text().splitlines()):
        evidence = [{"trajectory_id": id_, "state_indexes": [0]} for id_ in runs[row["domain"]][:2]]
        hops = [{"hop": 0, "trajectories": evidence}]
        rows.append({"question_id": row["id"], "hops": hops, "anchor_question_id": None})
    (folder / "data" / "coverage.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder, rows


@pytest.mark.slow
def test_assemble_haystacks(labelled):
    folder, rows = labelled
    (folder / "tests/config/assembled.yaml").write_text(
        "tiers: [few, own]\n"
        "haystack: {mode: assemble, tiers: {few: {size: 4, shared: true}, own: {size: 3}}}\n"
    )
    snakemake(folder, "results/haystack/report.md", configs=("assembled.yaml",))
    for tier, size in (("few", 4), ("own", 3)):
        table = read_rows(folder / f"results/haystack/{tier}.parquet")
        roles = read_rows(folder / f"results/haystack/{tier}.labels.parquet")
        official = json.loads((folder / f"results/haystack/lme_v2_{tier}.json").read_text())
        assert len(table) == len(roles) == size * len(rows) == sum(map(len, official.values()))
        assert sum(row["role"] == "answer" for row in roles if tier == "own") in (0, len(rows))
    report = (folder / "results/haystack/report.md").read_text()
    assert "Answer cores" in report and "size and preferences" in report

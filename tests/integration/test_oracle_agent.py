"""The pilot study in which an agent answers itself: its answers are scored, and no reader is asked."""

import csv
import json
import sys

import pyarrow.parquet as pq
import pytest
import yaml
from project import clone, snakemake

AGENT = """
import json, pathlib
found = sorted(path.name for path in pathlib.Path("trajectories").iterdir())
pathlib.Path("memory_module_output.json").write_text(json.dumps({"answer": " ".join(found)}))
"""
ID = "oracle_files_agent"


@pytest.mark.slow
def test_the_answers_of_the_agent_are_read_as_they_are(unrun, tmp_path):
    folder = clone(unrun, tmp_path / "run")
    program = tmp_path / "agent.py"
    program.write_text(AGENT)
    members = json.loads((folder / "data/haystacks/lme_v2_small.json").read_text())
    evidence = {id_: ids[1] for id_, ids in members.items()}
    labels = [
        {"question_id": id_, "hops": [{"hop": "0", "trajectories": [place]}], "anchor_question_id": None}
        for id_, trajectory in evidence.items()
        for place in [{"trajectory_id": trajectory, "state_indexes": [0]}]
    ]
    (folder / "data/coverage.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    agent = {"provider": "command", "model": "lister", "command": [sys.executable, str(program)]}
    method = {"class": "lmev2.memory.oracle_agent:OracleFilesAgent", "label": "Files", "family": "pilot"}
    config = {"models": {"agent": {**agent, "isolation": "none"}}, "methods": {ID: method}}
    (folder / "tests/config/pilot.yaml").write_text(yaml.safe_dump(config))
    off = yaml.safe_load((folder / "config/config.yaml").read_text())["methods"].keys() - {"no_retrieval"}
    (folder / "tests/config/off.yaml").write_text(
        yaml.safe_dump({"methods": {id_: {"enabled": False} for id_ in off}})
    )
    snakemake(folder, "results/figure4.csv", "results/retrieval.csv", configs=["pilot.yaml", "off.yaml"])
    reads = pq.read_table(folder / f"results/read/{ID}/small.parquet").to_pylist()
    questions = pq.read_table(folder / "results/ingest/questions.parquet").to_pylist()
    answerable = {row["question_id"] for row in questions if not row["abstention"]}
    assert {row["question_id"]: row["prediction"] for row in reads} == {
        id_: evidence[id_] for id_ in answerable
    }
    assert {(row["model"], row["calls"]) for row in reads} == {("command:lister (no isolation)", 0)}
    with (folder / "results/figure4.csv").open(newline="") as file:
        ours = [row for row in csv.DictReader(file) if row["source"] == "ours"]
    assert {row["model"] for row in ours if row["setting"] == "Files"} == {"lister (no isolation)"}
    # No reader saw a context of this arm.
    assert ID not in (folder / "results/retrieval.csv").read_text()

"""Paper mode in the workflow: its table is an input of its own arms alone, and its outputs say so."""

import asyncio
import json
import re

import pyarrow.parquet as pq
import pytest
import yaml
from project import clone, snakemake

from lmev2.flow import Flow
from lmev2.money.estimate import Estimator

CONFIG = """
methods:
  ours: {class: "lmev2.memory.runbook:AgentRunbookR", label: AgentRunbook-R, family: rag}
  theirs:
    class: lmev2.memory.runbook:AgentRunbookR
    label: AgentRunbook-R as first released
    family: rag
    options: {mode: paper}
"""
TABLE = "results/ingest/paper_questions.parquet"


@pytest.fixture(scope="module")
def run(finished, tmp_path_factory):
    """A run with an arm in private mode and one in paper mode."""
    folder = clone(finished, tmp_path_factory.mktemp("release") / "run")
    (folder / "tests/config/release.yaml").write_text(CONFIG)
    return folder


def queries(folder, method, *options):
    target = f"results/query/{method}/small.parquet"
    return snakemake(folder, target, *options, configs=["release.yaml"])


@pytest.mark.slow
def test_only_arms_in_paper_mode_have_the_further_fields_as_input(run, monkeypatch):
    queries(run, "ours")
    assert not (run / TABLE).exists()  # no private arm has it made
    for method, declared in (("ours", False), ("theirs", True)):
        text = queries(run, method, "--dry-run", "--forcerun", "query_memory").stdout
        (body,) = re.findall(r"rule query_memory:\n((?:    .*\n)+)", text)
        assert (TABLE in body) == declared
    queries(run, "theirs")
    for method, safe in (("ours", True), ("theirs", False)):
        meta = json.loads((run / f"results/query/{method}/small.meta.json").read_text())
        assert meta["params"]["leaderboard_safe"] is safe
        assert meta["params"]["options"]["mode"] == ("private" if safe else "paper")
        rows = pq.read_table(run / f"results/query/{method}/small.parquet").to_pylist()
        assert {row["status"] for row in rows} == {"ok"}
        traces = [json.loads(row["trace"]) for row in rows]
        assert {trace.get("leaderboard_safe", True) for trace in traces} == {safe}
        assert meta["counts"]["controller"] == {"parsed": len(rows)}
    monkeypatch.chdir(run)
    config = yaml.safe_load((run / "tests/config/tiny.yaml").read_text()) | yaml.safe_load(CONFIG)
    estimate = asyncio.run(Estimator(Flow(config, run)).estimate())
    assert [line for line in estimate.lines if line.stage == "query" and line.calls] == []

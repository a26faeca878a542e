"""The configs that come with the project can be planned, also before their dataset is there."""

import shutil

import pytest
from project import ROOT, copy_project, planned


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """A copy of the project as it comes: with its own default config, without data."""
    folder = copy_project(tmp_path_factory.mktemp("shipped") / "project")
    shutil.copy(ROOT / "config" / "config.yaml", folder / "config" / "config.yaml")
    return folder


@pytest.mark.slow
def test_the_papers_run_is_planned_without_its_dataset_and_without_its_key(shipped, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    jobs = planned(shipped, configs=("../../config/paper.yaml",))
    assert {"ingest_dataset", "write_events", "write_cost", "query_memory:agentrunbook_r"} <= jobs


@pytest.mark.slow
def test_assembled_haystacks_are_planned(shipped):
    jobs = planned(shipped, configs=("../../config/assemble.yaml",))
    assert {"assemble_haystacks", "report_haystacks", "write_table2"} <= jobs
    assert "write_haystack" not in jobs


@pytest.mark.slow
def test_a_local_server_needs_no_key(shipped, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "read_answers:no_retrieval" in planned(shipped, configs=("../../config/local-llm.yaml",))

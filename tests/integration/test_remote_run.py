"""Whole runs with all four roles on a server, well and badly behaved."""

import random

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from project import clone, snakemake, untimed_tables
from server import StandIn, serving
from server.app import Mixture

KEY = "canary-5f1c9e-key"
ROLES = ("reader", "controller", "embedding", "judge")
# Every fault that a call can survive.
SURVIVED = (
    *("status:408", "status:409", "status:425", "status:429", "status:500", "status:502", "status:503"),
    *("retry_after:0.02", "reset", "torn", "html", "error_body", "no_choices", "echo_key:503"),
    *("null_content", "null_content_old", "thinking_cut", "length", "empty", "content_filter", "refusal"),
    *("no_usage", "null_usage", "parts", "think_tags", "shuffled", "unnormalised"),
)
OUTCOMES = ("results/stats/scores.parquet", "results/stats/accuracy.parquet")


def write_config(folder, url: str, **more) -> None:
    limits = {"backoff_s": 0.01, "attempts": 6, "answer_attempts": 6, "read_timeout_s": 30, "concurrency": 8}
    limits |= more.pop("limits", {})
    changes = {"provider": "openai", "base_url": url, "api_key_env": "CANARY_KEY", "limits": limits}
    models = dict.fromkeys(ROLES, changes)
    text = yaml.safe_dump({"models": models, **more})
    (folder / "tests" / "config" / "remote.yaml").write_text(text)


def run(folder, url, *arguments, check=True, **more):
    write_config(folder, url, **more)
    configs = ("tiny.yaml", "remote.yaml")
    return snakemake(folder, *(arguments or ["all_scores"]), check=check, configs=configs)


def outcomes(folder) -> dict[str, pd.DataFrame]:
    tables = untimed_tables(folder)
    return {name: tables[name] for name in OUTCOMES}


def assert_same_outcomes(one, other) -> None:
    for name, table in outcomes(one).items():
        pd.testing.assert_frame_equal(table, outcomes(other)[name], check_exact=True, obj=name)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("CANARY_KEY", KEY)


def assert_no_key(folder, printed: str) -> None:
    assert KEY not in printed
    places = ["results", ".snakemake", "elsewhere-journal"]
    assert all((folder / place).is_dir() for place in places)
    files = [path for place in places for path in (folder / place).rglob("*") if path.is_file()]
    assert len(files) > 30
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    for path in (path for path in files if path.suffix == ".parquet"):  # compressed
        assert KEY not in str(pq.read_table(path).to_pylist()), path


def test_a_remote_run_equals_the_embedded_one_and_its_replay_needs_neither_key_nor_server(
    finished, unrun, tmp_path, monkeypatch
):
    stand_in = StandIn(key=KEY)
    folder = clone(unrun, tmp_path / "remote")
    with serving(stand_in) as url:
        done = run(folder, url)
    assert stand_in.repeated == [] and max(stand_in.received.values()) == 1
    assert_same_outcomes(folder, finished)
    assert {path for path, _ in stand_in.bodies} == {"chat", "embeddings"}
    assert_no_key(folder, done.stdout)

    replayed = clone(unrun, tmp_path / "replayed")
    clone(folder / "elsewhere-journal", replayed / "elsewhere-journal")
    monkeypatch.delenv("CANARY_KEY")
    write_config(replayed, "http://127.0.0.1:9/v1")
    snakemake(replayed, "all_scores", configs=("tiny.yaml", "remote.yaml", "replay.yaml"))
    for name, table in untimed_tables(folder).items():
        pd.testing.assert_frame_equal(table, untimed_tables(replayed)[name], check_exact=True, obj=name)


def test_faults_at_random_change_no_score_and_repeat_no_good_call(finished, unrun, tmp_path):
    stand_in = StandIn(key=KEY, mixture=Mixture(seed=0, share=0.5, in_a_row=4, faults=SURVIVED))
    folder = clone(unrun, tmp_path / "mixture")
    with serving(stand_in) as url:
        done = run(folder, url)
    bad = sum(stand_in.received.values()) - sum(stand_in.answered.values())
    assert bad > 20
    assert stand_in.repeated == []
    assert_same_outcomes(folder, finished)
    reads = pd.concat(
        pq.read_table(path).to_pandas() for path in (folder / "results" / "read").rglob("*.parquet")
    )
    assert set(reads["status"]) == {"ok"} and reads["attempts"].max() > 1
    assert_no_key(folder, done.stdout)


def test_case_24_in_a_run(unrun, tmp_path):
    stand_in = StandIn(key=KEY)
    folder = clone(unrun, tmp_path / "case24")
    with serving(stand_in) as url:
        run(folder, url, "all_contexts")
        questions = pq.read_table(folder / "results/ingest/questions.parquet").column("text").to_pylist()
        before = len(stand_in.answered)
        last = random.Random(0).choice(questions)[:60]
        stand_in.misbehave("status:500", times=None, path="chat", containing=yaml_free(last))
        failed = run(folder, url, "all_answers", check=False, limits={"attempts": 2})
        assert failed.returncode != 0
        assert "of 12 items failed; the others are kept, so run again" in failed.stdout
        assert "models.reader (extractive at http://127.0.0.1" in failed.stdout
        kept = len(stand_in.answered) - before
        stand_in.behave()
        before = sum(stand_in.received.values())
        run(folder, url, "all_answers")
        asked_again = sum(stand_in.received.values()) - before
    assert stand_in.repeated == []
    assert 0 < asked_again <= 3 and kept > 3 * asked_again


def yaml_free(text: str) -> str:
    """A part of `text` that is the same in JSON."""
    return max(text.replace('"', "\n").replace("\\", "\n").split("\n"), key=len)


def test_a_refused_key_stops_the_run_and_is_not_printed(unrun, tmp_path):
    stand_in = StandIn(key="another")
    folder = clone(unrun, tmp_path / "refused")
    with serving(stand_in) as url:
        failed = run(folder, url, "results/insert/notes.parquet", check=False)
    assert failed.returncode != 0
    assert "answers 401" in failed.stdout and "environment variable CANARY_KEY" in failed.stdout
    assert "Traceback" not in failed.stdout and KEY not in failed.stdout
    assert sum(stand_in.received.values()) <= 8


def test_a_missing_key_is_named_at_the_start_and_by_the_job_that_needs_it(unrun, tmp_path, monkeypatch):
    monkeypatch.delenv("CANARY_KEY")
    folder = clone(unrun, tmp_path / "nokey")
    failed = run(folder, "http://127.0.0.1:9/v1", "results/insert/notes.parquet", check=False)
    assert failed.returncode != 0 and "Traceback" not in failed.stdout
    assert "CANARY_KEY is not set: what needs that key will stop" in failed.stdout
    assert "models.controller.api_key_env: the environment variable CANARY_KEY is not set" in failed.stdout

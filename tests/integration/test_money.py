"""Estimate, budget and cost over a whole small run."""

import asyncio
import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from project import JOURNAL, ROOT, calls, clone, snakemake
from server import StandIn, serving

from lmev2.flow import Flow
from lmev2.money.budget import Spending
from lmev2.money.estimate import Estimator

PRICES = {"input": 2.0, "output": 10.0}


def config_of(folder: Path, **changes) -> dict:
    config = yaml.safe_load((folder / "tests" / "config" / "tiny.yaml").read_text())
    return {**config, **changes}


def estimate(folder: Path, monkeypatch, **changes):
    monkeypatch.chdir(folder)
    return asyncio.run(Estimator(Flow(config_of(folder, **changes), folder)).estimate())


def open_calls(found) -> dict[tuple[str, str], float]:
    sums = Counter()
    for line in found.lines:
        sums[line.stage, line.role] += line.calls
    return {key: calls for key, calls in sums.items() if calls}


def table(folder: Path, name: str) -> pd.DataFrame:
    return pq.read_table(folder / "results" / f"{name}.parquet").to_pandas()


@pytest.mark.slow
def test_of_a_finished_run_nothing_is_left(finished, tmp_path, monkeypatch):
    folder = clone(finished, tmp_path / "run")
    before = {path: path.stat().st_mtime_ns for path in (folder / JOURNAL).rglob("*.parquet")}
    found = estimate(folder, monkeypatch)
    assert open_calls(found) == {}
    assert found.total("cost_at_most") == 0
    recorded = {(line.stage, line.role): line.recorded for line in found.lines}
    assert recorded["insert", "controller"] == len(table(folder, "ingest/trajectories"))
    assert all(recorded[key] > 0 for key in [("insert", "embedding"), ("read", "reader"), ("judge", "judge")])
    assert before == {path: path.stat().st_mtime_ns for path in (folder / JOURNAL).rglob("*.parquet")}


@pytest.mark.slow
def test_only_what_the_journal_lacks_is_open(finished, tmp_path, monkeypatch):
    folder = clone(finished, tmp_path / "run")
    shutil.rmtree(folder / JOURNAL / "reader")
    found = estimate(folder, monkeypatch)
    reads = pd.concat(
        table(folder, f"read/{arm}/small") for arm in ("no_retrieval", "rag_query_to_slice_notes")
    )
    assert open_calls(found)["read", "reader"] == reads.request.nunique() == 24
    # The embedded engine counts characters as the estimate does, but no pictures.
    line = next(line for line in found.lines if (line.stage, line.method) == ("read", "no_retrieval"))
    with_pictures = table(folder, "ingest/questions").image.notna().sum()
    assert line.input_tokens > reads[reads.method == "no_retrieval"].input_tokens.sum() > 0
    assert with_pictures > 0
    # Answers to judge are to come, so their number is that of the judged questions.
    judged = table(folder, "ingest/questions").eval_function.str.startswith("llm_").sum()
    assert open_calls(found)["judge", "judge"] == 2 * judged
    assert set(open_calls(found)) == {("read", "reader"), ("judge", "judge")}


@pytest.mark.slow
def test_a_changed_prompt_opens_its_stage_and_what_follows(finished, tmp_path, monkeypatch):
    folder = clone(finished, tmp_path / "run")
    prompt = folder / "my.md"
    prompt.write_text((ROOT / "workflow/lmev2/prompts/judge_gotchas.user.md").read_text() + "\nBe fair.\n")
    found = estimate(folder, monkeypatch, prompts={"judge_gotchas.user": str(prompt)})
    assert set(open_calls(found)) == {("judge", "judge")}


@pytest.mark.slow
def test_a_query_with_another_option_is_open_with_what_follows(finished, tmp_path, monkeypatch):
    folder = clone(finished, tmp_path / "run")
    methods = config_of(folder)["methods"]
    methods["rag_query_to_slice_notes"]["options"]["top_slices"] = 2
    found = estimate(folder, monkeypatch, methods=methods)
    assert open_calls(found)["query", "embedding"] == open_calls(found)["read", "reader"] == 12
    unknown = next(line for line in found.lines if line.stage == "read" and line.calls)
    assert unknown.input_tokens == unknown.input_tokens_at_most > 12 * 200_000
    assert any("contexts that are still to be found" in note for note in found.notes)


@pytest.mark.slow
def test_queries_that_need_a_controller_or_private_tables(finished, tmp_path, monkeypatch):
    folder = clone(finished, tmp_path / "run")
    tables = ("paper_questions", "oracle_questions")
    snakemake(folder, *(f"results/ingest/{table}.parquet" for table in tables))
    (folder / "data/coverage.jsonl").touch()  # that the pilot study is not left out
    runbook = {"class": "lmev2.memory.runbook:AgentRunbookR", "family": "rag"}
    pools = ["slices", "notes"]
    methods = {
        "private": {**runbook, "label": "R", "options": {"pools": pools}},
        "paper": {
            **runbook,
            "label": "R, paper mode",
            "options": {"pools": pools, "mode": "paper", "slice_queries": 2},
        },
        "oracle": {"class": "lmev2.memory.oracle:OracleTrajectories", "label": "O", "family": "pilot"},
    }
    found = estimate(folder, monkeypatch, methods=methods)
    lines = {(line.stage, line.role, line.method): line for line in found.lines}
    for method, texts in (("private", 6), ("paper", 3)):
        asked, embedded = (lines["query", role, method] for role in ("controller", "embedding"))
        assert (asked.calls, asked.calls_at_most) == (12, 24)
        assert (embedded.calls, embedded.calls_at_most) == (12, texts * 12)
        # The repair repeats the request and the reply to it.
        assert asked.input_tokens_at_most > 2 * asked.input_tokens > 0
    questions = table(folder, "ingest/questions")
    assert lines["read", "reader", "private"].calls == len(questions) == 12
    # Pilot studies are asked what has evidence.
    assert 0 < lines["read", "reader", "oracle"].calls == (~questions.abstention).sum() < 12


@pytest.mark.slow
def test_further_verdicts_are_counted_by_the_judge_that_gives_them(finished, tmp_path, monkeypatch):
    folder = clone(finished, tmp_path / "run")
    models = config_of(folder)["models"]
    models["second_judge"] = models["judge"]
    found = estimate(folder, monkeypatch, judge={"repeats": 2}, models=models)
    judged = pd.concat(
        table(folder, f"judge/{arm}/small") for arm in ("no_retrieval", "rag_query_to_slice_notes")
    )
    verdicts = judged.request[judged.calls > 0].nunique()
    assert verdicts > 0
    assert open_calls(found) == {
        ("judge again", "judge"): verdicts,
        ("judge again", "second_judge"): 2 * verdicts,
    }


@pytest.mark.slow
def test_before_anything_has_run_it_prints_a_table_and_calls_no_model(unrun, tmp_path):
    folder = clone(unrun, tmp_path / "run")
    done = snakemake(folder, "estimate")
    assert "# Still to be asked of the models" in done.stdout
    assert calls(folder) == []
    rows = list(csv.DictReader((folder / "results/estimate.csv").open()))
    by_line = {(row["stage"], row["role"], row["method"]): row for row in rows}
    notes = by_line["insert", "controller", "pool notes"]
    assert int(notes["calls"]) == len(table(folder, "ingest/trajectories"))
    assert int(notes["calls_at_most"]) == 2 * int(notes["calls"])
    assert (folder / "results/estimate.md").read_text().strip() in done.stdout
    assert not (folder / "results/insert").exists()
    again = snakemake(folder, "estimate")  # it has no output, so it runs again
    assert "# Still to be asked of the models" in again.stdout


@pytest.mark.slow
def test_what_the_estimate_says_is_what_is_asked(unrun, finished, tmp_path, monkeypatch):
    folder = clone(unrun, tmp_path / "run")
    snakemake(folder, "all_ingested")
    expected = open_calls(estimate(folder, monkeypatch))
    asked = Counter((call.rule, call.event) for call in calls(finished))
    assert expected["insert", "controller"] == asked["write_notes", "begin"]
    assert expected["read", "reader"] == asked["read_answers", "begin"]
    judged = pd.concat(
        table(finished, f"judge/{arm}/small") for arm in ("no_retrieval", "rag_query_to_slice_notes")
    )
    assert expected["judge", "judge"] >= judged.request[judged.calls > 0].nunique() > 0
    queries = table(finished, "query/rag_query_to_slice_notes/small")
    assert expected["query", "embedding"] == queries.calls.sum()
    # Slices are known beforehand; of the notes it is known that there are two for each trajectory.
    slices = table(finished, "insert/slices.embeddings").calls.sum()
    notes = len(table(finished, "insert/notes"))
    assert expected["insert", "embedding"] == slices + notes


@pytest.mark.slow
def test_costs_are_those_of_the_stage_files(finished):
    rows = pd.read_csv(finished / "results/cost.csv", keep_default_na=False)
    assert list(rows.columns[:5]) == ["stage", "role", "model", "method", "tier"]
    assert set(rows.model) == {"embedded:extractive", "embedded:wordllama-256"}
    assert (rows.cost == 0).all()
    read = rows[(rows.stage == "read") & (rows.method == "no_retrieval")].iloc[0]
    answers = table(finished, "read/no_retrieval/small")
    assert (read.role, read.tier, read.calls) == ("reader", "small", 12)
    assert read.input_tokens == answers.input_tokens.sum()
    query = rows[rows.stage == "query"].iloc[0]
    assert (query.role, query.calls) == ("embedding", 12)
    assert set(rows[rows.stage == "insert"].method) == {"pool slices", "pool notes"}
    assert set(rows[rows.stage == "insert"].role) == {"controller", "embedding"}


@pytest.mark.slow
def test_meta_files_sum_up_by_role(finished):
    def usage(name: str) -> dict:
        return json.loads((finished / "results" / f"{name}.meta.json").read_text())["usage"]

    assert set(usage("query/rag_query_to_slice_notes/small")) == {"embedding"}
    assert usage("query/no_retrieval/small") == {}
    answers = table(finished, "read/no_retrieval/small")
    assert usage("read/no_retrieval/small")["reader"]["output_tokens"] == answers.output_tokens.sum()
    assert usage("insert/slices.embeddings")["embedding"]["calls"] > 50
    assert usage("insert/notes")["controller"]["calls"] == len(table(finished, "ingest/trajectories"))


def run_remote(folder: Path, url: str, budget, *targets: str, check: bool = True):
    limits = {"backoff_s": 0.01, "concurrency": 8}
    changes = {"provider": "openai", "base_url": url, "api_key_env": None, "limits": limits}
    models = dict.fromkeys(("reader", "controller", "embedding", "judge"), changes)
    prices = {"extractive": PRICES, "wordllama-256": PRICES}
    text = yaml.safe_dump({"models": models, "prices": prices, "budget": budget})
    (folder / "tests" / "config" / "remote.yaml").write_text(text)
    configs = ("tiny.yaml", "remote.yaml")
    return snakemake(folder, *targets, "--retries", "0", check=check, configs=configs)


@pytest.mark.slow
def test_a_budget_stops_the_run_and_a_larger_one_goes_on(unrun, tmp_path):
    stand_in, folder = StandIn(), clone(unrun, tmp_path / "run")
    with serving(stand_in) as url:
        told = run_remote(folder, url, None, "estimate")
        assert "No budget is set." in told.stdout and stand_in.bodies == []
        run_remote(folder, url, None, "all_contexts")
        before = Spending(folder / JOURNAL).by_role()
        rows = list(csv.DictReader((folder / "results/estimate.csv").open()))
        reading = sum(float(row["cost"]) for row in rows if row["role"] == "reader")
        assert before["controller"] > 0 and "reader" not in before and reading > 0

        budget = sum(before.values()) + 0.02
        stopped = run_remote(folder, url, budget, "all_scores", check=False)
        assert stopped.returncode != 0
        assert f"of {budget:g} is spent" in stopped.stdout
        assert "raise `budget` in the config" in stopped.stdout
        assert "of 12 questions" in stopped.stdout and "the rest is left to do" in stopped.stdout
        assert "Traceback" not in stopped.stdout
        spent = sum(Spending(folder / JOURNAL).by_role().values())
        assert sum(before.values()) < spent <= budget
        assert "will stop" in run_remote(folder, url, budget, "estimate").stdout

        run_remote(folder, url, 1000.0, "all_scores", "results/cost.csv")
    assert stand_in.repeated == []
    costs = pd.read_csv(folder / "results/cost.csv")
    assert costs.cost_paid.sum() == pytest.approx(
        sum(Spending(folder / JOURNAL).by_role().values()), rel=1e-4
    )
    assert costs.cost.sum() >= costs.cost_paid.sum()


@pytest.mark.slow
def test_a_budget_needs_prices(unrun, tmp_path):
    folder = clone(unrun, tmp_path / "run")
    limits = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1"}
    (folder / "tests/config/dear.yaml").write_text(yaml.safe_dump({"models": {"judge": limits}, "budget": 5}))
    done = snakemake(folder, "--dry-run", check=False, configs=("tiny.yaml", "dear.yaml"))
    assert done.returncode != 0
    assert "a budget is set, but 'extractive' (models.judge) has no price" in done.stdout


@pytest.mark.slow
def test_endpoints_are_checked_as_a_target(unrun, tmp_path):
    folder = clone(unrun, tmp_path / "run")
    done = snakemake(folder, "check_endpoints")
    assert done.stdout.count("is embedded: it runs here and needs no server") == 4
    with serving(StandIn(blind=True)) as url:
        told = run_remote(folder, url, None, "check_endpoints", check=False)
    assert told.returncode != 0
    assert "pictures are refused" in told.stdout and "checks failed; nothing was recorded" in told.stdout
    assert "reader       pass  reachable" in told.stdout
    assert not (folder / JOURNAL).exists() and not (folder / "results/ingest").exists()

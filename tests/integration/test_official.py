"""Results out as official runs and a package, and in again as methods of their own.

The scripts export_official_run, build_leaderboard_package and import_official_run run here.
"""

import csv
import shutil

import pyarrow.parquet as pq
import pytest
from project import calls, clone, snakemake

from lmev2.official.check import check_path

METHOD = "rag_query_to_slice_notes"
MARK = "marked as not for submission"


@pytest.fixture(scope="module")
def run(finished, tmp_path_factory):
    """A finished run, what it exports in runs/, and a second run over it that imports that."""
    folder = clone(finished, tmp_path_factory.mktemp("official") / "run")
    asked = len(calls(folder))
    snakemake(folder, "leaderboard", configs=["unfit.yaml"])
    runs = folder / "runs"
    runs.mkdir()
    for path in (folder / "results/official").glob(f"{METHOD}_*_small"):
        shutil.move(path, runs)
    shutil.move(folder / f"results/leaderboard/{METHOD}_small.tar.gz", runs)
    snakemake(folder, "results/table2.md", "explorer", configs=["imports.yaml"])
    assert len(calls(folder)) == asked  # no model was asked for either
    return folder


def table(folder, stage, method):
    return pq.read_table(folder / f"results/{stage}/{method}/small.parquet").to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["folders", "package"])
def test_a_round_trip_keeps_all_that_counts(run, method):
    for stage, columns in {
        "query": ("status", "items", "latency_s", "in_flight"),
        "read": ("status", "response_raw", "prediction", "boxed", "context_items", "context_tokens_kept"),
        "judge": ("status", "score", "evaluator"),
    }.items():
        mine = {row["question_id"]: row for row in table(run, stage, METHOD)}
        for row in table(run, stage, method):
            for column in columns:
                assert row[column] == mine[row["question_id"]][column], (stage, column, row["question_id"])
        assert len(mine) == len(table(run, stage, method)) == 12
    rows = (run / f"results/official/import/{method}.small.csv").read_text().splitlines()
    assert len(rows) == 1  # nothing is read differently


@pytest.mark.slow
def test_imported_methods_are_rows_that_name_their_models(run):
    page = (run / "results/table2.md").read_text()
    with (run / "results/table2.csv").open(encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert rows["folders"]["label"] == "From folders (official run)"
    for key in ("small_overall", "small_latency_s", "small_n", "small_errors"):
        assert rows["folders"][key] == rows["package"][key] == rows[METHOD][key]
    assert rows["folders"]["models"] == "reader embedded:extractive; judge embedded:extractive"
    assert "Made elsewhere, by models of their own: From folders (official run): reader embedded" in page
    assert rows["half"]["label"] == "Half (official run, in part)"
    for method in ("folders", "package", "half"):
        assert list((run / "results/explorer/data/answers" / method).iterdir())
    assert (rows["half"]["small_n"], rows["half"]["small_latency_s"]) == ("12", "")
    assert int(rows["half"]["small_errors"]) == sum(
        row["status"] == "not_imported" for row in table(run, "judge", "half")
    )
    assert f"No latency is given for {rows['half']['label']}" in page
    tests = pq.read_table(run / "results/stats/significance.parquet").to_pylist()
    assert any(row["method"] == METHOD and row["baseline"] == "folders" for row in tests)


@pytest.mark.slow
def test_exports_of_embedded_models_are_marked_and_nothing_else_is_wrong_with_them(run):
    folders = [run / f"runs/{METHOD}_{domain}_small" for domain in ("web", "enterprise")]
    for path in (*folders, run / f"runs/{METHOD}_small.tar.gz"):
        problems = check_path(path)
        assert any(MARK in problem for problem in problems)
        rest = [p for p in problems if MARK not in p and "it should contain" not in p]
        assert rest == []
    assert "the reader is an embedded model" in (folders[0] / "NOT_FOR_SUBMISSION.md").read_text()

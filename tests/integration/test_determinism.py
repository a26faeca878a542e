"""The same input gives the same results: in another folder, with other numbers of processes."""

import pytest
from project import asked, assert_same_results, clone, snakemake, untimed_tables


@pytest.mark.slow
def test_two_runs_in_different_folders_agree(finished, unrun, tmp_path):
    other = clone(unrun, tmp_path / "another" / "place")
    snakemake(other, cores=1)
    assert_same_results(finished, other)
    assert asked(finished) == asked(other)


@pytest.mark.slow
def test_the_small_run_answers_something(finished):
    """What is compared above is not empty."""
    scores = untimed_tables(finished)["results/stats/scores.parquet"]
    assert len(scores) == 24
    assert (scores.status == "ok").all()
    assert not scores[scores.method == "rag_query_to_slice_notes"].is_unknown.all()

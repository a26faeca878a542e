"""Shards: every question is in exactly one, wherever and whenever it is asked."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.shards import Shard, gather, gathered_meta, shard_of

COUNTS = st.integers(1, 60)
IDS = st.lists(st.text(min_size=1), unique=True, max_size=30)


@settings(deadline=None, max_examples=50)
@given(IDS, COUNTS)
def test_each_question_is_in_one_shard(ids, count):
    for id_ in ids:
        assert sum(Shard(number, count).holds(id_) for number in range(1, count + 1)) == 1


@settings(deadline=None, max_examples=50)
@given(IDS, COUNTS, st.integers(1, 3))
def test_shards_put_together_are_the_rows_of_one_job(ids, count, repeats):
    rows = [{"question_id": id_, "repeat": repeat} for id_ in sorted(ids) for repeat in range(repeats)]
    shards = [Shard(number, count) for number in range(1, count + 1)]
    parts = [[row for row in rows if shard.holds(row["question_id"])] for shard in shards]
    assert gather(reversed(parts)) == rows


def test_a_question_stays_in_its_shard_from_run_to_run():
    assert [number for number in range(1, 8) if Shard(number, 7).holds("6e263257")] == [6]
    assert [number for number in range(1, 8) if Shard(number, 7).holds("75267bfc")] == [4]


def test_a_job_without_shards_has_all_questions():
    whole = shard_of({"method": "rag", "tier": "small"})
    assert whole == Shard(1, 1)
    assert whole.holds("any")
    assert str(whole) == ""
    assert str(shard_of({"shard": "2", "shards": "10"})) == " 2/10"


def test_counts_of_all_shards_are_added_and_usage_is_summed_from_the_rows():
    usage = {"calls": 1, "attempts": 2, "input_tokens": 3, "output_tokens": 4}
    rows = [{**usage, "cost": cost} for cost in (0.1, 0.2, 0.3)]

    def meta(**counts):
        used = {"reader": usage} if counts["rows"] else {}
        return {
            **{"stage": "read_answers_shard", "params": {"a": 1}, "inputs": {"x": "1"}},
            **{"counts": counts, "usage": used},
        }

    metas = [
        meta(rows=1, status={"ok": 1}, truncated=0),
        meta(rows=2, status={"ok": 1, "refusal": 1}, truncated=2),
        meta(rows=0, status={}, truncated=0),
    ]
    whole = gathered_meta("read", rows, metas)
    assert whole["stage"] == "read_answers"
    assert whole["counts"] == {"rows": 3, "status": {"ok": 2, "refusal": 1}, "truncated": 2}
    assert whole["usage"]["reader"]["cost"] == 0.1 + 0.2 + 0.3
    assert (whole["params"], whole["inputs"]) == ({"a": 1}, {"x": "1"})
    # A job of an arm that asks no model through the door says nothing of usage, whatever its rows do.
    silent = [{**one, "usage": {}} for one in metas]
    assert gathered_meta("read", rows, silent)["usage"] == {}

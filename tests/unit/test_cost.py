import csv

import pyarrow as pa
import pytest

from lmev2.llm.reply import usage_columns
from lmev2.money.cost import write_cost
from lmev2.money.usage import usage_by_role
from lmev2.records import BY_ROLE
from lmev2.store import write_parquet


def usage(request, *, calls=1, cost=1.0, model="m", **values):
    counts = {"calls": calls, "attempts": calls, "cost": cost, "input_tokens": 10 * calls}
    return {**usage_columns([]), **counts, "model": model, "request": request, **values}


def stage_file(path, rows):
    write_parquet(pa.Table.from_pylist(rows), path)
    return path


def query_file(path, *by_role):
    schema = pa.schema([("by_role", BY_ROLE)])
    write_parquet(pa.Table.from_pylist([{"by_role": usages} for usages in by_role], schema), path)
    return path


@pytest.fixture
def lines(tmp_path):
    """Two arms that share a reader call, a pool that no model wrote and one that a model wrote."""
    embedded = {"role": "embedding", **usage("e1", model="vec", cost=0.5, latency_s=0.25)}
    asked = {"role": "controller", **usage("c1", calls=2, cost=3.0, retry_wait_s=7.0)}
    insert = [
        stage_file(tmp_path / "insert/slices.parquet", [{"entry_id": "s"}]),
        stage_file(
            tmp_path / "insert/notes.parquet", [usage("n1", cost=4.0), usage("n1", calls=0, cost=0.0)]
        ),
        stage_file(tmp_path / "insert/slices.embeddings.parquet", [usage("", calls=0), usage("v", calls=9)]),
    ]
    arms = [
        query_file(tmp_path / "query/r@low/small.parquet", [asked, embedded], [embedded], []),
        stage_file(tmp_path / "read/none/small.parquet", [usage("same", cost=2.0, output_tokens=5)]),
        stage_file(tmp_path / "read/r@low/small.parquet", [usage("same", cost=2.0), usage("own", cost=1.5)]),
        stage_file(tmp_path / "judge/none/small.parquet", [usage("", calls=0, cost=0.0, model="")]),
    ]
    place = {"method": "r", "operating_point": "low", "tier": "small"}
    verdicts = [{**place, "judge": "judge", **usage("", calls=0, cost=0.0)}]  # the one of record
    verdicts += [{**place, "judge": judge, **usage("v1", cost=0.25)} for judge in ("judge", "second_judge")]
    file = stage_file(tmp_path / "stats/verdicts.parquet", verdicts)
    paid = write_cost(insert, arms, [file], tmp_path / "cost.csv")
    with (tmp_path / "cost.csv").open() as file:
        rows = list(csv.DictReader(file))
    return paid, {(row["stage"], row["role"], row["method"], row["tier"]): row for row in rows}


def test_there_is_a_line_for_every_role_that_was_asked(lines):
    assert list(lines[1]) == [
        ("insert", "controller", "pool notes", ""),
        ("insert", "embedding", "pool slices", ""),
        ("query", "controller", "r@low", "small"),
        ("query", "embedding", "r@low", "small"),
        ("read", "reader", "none", "small"),
        ("read", "reader", "r@low", "small"),
        ("judge again", "judge", "r@low", "small"),
        ("judge again", "second_judge", "r@low", "small"),
    ]


def test_calls_tokens_and_waits_are_summed_by_role(lines):
    _, rows = lines
    query = rows["query", "controller", "r@low", "small"]
    assert (query["calls"], query["input_tokens"], query["cost"]) == ("2", "20", "3")
    assert (query["retry_wait_s"], query["latency_s"]) == ("7", "0")
    assert rows["query", "embedding", "r@low", "small"]["latency_s"] == "0.5"
    assert rows["insert", "embedding", "pool slices", ""]["calls"] == "9"


def test_a_shared_call_is_paid_in_the_first_line_that_has_it(lines):
    paid, rows = lines
    assert (rows["read", "reader", "none", "small"]["cost_paid"]) == "2"
    own = rows["read", "reader", "r@low", "small"]
    assert (own["cost"], own["cost_paid"]) == ("3.5", "1.5")
    assert rows["query", "embedding", "r@low", "small"]["cost_paid"] == "0.5"
    assert paid == {"controller": 7.0, "embedding": 1.5, "reader": 3.5, "judge": 0.25, "second_judge": 0.25}


def test_what_an_agent_spends_is_never_shared(tmp_path):
    spent = {"role": "agent", **usage("", calls=0, attempts=1, cost=2.0)}
    file = query_file(tmp_path / "query/codex/small.parquet", [spent], [spent])
    assert write_cost([], [file], [], tmp_path / "cost.csv") == {"agent": 4.0}


def test_usage_by_role_takes_the_rows_own_roles_or_the_given_one():
    rows = [usage("a"), usage("b", calls=3, cost=2.0), usage("", calls=0, cost=0.0)]
    assert usage_by_role(rows, "judge") == {
        "judge": {"calls": 4, "attempts": 4, "input_tokens": 40, "output_tokens": 0, "cost": 3.0}
    }
    assert list(usage_by_role([{**usage("a"), "role": "second_judge"}], "judge")) == ["second_judge"]
    mixed = [{"by_role": [{"role": "agent", **usage("x")}]}, {"by_role": []}]
    assert list(usage_by_role(mixed, "")) == ["agent"]

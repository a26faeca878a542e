"""Reading the queries out of whatever a controller writes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.memory.bundle import Bundle, parse_bundle, schema_example

ALL = ("notes", "events", "slices")
GOOD = '{"raw_state_queries": ["the shelf", "the form"], "event_query": "after saving", "note_query": ""}'
READ = Bundle(("the shelf", "the form"), "after saving", "")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here are the queries: {GOOD} I hope they help {{really}}.",
        f"<think>{schema_example(ALL)} or {{}}</think>\n{GOOD}",
        f"The form is {schema_example(ALL)}, so I send {GOOD}",
        GOOD.replace("the shelf", "  the \\n shelf "),
        GOOD.replace('"note_query": ""', '"note_query": null, "answer": "Amber"'),
    ],
)
def test_lenient_reading(text):
    assert parse_bundle(text, ALL) == READ


def test_duplicates_non_texts_and_too_many_are_dropped_and_counted():
    queries = ["a", "A ", 7, None, {"query": "b"}, "", "c", "d", "e", "f", "g"]
    text = json.dumps({"raw_state_queries": queries, "event_query": ["first", "second"], "note_query": 3})
    bundle = parse_bundle(text, ALL)
    assert bundle == Bundle(("a", "c", "d", "e", "f"), "first", "")
    assert bundle.dropped == {"duplicate": 1, "not_text": 4, "too_many": 2}


def test_a_single_text_stands_for_a_list_of_one():
    assert parse_bundle('{"raw_state_queries": "the shelf"}', ALL) == Bundle(("the shelf",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "[]",
        "{}",
        GOOD[:-1],
        schema_example(ALL),
        '{"raw_state_queries": [], "event_query": "", "note_query": ""}',
        '{"raw_state_queries": [1, 2], "event_query": {"q": "x"}}',
        '{"queries": ["the shelf"]}',
    ],
)
def test_what_holds_no_query(text):
    assert parse_bundle(text, ALL) is None


def test_keys_of_absent_pools_are_in_no_schema_and_passed_over():
    assert json.loads(schema_example(("notes", "slices"))).keys() == {"raw_state_queries", "note_query"}
    assert parse_bundle(GOOD, ("notes", "slices")) == Bundle(("the shelf", "the form"))
    assert parse_bundle(GOOD, ("notes",)) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(json_values, json_values, json_values, st.text(max_size=20))
def test_whatever_a_reply_holds_the_queries_are_few_distinct_texts(slices, event, note, around):
    value = {"raw_state_queries": slices, "event_query": event, "note_query": note}
    bundle = parse_bundle(f"{around}{json.dumps(value)}{around}", ALL)
    for query in (*bundle.slices, bundle.event, bundle.note) if bundle else ():
        assert isinstance(query, str) and query == " ".join(query.split())
    if bundle:
        assert len(bundle.slices) <= 5 and "" not in bundle.slices
        assert len({query.casefold() for query in bundle.slices}) == len(bundle.slices)

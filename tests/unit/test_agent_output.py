import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmev2.agent.output import Evidence, OutputError, Span, parse_output

STATES = {"a": 30, "b": 3}


def output(*spans, markdown="text", **more):
    keys = ("trajectory_id", "start_state_index", "end_state_index")
    return json.dumps(
        {
            "memory_markdown": markdown,
            "trajectory_spans": [dict(zip(keys, span, strict=True)) for span in spans],
            **more,
        }
    ).encode()


def test_the_exact_form_is_taken_and_ends_are_included():
    assert parse_output(output(("a", 0, 2), ("b", 2, 2)), STATES) == Evidence(
        "text", (Span("a", 0, 2), Span("b", 2, 2))
    )


@pytest.mark.parametrize("mode", ["official", "lenient"])
def test_unknown_trajectories_and_states_that_do_not_exist_are_dropped_and_counted(mode):
    found = parse_output(output(("a", 0, 999), ("zz", 0, 1), ("b", 0, 3), ("b", 0, 2)), STATES, mode)
    assert found.spans == (Span("b", 0, 2),)
    assert [line.partition(":")[0] for line in found.dropped] == ["a 0-999", "zz", "b 0-3"]


@pytest.mark.parametrize(
    ("spans", "says"),
    [
        ([("a", 5, 3)], "reversed"),
        ([("a", -1, 2)], "-1"),
        ([("a", True, 1)], "bool True"),
        ([("a", 0, 6)] * 3, "21 states"),
        ([("a", "1", 2)], "str '1'"),
        ([("a", 1.0, 2)], "float 1.0"),
        ([(7, 1, 2)], "not a text"),
    ],
)
def test_official_rejects(spans, says):
    with pytest.raises(OutputError, match=says):
        parse_output(output(*spans), STATES)


@pytest.mark.parametrize(
    ("spans", "kept"),
    [
        ([("a", 5, 3)], (Span("a", 3, 5),)),
        ([("a", -1, 2)], (Span("a", 0, 2),)),
        ([("a", True, 1)], (Span("a", 1, 1),)),
        ([("a", 0, 6)] * 3, (Span("a", 0, 6), Span("a", 0, 6), Span("a", 0, 5))),
        ([("a", "1", 2)], (Span("a", 1, 2),)),
    ],
)
def test_lenient_mends_and_says_so(spans, kept):
    found = parse_output(output(*spans), STATES, "lenient")
    assert found.spans == kept
    assert found.mended


def test_a_fence_and_prose_are_for_lenient_only():
    fenced = b"Here {it} is:\n```json\n" + output(("a", 1, 1)) + b"\n```\nThat is all."
    with pytest.raises(OutputError, match="not JSON"):
        parse_output(fenced, STATES)
    found = parse_output(fenced, STATES, "lenient")
    assert found.spans == (Span("a", 1, 1),)
    assert found.mended == ("the JSON stood in a fence or in prose",)


@pytest.mark.parametrize("mode", ["official", "lenient"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[1]",
        output(("a", 1, 1))[:-10],
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"memory_markdown": 5, "trajectory_spans": []}',
    ],
)
def test_what_cannot_be_read_fails(data, mode):
    with pytest.raises(OutputError):
        parse_output(data, STATES, mode)


def test_missing_keys_are_missing():
    with pytest.raises(OutputError, match="memory_markdown is missing"):
        parse_output(b'{"trajectory_spans": []}', STATES)
    with pytest.raises(OutputError, match="must have trajectory_id"):
        parse_output(b'{"memory_markdown": "", "trajectory_spans": [{"trajectory_id": "a"}]}', STATES)


def test_half_a_surrogate_pair_becomes_storable():
    found = parse_output(b'{"memory_markdown": "x \\ud800 y", "trajectory_spans": []}', STATES)
    assert found.markdown == "x ? y"


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "memory_markdown",
                        "trajectory_spans",
                        "trajectory_id",
                        "start_state_index",
                        "end_state_index",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode()),
    st.sampled_from(["official", "lenient"]),
)
def test_whatever_is_written_either_fits_the_haystack_or_is_an_output_error(data, mode):
    try:
        found = parse_output(data, STATES, mode)
    except OutputError:
        return
    assert sum(span.last - span.first + 1 for span in found.spans) <= 20
    assert all(0 <= span.first <= span.last < STATES[span.trajectory_id] for span in found.spans)

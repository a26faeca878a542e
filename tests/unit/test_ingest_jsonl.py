"""The fast parser sees what the standard one sees: repeated keys, odd spacing, every fault."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.ingest import jsonl
from lmev2.ingest.defects import Place
from lmev2.ingest.trajectories import Trajectory, fingerprint
from lmev2.store import canonical_json

_TEXT = st.text(alphabet='a:"\\ \n\t,{}', max_size=4)
_SPACE = st.sampled_from(["", "", " ", "\t ", "\r"])


@st.composite
def _objects(draw, depth=2):
    """JSON text of an object whose keys may come twice."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.integers(0, 3 if depth else 1))
        if kind == 0:
            value = json.dumps(draw(_TEXT))
        elif kind == 1:
            value = draw(st.sampled_from(["1", "null", "true", "[]", '[":", {"a": 1}]']))
        elif kind == 2:
            value = draw(_objects(depth=depth - 1))
        else:
            value = f"[{draw(_objects(depth=depth - 1))}, {draw(_objects(depth=depth - 1))}]"
        gaps = [draw(_SPACE) for _ in range(3)]
        parts.append(f"{gaps[0]}{json.dumps(draw(_TEXT))}{gaps[1]}:{gaps[2]}{value}")
    return "{" + ",".join(parts) + "}"


def parsed(function, data):
    place = Place([], "file", 1)
    return function(data, place, "id"), place.defects


@given(_objects())
@settings(deadline=None, max_examples=80)
def test_both_parsers_agree(text):
    assert parsed(jsonl._parse, text.encode()) == parsed(jsonl._parse_slowly, text.encode())


@pytest.mark.parametrize(
    ("text", "is_fast"),
    [
        ('{"id": "x", "states": [{"tree": "[1] a \\"b\\": \\"c\\" : d\\\\", "n": [1, {"k": " x"}]}]}', True),
        ('{"id" : "x"}', False),
        ('{"id": ":x"}', False),
        ('{"i\\\\": 1}', False),
        ('{"a": {"b": 1}, "a": {}}', False),
    ],
)
def test_what_is_certain_at_a_glance(text, is_fast):
    assert jsonl._keys_are_unique(text.encode(), json.loads(text)) is is_fast


@given(st.lists(st.tuples(st.text(max_size=8), st.none() | st.text(max_size=8)), max_size=3), st.text())
@settings(deadline=None, max_examples=40)
def test_a_fingerprint_is_the_digest_of_the_canonical_text(pairs, goal):
    states = [
        {"url": url, "action": other, "thought": None, "tree": url, "screenshot_sha256": other}
        for url, other in pairs
    ]
    row = {"goal": goal, "outcome": None, "start_url": "http://x"}
    text = canonical_json({**row, "states": states})
    assert fingerprint(Trajectory(row, states, [])) == hashlib.sha256(text.encode()).hexdigest()

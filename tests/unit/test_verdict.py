import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.judge.verdict import Verdict, parse_verdict


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ('{"label": 1, "reason": "r"}', 1),
        ('{"label": 0, "reason": "r"}', 0),
        ('{"label": "1", "reason": "r"}', 1),
        ('{"label": "0"}', 0),
        ('{"label": true}', 1),
        ('{"label": false}', 0),
        ('{"label": 1.0}', 1),
        ('{"reason": "first", "label": 0}', 0),
        ('```json\n{"label": 1, "reason": "r"}\n```', 1),
        ('```\n{"label": 0}\n```\nI hope that this helps.', 0),
        ('Let me see. The flaw is named.\n\n{"label": 1, "reason": "r"}', 1),
        ("{'label': 1, 'reason': 'single quotes'}", 1),
        ("{'label': 0, 'reason': 'it said {this} and \"that\"',}", 0),
        ("{'label': True, 'reason': None}", 1),
        ("{'reason': 'it doesn't close', 'label': 0}", 0),
        ("label: 1", 1),
        ("Label: 0\nReason: nothing of the reference is there", 0),
        ("**label:** 1", 1),
        ("My decision is label: 1.", 1),
        ("{label: 0, reason: no quotes at all}", 0),
        ('{"label": 1, "reason": "cut off in the', 1),
        ('{"label": 1, "reason": "two\nlines, not label: 0"}', 1),
        ('"{\\"label\\": 0}"', 0),
        ('[{"label": 1}]', 1),
    ],
)
def test_what_can_be_read(reply, label):
    verdict = parse_verdict(reply)
    assert verdict is not None and verdict.label == label


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ('<think>{"label":0}</think>{"label":1}', 1),
        ('perhaps label: 1, or {"label": 1</think>\n{"label": 0}', 0),
        ('{"label": 1}<think>was it? {"label": 0}', 1),
        ('The answer quotes {"label": 1}. My verdict: {"label": 0}', 0),
        ("The answer quotes {'label': 1}. My verdict: {\"label\": 0}", 0),
        ('The answer says label: 1. My verdict: {"label": 0}', 0),
        ('Format: {"label": 0|1}. {"label": 1}', 1),
        ('{"input": {"label": 0}} {"label": 1}', 1),
        ('{"label": 1, "reason": "it wrote ```json {\\"label\\": 0}``` there"}', 1),
        ('```json\n{"label": 0, "reason": "holds ```{\'label\': 1}```"}\n```', 0),
        ('{"label": 1, "reason": "it wrote {"label": 0} there"}', 1),
        ("{'label': 0, 'reason': 'it doesn't mind {\"label\": 1}'}", 0),
        ('{"label": 1, "reason": "ends in </think>"}', 1),
        ('{"label": 1}\nA note on the label: the flaw was named.', 1),
    ],
)
def test_the_verdict_itself_counts_not_one_it_quotes_or_weighs(reply, label):
    verdict = parse_verdict(reply)
    assert verdict is not None and verdict.label == label


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "1",
        "yes",
        "I'm sorry, but I can't help with that.",
        '{"label": 2}',
        '{"label": 10}',
        '{"label": -1}',
        '{"label": 0.5}',
        '{"label": [1]}',
        '{"label": {"value": 1}}',
        '{"label": null}',
        '{"label": "yes"}',
        '{"label": ""}',
        '{"label": NaN}',
        '{"label": 0, "label": 1}',
        "{'label': 0, 'label': 1}",
        '{"verdict": {"label": 1}}',
        '{"reason": "no label"}',
        "{'reason': \"it says {'label': 1}\"}",
        "label: 10",
        "label: [1]",
        "label: 0|1",
        "label: 0 or 1",
        "label: 1, though one might say label: 0",
        '{"label": 1}\nOn second thought, label: 0',
        '{"label": 1} No: {"label": 2}',
        '<think>{"label": 1}',
        '{"label": 1}</think>',
        'an open { brace, then {"label": 1}',
        "{" * 3000,
        '{"a":' * 3000,
        "{'label':" * 3000 + "}" * 3000,
    ],
)
def test_anything_else_is_no_verdict(reply):
    assert parse_verdict(reply) is None


def test_the_reason():
    assert parse_verdict('{"label": 1, "reason": " because "}') == Verdict(1, "because")
    assert parse_verdict("{'label': 1, 'reason': 'because'}") == Verdict(1, "because")
    assert parse_verdict('{"label": 1, "reason": "because') == Verdict(1, "because")
    assert parse_verdict("label: 1\nreason: because of it.") == Verdict(1, "because of it")
    assert parse_verdict('{"label": 1, "reason": ["a"]}') == Verdict(1, "")
    assert parse_verdict('{"label": 1}') == Verdict(1, "")


_reasons = (
    st.text() | st.text("{}\"'`labe: 01\\\n<think/>", max_size=40) | st.just('{"label": 1} </think> label: 0')
)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([0, 1, "0", "1", True, False, 0.0, 1.0]), _reasons, st.booleans(), st.booleans())
def test_a_well_formed_verdict_is_read_whatever_its_reason_holds(label, reason, fenced, thought):
    reply = json.dumps({"label": label, "reason": reason}, ensure_ascii=False)
    if fenced:
        reply = f"Here it is:\n```json\n{reply}\n```\nDone."
    if thought:
        reply = f'<think>label: 1? {{"label": 0}}</think>{reply}'
    assert parse_verdict(reply) == Verdict(int(float(label)), reason.strip())


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([0, 1]), _reasons)
def test_python_spelling_reads_the_same_or_not_at_all(label, reason):
    verdict = parse_verdict(repr({"label": label, "reason": reason}))
    assert verdict is None or verdict.label == label


@settings(deadline=None, max_examples=200)
@given(st.text("{}\"'labe: 01,\n", max_size=60))
def test_a_text_without_label_and_digit_is_never_a_verdict(text):
    if "label" not in text or not set(text) & set("01"):
        assert parse_verdict(text) is None

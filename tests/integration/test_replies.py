"""Replies of every kind from a server: what the controller's and the judge's words come to, and what is paid.

The parsers have unit tests of their own; here a reply takes the whole way through protocol, door and journal.
"""

import json

import pytest
from memory_data import make_trajectories, slice_entry, write_pool
from remote_models import model, sent
from server import StandIn, serving

from lmev2.insert.events import write_event
from lmev2.insert.notes import write_notes
from lmev2.judge.judging import judge_row
from lmev2.llm.door import Door
from lmev2.llm.embedded import provider
from lmev2.llm.meter import metered
from lmev2.memory.protocol import Question
from lmev2.memory.runbook import AgentRunbookR
from lmev2.memory.services import Services
from lmev2.memory.view import HaystackView, Pool
from lmev2.prompts import Prompts, prompt_params

TREES = {
    "a": ["RootWebArea 'Orders'\n\tStaticText 'the total is 12'", "RootWebArea 'Invoices'\n\tbutton 'Pay'"]
}
QUESTION = Question("handle", "Which button is on the invoices page?", None)
BUNDLE = {"raw_state_queries": ["invoices page", "orders"], "event_query": "", "note_query": ""}


@pytest.fixture
def stand_in():
    return StandIn()


@pytest.fixture
def door(stand_in, tmp_path):
    sampling = {"thinking": True, "max_tokens": 500}
    with serving(stand_in) as url:
        models = {
            role: model(role, url, sampling=sampling if role == "controller" else None)
            for role in ("controller", "judge", "embedding")
        }
        yield Door(models, tmp_path / "journal")


@pytest.fixture
def run(tmp_path):
    return make_trajectories(tmp_path, TREES, screenshots=False)


def say(stand_in, *replies):
    """Texts that the server gives in turn, or names of its faults with a leading "!"."""
    for reply in replies:
        stand_in.misbehave(reply[1:] if reply.startswith("!") else f"say:{reply}", path="chat")


def assert_all_said(stand_in):
    assert [rule.fault for rule in stand_in.rules if rule.times] == []


def prompts(*stems):
    return Prompts(prompt_params(stems, {}))


# -- the controller's queries --------------------------------------------------------------------------


def ask(door, run, folder):
    entries = [slice_entry("a", state, 1) for state in range(2)]
    paths = write_pool(folder, "slices", entries, [[0], [1]], provider.embed(TREES["a"]))
    services = Services(door, prompts("controller."))
    memory = AgentRunbookR({"pools": ["slices"]}, services)
    memory.attach(HaystackView(("a",), run, {"slices": Pool(*paths, best=1)}))
    with metered() as meter:
        items = door.run(memory.query(QUESTION))
    return items, meter


@pytest.mark.parametrize(
    ("replies", "outcome", "queries"),
    [
        ([json.dumps(BUNDLE)], "parsed", ["invoices page", "orders"]),
        ([f"Here it is:\n```json\n{json.dumps(BUNDLE)}\n```\nDone."], "parsed", ["invoices page", "orders"]),
        ([f'<think>{{"raw_state_queries": ["no"]}}</think>{json.dumps(BUNDLE)}'], "parsed", BUNDLE),
        (['{"raw_state_queries": ["b", "B ", 3, null, "c", "d", "e", "f", "g"]}'], "parsed", list("bcdef")),
        (['{"raw_state_queries": "倉庫の合計"}'], "parsed", ["倉庫の合計"]),
        (["I would look at the invoices.", json.dumps(BUNDLE)], "repaired", BUNDLE),
        (['{"raw_state_queries": ["cut off', json.dumps(BUNDLE)], "repaired", BUNDLE),
        (["!empty", "!empty", json.dumps(BUNDLE)], "repaired", BUNDLE),
        (["!refusal", "!refusal", json.dumps(BUNDLE)], "repaired", BUNDLE),
        (["!thinking_cut", "!null_content", json.dumps(BUNDLE)], "repaired", BUNDLE),
        (["no", '{"raw_state_queries": []}'], "fallback", [QUESTION.text]),
        (["!overlong"], "fallback", [QUESTION.text]),
    ],
)
def test_a_controllers_reply_becomes_queries_or_the_fallback(
    stand_in, door, run, tmp_path, replies, outcome, queries
):
    say(stand_in, *replies)
    items, meter = ask(door, run, tmp_path)
    assert meter.trace["controller"] == outcome
    expected = queries if isinstance(queries, list) else queries["raw_state_queries"]
    assert meter.trace["bundle"]["raw_state_queries"] == expected
    assert {item.source for item in items} == {"slices"}
    bodies = sent(stand_in, "chat")
    assert len(bodies) == len(replies)
    assert_all_said(stand_in)
    usage = {row["role"]: row for row in meter.by_role()}
    assert usage["controller"]["attempts"] == len(replies)
    thinking = [body["chat_template_kwargs"]["enable_thinking"] for body in bodies]
    assert (
        thinking == [True] * len(replies)
        if outcome == "parsed"
        else thinking[-1] is (replies == ["!overlong"])
    )
    # A second run finds the same in the journal and asks nothing.
    again, _ = ask(door, run, tmp_path)
    assert again == items and len(sent(stand_in, "chat")) == len(replies)


# -- events and notes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        (['```json\n{"overview": "o", "state_transition": ["a", "b"]}\n```'], "ok"),
        (["It changed.", '{"overview": "o", "state_transition": "t"}'], "repaired"),
        (["It changed.", "Really."], "template"),
        (["!filtered", "!filtered", "no"], "template"),
    ],
)
def test_an_event_is_written_repaired_or_a_marked_template(stand_in, door, run, replies, status):
    say(stand_in, *replies)
    row = door.run(write_event(door, run["a"], 1, prompts("events.")))
    assert row["status"] == status and row["overview"] and row["transition"]
    assert (row["calls"], row["attempts"]) == (1 if status == "ok" else 2, len(replies))
    bodies = sent(stand_in, "chat")
    assert not any(body["chat_template_kwargs"]["enable_thinking"] for body in bodies)


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        (
            [
                json.dumps(
                    {
                        kind: {"title": "t", "description": "d", "content": ["x", "y"]}
                        for kind in ("procedure_note", "hint_note")
                    }
                )
            ],
            "ok",
        ),
        (["no", "no"], "template"),
    ],
)
def test_notes_take_lists_and_else_are_marked_templates(stand_in, door, run, replies, status):
    say(stand_in, *replies)
    rows = door.run(write_notes(door, run["a"], prompts("notes.")))
    assert {row["status"] for row in rows} == {status}
    if status == "ok":
        assert {row["content"] for row in rows} == {"- x\n- y"}
    thinking = [body["chat_template_kwargs"]["enable_thinking"] for body in sent(stand_in, "chat")]
    assert thinking == [True, False][: len(replies)]


# -- the judge -----------------------------------------------------------------------------------------

ROW = {"text": "What is wrong?", "answer": "the premise", "eval_function": "llm_abstention_checker"}
READ = {
    "status": "ok",
    "error": "",
    "prediction": "the premise is",
    "response_raw": "the premise is",
    "repeat": 0,
}


@pytest.mark.parametrize(
    ("replies", "status", "label"),
    [
        (['```json\n{"label": 1, "reason": "r"}\n```'], "ok", 1),
        (['Let me see. {"label": 0, "reason": "r"} That is all.'], "ok", 0),
        (['It quotes {"label": 1}. My verdict: {"label": 0, "reason": "r"}'], "ok", 0),
        (['{"label": "1"}'], "ok", 1),
        (['{"label": true}'], "ok", 1),
        (['{"label": 1.0}'], "ok", 1),
        (['{"label": 2}', '{"label": 10}', '{"label": 1}'], "ok", 1),
        (['{"label": [1]}', '{"label": "yes"}', '{"label": 0}'], "ok", 0),
        (["yes", "perhaps", '{"label": 2}'], "judge_unreadable", None),
        (["!empty"] * 6, "empty_reply", None),
        (["!refusal"] * 6, "refusal", None),
        (["!empty", "!empty", '{"label": 1}'], "ok", 1),
    ],
)
def test_a_verdict_is_read_asked_for_again_or_has_a_status(stand_in, door, replies, status, label):
    say(stand_in, *replies)
    judging = judge_row(door.chat, ROW, READ, prompts("judge.", "judge_"), attempts=3)
    row = door.run(judging)
    assert (row["status"], row["label"], row["score"]) == (status, label, label or 0)
    assert len(sent(stand_in, "chat")) == row["attempts"] == len(replies)
    assert_all_said(stand_in)

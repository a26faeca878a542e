"""The event pool: one entry per pair of neighbouring states, by whatever the controller replies."""

import asyncio
import json

import pytest
from memory_data import make_trajectories

from lmev2.insert.embedding import DOCUMENTS
from lmev2.insert.events import SHORT_TREE, event_messages, event_text, parse_event, write_event
from lmev2.llm.reply import Reply
from lmev2.memory.embedding_text import Recipe
from lmev2.prompts import Prompts, prompt_params
from lmev2.records import SCHEMAS, Status

TREES = ["RootWebArea 'A'\n\t[1] button 'Next'", "RootWebArea 'B'\n\t[2] button 'Save'", ""]
GOOD = json.dumps({"overview": "The form opened.", "state_transition": ["New: Save", "Gone: Next"]})


def reply(text, status=Status.OK):
    return Reply(text, "", "stop", status, "m", "r", 1, 1, 9, 3, 0.5, 1.0, 0.0, 0.0)


class FakeDoor:
    """Gives the scripted replies in turn; a `Status` stands for a reply without text."""

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    async def chat(self, role, messages, *, sampling=None):
        self.asked.append((role, messages, sampling))
        given = self.replies[len(self.asked) - 1]
        return reply("", given) if isinstance(given, Status) else reply(given)


@pytest.fixture
def run(tmp_path):
    return make_trajectories(tmp_path, {"t": TREES})["t"]


@pytest.fixture(scope="module")
def prompts():
    return Prompts(prompt_params(("events.",), {}))


def write(door, run, prompts, post=1):
    return asyncio.run(write_event(door, run, post, prompts))


def texts(messages):
    return [part["text"] for part in messages[1]["content"] if part["type"] == "text"]


def test_the_request_has_the_run_the_position_and_both_states(run, prompts):
    messages = event_messages(run, 2, prompts)
    head, before, after, task = texts(messages)
    assert head.startswith("<step>\nGoal: goal of t\nOutcome: success\nStart: http://x/\n")
    assert "1. click('1')  # button 'Next'\n2. click('2')  # button 'Save'\nStep 2 of 2" in head
    assert head.endswith("Action of this step: click('2')  # button 'Save'")
    assert before.startswith("<before>\nState 1\nURL: http://x/1\nThought: thought 1\nAction that led here: ")
    assert TREES[1] in before
    assert "(no tree was recorded)" in after
    assert task.startswith("</step>")
    assert [part["sha256"] for part in messages[1]["content"] if part["type"] == "image"] == [
        "sha-t-1",
        "sha-t-2",
    ]


def test_a_row_of_the_schema_asked_once_without_thinking(run, prompts):
    door = FakeDoor(GOOD)
    row = write(door, run, prompts)
    assert row.keys() == set(SCHEMAS["events"].names)
    assert (row["entry_id"], row["pre_state"], row["post_state"]) == ("t/0-1", 0, 1)
    assert (row["overview"], row["transition"]) == ("The form opened.", "- New: Save\n- Gone: Next")
    assert (row["status"], row["trees_cut"], row["cost"]) == ("ok", False, 0.5)
    assert [(role, sampling) for role, _, sampling in door.asked] == [("controller", {"thinking": False})]


def test_one_repair_then_a_marked_template(run, prompts):
    door = FakeDoor("no idea", f"```json\n{GOOD}\n```")
    assert write(door, run, prompts)["status"] == "repaired"
    assert door.asked[1][1][-2] == {"role": "assistant", "content": "no idea"}
    row = write(FakeDoor("no", "still no"), run, prompts)
    assert (row["status"], row["calls"]) == ("template", 2)
    assert row["transition"] == (
        "click('1')  # button 'Next': from the page 'A' (http://x/0) to the page 'B' (http://x/1)."
    )


def test_what_does_not_fit_is_asked_again_with_shorter_trees(tmp_path, prompts):
    long = make_trajectories(tmp_path, {"t": ["Ж" * 200_000, "y" * 20_000]})["t"]
    door = FakeDoor(Status.CONTEXT_OVERFLOW, GOOD)
    row = write(door, long, prompts)
    assert (row["status"], row["trees_cut"], row["calls"]) == ("ok", True, 2)
    _, before, after, _ = texts(door.asked[1][1])
    assert before.count("Ж") == after.count("y") == SHORT_TREE
    # Still too long: a repair request would be longer yet.
    row = write(FakeDoor(Status.CONTEXT_OVERFLOW, Status.CONTEXT_OVERFLOW), long, prompts)
    assert (row["status"], row["trees_cut"], row["calls"]) == ("template", True, 2)


def test_short_trees_are_not_asked_twice(run, prompts):
    row = write(FakeDoor(Status.CONTEXT_OVERFLOW), run, prompts)
    assert (row["status"], row["trees_cut"], row["calls"]) == ("template", False, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"overview": "x"}',
        '{"overview": "x", "state_transition": " "}',
        '{"overview": 1}',
        GOOD[:-1],
    ],
)
def test_what_is_no_event(text):
    assert parse_event(text) is None


def test_what_is_embedded_is_overview_and_transition_cut_at_the_limit():
    event = {"overview": "Überblick", "transition": "変化" * 100_000}
    assert event_text(event).startswith("Überblick\n変化")
    documents = DOCUMENTS["events"](event, {}, Recipe(max_tokens=100))
    assert (len(documents.texts[0]), documents.was_cut) == (300, True)

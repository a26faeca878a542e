import asyncio
import json

import pytest
from memory_data import make_trajectories

from lmev2.insert.notes import note_messages, note_text, parse_notes, template_notes, write_notes
from lmev2.llm.reply import Reply
from lmev2.prompts import Prompts, prompt_params
from lmev2.records import SCHEMAS, Status

NUMBERS = {"calls": 1, "attempts": 1, "input_tokens": 9, "output_tokens": 3, "cost": 0.5}
TIMES = {"latency_s": 1.0, "queue_wait_s": 0.0, "retry_wait_s": 0.0}
NOTE = {"title": "How to save", "description": "When saving.", "content": "- press Save"}
GOOD = json.dumps({"procedure_note": NOTE, "hint_note": {**NOTE, "title": "Mind the button"}})
TREES = ["RootWebArea 'A'\n\t[1] button 'Next'", "RootWebArea 'B'\n\t[2] button 'Save'", "RootWebArea 'C'"]


def reply(text):
    return Reply(text, "", "stop", Status.OK, model="m", request="r", **NUMBERS, **TIMES)


class FakeDoor:
    def __init__(self, *texts):
        self.texts, self.asked = list(texts), []

    async def chat(self, role, messages, *, sampling=None):
        self.asked.append((role, messages, sampling))
        return reply(self.texts[len(self.asked) - 1])


@pytest.fixture
def trajectory(tmp_path):
    return make_trajectories(tmp_path, {"t": TREES})["t"]


@pytest.fixture(scope="module")
def prompts():
    return Prompts(prompt_params(("notes.",), {}))


def write(door, trajectory, prompts):
    return asyncio.run(write_notes(door, trajectory, prompts))


def test_the_request_has_the_whole_run_with_annotated_next_actions(trajectory, prompts):
    _, user = note_messages(trajectory, prompts)
    parts = user["content"]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    assert texts[0] == "<trajectory>\nGoal: goal of t\nOutcome: success\nStart: http://x/"
    assert texts[1] == "State 0\nURL: http://x/0\nNext action: click('1')  # button 'Next'"
    assert (
        texts[2] == "State 1\nURL: http://x/1\nThought: thought 1\nNext action: click('2')  # button 'Save'"
    )
    assert "Next action" not in texts[3]
    assert texts[4].startswith("</trajectory>")
    assert [part["sha256"] for part in parts if part["type"] == "image"] == ["sha-t-0", "sha-t-1", "sha-t-2"]


def test_without_screenshots_the_request_is_text_only(tmp_path, prompts):
    bare = make_trajectories(tmp_path, {"t": TREES}, screenshots=False)["t"]
    assert {part["type"] for part in note_messages(bare, prompts)[1]["content"]} == {"text"}


def test_two_rows_of_the_schema_and_the_cost_once(trajectory, prompts):
    rows = write(FakeDoor(GOOD), trajectory, prompts)
    assert [row["kind"] for row in rows] == ["procedure", "hint"]
    assert all(row.keys() == set(SCHEMAS["notes"].names) for row in rows)
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert [row["title"] for row in rows] == ["How to save", "Mind the button"]
    assert sum(row["cost"] for row in rows) == 0.5
    assert rows[0]["digest"] != rows[1]["digest"]


def test_one_repair_without_thinking_then_a_marked_template(trajectory, prompts):
    door = FakeDoor("no idea", GOOD)
    assert [row["status"] for row in write(door, trajectory, prompts)] == ["repaired", "repaired"]
    role, messages, sampling = door.asked[1]
    assert (role, sampling) == ("controller", {"thinking": False})
    assert messages[-2] == {"role": "assistant", "content": "no idea"}
    rows = write(FakeDoor("no", "still no"), trajectory, prompts)
    assert [row["status"] for row in rows] == ["template", "template"]
    assert "- click('1')  # button 'Next'" in rows[0]["content"]
    assert sum(row["calls"] for row in rows) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"Here they are:\n```json\n{GOOD}\n```\nDone.",
        f"<think>{{}}</think>{GOOD}",
        GOOD.replace('"- press Save"', '["press Save", "* wait", "  "]'),
    ],
)
def test_lenient_reading(text):
    notes = parse_notes(text)
    assert notes["procedure"]["title"] == "How to save"
    assert notes["procedure"]["content"].startswith("- press Save")
    assert "- *" not in notes["procedure"]["content"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        json.dumps({"procedure_note": NOTE}),
        json.dumps({"procedure_note": NOTE, "hint_note": "text"}),
        json.dumps({"procedure_note": NOTE, "hint_note": {**NOTE, "content": " "}}),
        json.dumps({"procedure_note": {**NOTE, "title": 7}, "hint_note": NOTE}),
        GOOD[:-2],
    ],
)
def test_what_is_no_pair_of_notes(text):
    assert parse_notes(text) is None


def test_a_run_without_actions_has_a_template_too(tmp_path):
    notes = template_notes(make_trajectories(tmp_path, {"t": ["tree"]})["t"])
    assert notes["procedure"]["content"] == "- no action was taken"


def test_a_notes_text_is_title_description_and_content():
    assert note_text({**NOTE, "description": ""}) == "How to save\n- press Save"

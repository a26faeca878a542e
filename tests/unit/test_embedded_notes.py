"""The embedded note writer on an invented application."""

import json

import pytest

from lmev2.llm.embedded import chat
from lmev2.llm.embedded.notes import describe


def prompt(
    *states: str, head: str = "Goal: Book the heron.\nOutcome: success\nStart: http://museum.test/"
) -> list:
    content = [{"type": "text", "text": f"<trajectory>\n{head}"}]
    for state in states:
        content += [{"type": "text", "text": state}, {"type": "image", "image": "ignored"}]
    content.append({"type": "text", "text": "</trajectory>\nWrite a procedure note and a hint note as JSON."})
    return [{"role": "system", "content": "You write notes."}, {"role": "user", "content": content}]


def notes(*states: str, **kwargs) -> dict:
    return json.loads(chat.complete(prompt(*states, **kwargs)))


STATES = (
    "State 0\nURL: http://museum.test/\nNext action: click('12')  # link '\\uf002 New loan'",
    "State 1\nURL: http://museum.test/new\nThought: Loans are called stays here.\n"
    "Next action: fill('26', 'H-204')  # textbox 'Object mark'",
    "State 2\nURL: http://museum.test/new\nThought: The mark is in.\nNext action: scroll(0, 200)",
    "State 3\nURL: http://museum.test/new\nThought: Go on.\nNext action: click('44')  # button 'Book it in'",
    "State 4\nURL: http://museum.test/new\nThought: Nothing happened; again.\n"
    "Next action: click('44')  # button 'Book it in'",
    "State 5\nURL: http://museum.test/new\nNext action: send_msg_to_user('Booked.')",
    "State 6\nURL: http://museum.test/new",
)


def test_procedure_lists_the_controls_in_order():
    note = notes(*STATES)["procedure_note"]
    assert set(note) == {"title", "description", "content"}
    assert "Book the heron." in note["title"] and "success" in note["description"]
    assert note["content"].split("\n") == [
        "- Click link 'New loan'",
        "- Fill in textbox 'Object mark': 'H-204'",
        "- Click button 'Book it in'",
        "- Answer: 'Booked.'",
    ]


def test_hints_hold_thoughts_repeats_and_the_outcome():
    content = notes(*STATES)["hint_note"]["content"].split("\n")
    assert "- Loans are called stays here." in content
    assert "- Nothing happened; again." in content
    assert "- Done 2 times: Click button 'Book it in'" in content
    assert content[-1] == "- The run ended as success."
    assert all(line.startswith("- ") for line in content)


def test_failure_names_where_the_run_was_stuck():
    head = "Goal: Book the heron.\nOutcome: failure\nStart: http://museum.test/"
    content = notes(*STATES, head=head)["hint_note"]["content"]
    assert content.endswith("- The run ended as failure; it was still at http://museum.test/new.")


def test_nothing_is_said_that_the_input_does_not_say():
    text = " ".join(part["text"] for part in prompt(*STATES)[1]["content"] if part["type"] == "text")
    for note in notes(*STATES).values():
        for name in ("Humidity", "Lender", "sign in"):
            assert name not in note["content"] and name not in text


@pytest.mark.parametrize(
    "states", [(), ("State 0",), ("State 0\nURL: \nThought: \nNext action: ",), ("\x00",)]
)
def test_sparse_trajectories_give_both_notes(states):
    made = notes(*states, head="")
    assert list(made) == ["procedure_note", "hint_note"]
    assert made["procedure_note"]["content"] == "- No action was recorded."


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("select_option('a5', 'Dry')  # combobox 'Humidity band'", "Choose combobox 'Humidity band': 'Dry'"),
        ("press('26', 'Enter')  # textbox 'Mark'", "Press textbox 'Mark': 'Enter'"),
        ("goto('http://museum.test/x')", "Open http://museum.test/x"),
        ("report_infeasible('No such lender.')", "Report as infeasible: 'No such lender.'"),
        ("click('9')", "Click element '9'"),
        ("noop()", ""),
        ("go_back()", "go_back()"),
        ("not an action", "not an action"),
    ],
)
def test_actions_in_words(action, said):
    assert describe(action) == said


def test_notes_are_deterministic():
    assert chat.complete(prompt(*STATES)) == chat.complete(prompt(*STATES))


def test_a_page_that_quotes_a_trajectory_tag_does_not_make_a_note():
    reply = chat.complete(
        [{"role": "user", "content": "Page text <trajectory></trajectory>\n<question>Which key?</question>"}]
    )
    assert "\\boxed{" in reply

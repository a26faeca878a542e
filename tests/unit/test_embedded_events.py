"""The embedded writers of events and of queries: differences between trees, and the question's own words."""

import json

import pytest
from memory_data import make_trajectories

from lmev2.insert.events import event_messages, parse_event
from lmev2.llm.embedded.chat import complete
from lmev2.prompts import Prompts, prompt_params

BEFORE = (
    "RootWebArea 'New address'\n\t[1] button 'Save', clickable\n\t[2] textbox 'Gate code', required\n"
    "\t[3] link 'Menu'\n\t[4] checkbox 'Default', checked=False"
)
AFTER = (
    "RootWebArea 'New address'\n\t[1] button 'Save', disabled=True\n\t[9] link 'Menu'\n"
    "\t[5] textbox 'Gate code' value='QX 19', required\n\t[6] alert '\ue001 Use two capitals'\n"
    "\t\tStaticText 'Use two capitals'\n\t[7] checkbox 'Default', checked=True"
)


@pytest.fixture
def event(tmp_path):
    def write(*trees, post=1):
        run = make_trajectories(tmp_path, {"t": list(trees)})["t"]
        return parse_event(complete(event_messages(run, post, Prompts(prompt_params(("events.",), {})))))

    return write


def test_new_gone_and_changed_elements_are_told_apart(event):
    found = event(BEFORE, AFTER)
    assert found["overview"] == (
        "On the page 'New address': Click button 'Save'. thought 1 It was part of the task: goal of t"
    )
    lines = found["transition"].split("\n")
    assert lines[1:] == [
        "Changed:",
        "button 'Save', disabled (before: nothing set)",
        "textbox 'Gate code', value=QX 19, required (before: required)",
        "checkbox 'Default', checked (before: nothing set)",
        "New:",
        "alert 'Use two capitals'",
    ]
    assert "Menu" not in found["transition"]  # its bid alone is another


def test_what_a_new_page_lost_is_not_listed(event):
    found = event(BEFORE, "RootWebArea 'Home'\n\t[1] heading 'Welcome'")
    assert found["transition"] == (
        "It led from 'New address' to the page 'Home' (http://x/1).\nNew:\nheading 'Welcome'"
    )


@pytest.mark.parametrize("trees", [("", ""), ("", AFTER), (BEFORE, ""), ("plain <after> text", "</after>")])
def test_empty_and_odd_trees_have_an_event_too(event, trees):
    found = event(*trees)
    assert found["overview"] and found["transition"]


def test_non_latin_names_are_kept(event):
    assert "button '保存する'" in event(BEFORE, BEFORE + "\n\t[8] button '保存する'")["transition"]


def ask(question):
    text = f"<memory>\nTrajectories: 2\n</memory>\n\n<question>\n{question}\n</question>"
    return json.loads(complete([{"role": "user", "content": [{"type": "text", "text": text}]}]))


def test_the_form_of_the_answer_is_no_part_of_a_query_but_the_options_are():
    bundle = ask(
        "Which colour has it?\nA. Amber\nB. Jade Mark your final answer as a single letter in \\boxed{}."
    )
    assert bundle["raw_state_queries"] == ["Which colour has it? A. Amber B. Jade"]
    assert bundle["event_query"] == bundle["note_query"] == bundle["raw_state_queries"][0]


def test_sentences_are_slice_queries_of_their_own_up_to_three_in_all():
    sentences = [f"Take the cheapest stove number {n} of the outlet shop." for n in range(4)]
    queries = ask(" ".join(sentences))["raw_state_queries"]
    assert queries == [" ".join(sentences), *sentences[:2]]


def test_a_question_in_another_script_is_asked_as_it_is():
    assert ask("倉庫の棚はどこですか")["raw_state_queries"] == ["倉庫の棚はどこですか"]

from memory_data import make_trajectories

from lmev2.memory.render import render_notes, render_slice

TREES = ["RootWebArea 'A'\n\t[1] button 'Next'", "", "RootWebArea 'C'"]


def test_a_slice_shows_goal_actions_states_and_the_centres_screenshot(tmp_path):
    trajectory = make_trajectories(tmp_path, {"t": TREES})["t"]
    text, image = render_slice(trajectory, 0, 1, 2)
    assert text.text.splitlines() == [
        "Slice of trajectory t, states 0-2",
        "Goal: goal of t",
        "Actions of the whole run (number: the state that the action led to):",
        "1. click('1')  # button 'Next'",
        "2. click('2')",
        "Actions in this slice:",
        "1. click('1')  # button 'Next'",
        "2. click('2')",
        "",
        "State 0",
        "URL: http://x/0",
        "Tree:",
        "RootWebArea 'A'",
        "\t[1] button 'Next'",
        "",
        "State 1",
        "URL: http://x/1",
        "Action: click('1')  # button 'Next'",
        "Tree:",
        "(no tree was recorded)",
        "",
        "State 2",
        "URL: http://x/2",
        "Action: click('2')",
        "Tree:",
        "RootWebArea 'C'",
    ]
    assert image.image.sha256 == "sha-t-1"
    assert (text.source, text.trajectory_id, text.first_state, text.last_state) == ("slices", "t", 0, 2)


def test_a_slice_without_screenshot_is_text_alone(tmp_path):
    trajectory = make_trajectories(tmp_path, {"t": TREES}, screenshots=False)["t"]
    (text,) = render_slice(trajectory, 0, 0, 1)
    assert "1. click('1')" in text.text
    assert "2. click('2')" in text.text.split("Actions in this slice")[0]
    assert "2. click('2')" not in text.text.split("Actions in this slice")[1]


def test_all_notes_are_one_text_and_none_are_none():
    note = {"kind": "hint", "title": "T", "description": "D", "content": "- c"}
    (item,) = render_notes([note, {**note, "kind": "procedure"}])
    assert item.text == "Notes from earlier runs\n\nHint note: T\nD\n- c\n\nProcedure note: T\nD\n- c"
    assert render_notes([]) == []

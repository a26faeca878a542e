import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.accessibility import (
    TreeLine,
    annotate_action,
    annotate_actions,
    find_element,
    iterate_lines,
    page_title,
    parse_attributes,
    parse_line,
)

TREE = "\n".join(
    [
        "RootWebArea \"Customer's list\", focused, url='http://x/'",
        "\t[10] navigation '', visible",
        "\t\t[a17] link 'Save [143] all', clickable, visible",
        "\t\tStaticText 'It\\'s \"here\"\\n\\u2028'",
        "\t[143] textbox 'Title' value='a, b', required",
        "\t[8] generic, hasPopup='menu'",
        "some stray text",
        "",
    ]
)


def test_lines_of_every_form():
    assert list(iterate_lines(TREE)) == [
        TreeLine(0, None, "RootWebArea", "Customer's list", "focused, url='http://x/'"),
        TreeLine(1, "10", "navigation", "", "visible"),
        TreeLine(2, "a17", "link", "Save [143] all", "clickable, visible"),
        TreeLine(2, None, "StaticText", 'It\'s "here"\n\u2028', ""),
        TreeLine(1, "143", "textbox", "Title", "value='a, b', required"),
        TreeLine(1, "8", "generic", "", "hasPopup='menu'"),
        TreeLine(0, None, "", "some stray text", ""),
    ]


def test_only_a_newline_ends_a_line():
    name = "a\u2028b\u2029c\x85d\ve\ff\rg"
    (line,) = iterate_lines(f"[1] button '{name}'\r\n")
    assert line == TreeLine(0, "1", "button", name, "")


@settings(deadline=None, max_examples=200)
@given(st.text(), st.sampled_from([None, "12", "a51b3"]))
def test_repr_quoted_names_come_back(name, bid):
    line = parse_line(f"\t{'' if bid is None else f'[{bid}] '}button {name!r}, visible")
    assert line == TreeLine(1, bid, "button", name, "visible")


@settings(deadline=None, max_examples=200)
@given(st.text())
def test_any_text_is_read(text):
    for line in iterate_lines(text):
        assert line.name or line.role
    page_title(text)


def test_broken_escapes_and_surrogates_stay_as_written():
    assert parse_line(r"[1] button '\ud83d \xzz \d \U00110000'").name == r"\ud83d \xzz \d \U00110000"


def test_attributes():
    assert parse_attributes("value='it\\'s, so', visible, checked=\"true\", valuemax=12, url='', x='y") == {
        "value": "it's, so",
        "visible": "",
        "checked": "true",
        "valuemax": "12",
        "url": "",
        "x": "'y",
    }


@pytest.mark.parametrize(
    ("tree", "title"),
    [
        (TREE, "Customer's list"),
        ("RootWebArea 'Tom\\'s \"x\"', focused", 'Tom\'s "x"'),
        ("RootWebArea ''", ""),
        ("", ""),
        ("[3] button 'RootWebArea no'", ""),
        ("stray\n[1] RootWebArea 'Second line'\r\n", "Second line"),
    ],
)
def test_page_title(tree, title):
    assert page_title(tree) == title


def test_find_element_ignores_bids_inside_names():
    assert find_element(TREE, "143").role == "textbox"
    assert find_element(TREE, "14") is None
    assert find_element("", "14") is None


def test_find_element_in_a_long_tree_does_not_parse_it():
    tree = "\n".join(f"\t[{n}] cell '{'x' * 50}'" for n in range(100_000))
    started = time.process_time()
    assert find_element(tree, "99999").role == "cell"
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize(
    ("action", "annotated"),
    [
        ("click('143')", "click('143')  # textbox 'Title'"),
        ("fill('143', 'it\\'s')", "fill('143', 'it\\'s')  # textbox 'Title'"),
        ("click(bid='a17', button='right')", "click(bid='a17', button='right')  # link 'Save [143] all'"),
        ("click('10')", "click('10')  # navigation ''"),
        (
            "drag_and_drop('143', 'a17')",
            "drag_and_drop('143', 'a17')  # textbox 'Title' -> link 'Save [143] all'",
        ),
    ],
)
def test_annotation(action, annotated):
    assert annotate_action(action, [TREE]) == annotated
    assert annotate_actions([None, action], [TREE, ""]) == [None, annotated]


@pytest.mark.parametrize(
    "action",
    [
        "",
        "click('99')",
        "click('143'",
        "click()",
        "click(143)",
        "click(bid)",
        "click('143') + 1",
        "click('143'); click('10')",
        "click('1\x0043')",
        "click(" + "(" * 5000,
        "click(" + "-" * 50_000 + "1)",
        "scroll(0, 200)",
        "goto('143')",
        "keyboard_type('143')",
        "send_msg_to_user('143')",
    ],
)
def test_no_annotation(action):
    assert annotate_action(action, [TREE]) == action


def test_the_tree_before_the_action_counts():
    before, after = "[5] button 'Old'", "[5] button 'New'\n[6] link 'Only after'"
    actions = [None, "click('5')", "click('6')", "click('6')", "click('5')"]
    assert annotate_actions(actions, [before, after, "", "[7] x ''", ""]) == [
        None,
        "click('5')  # button 'Old'",
        "click('6')  # link 'Only after'",
        "click('6')  # link 'Only after'",  # from an earlier tree
        "click('5')  # button 'New'",  # the latest that has it
    ]
    assert annotate_actions([None, "click('6')"], [before, after]) == [None, "click('6')"]


_states = st.lists(
    st.tuples(
        st.one_of(st.none(), st.sampled_from(["click('1')", "click('2')", "press('3', 'Enter')", "noop()"])),
        st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("abc")), max_size=4).map(
            lambda elements: "\n".join(f"[{bid}] button '{name}'" for bid, name in elements)
        ),
    ),
    max_size=6,
)


@settings(deadline=None, max_examples=100)
@given(_states, st.integers(0, 6))
def test_a_trajectory_is_annotated_as_each_action_and_never_from_a_later_tree(states, changed):
    actions, trees = [action for action, _ in states], [tree for _, tree in states]
    annotated = annotate_actions(actions, trees)
    assert annotated == [
        action and annotate_action(action, trees[:index]) for index, action in enumerate(actions)
    ]
    later = [tree if index < changed else "[1] link 'z'\n[2] link 'z'" for index, tree in enumerate(trees)]
    assert annotate_actions(actions, later)[: changed + 1] == annotated[: changed + 1]

"""Parsing contexts into lines and segments, lists and enumerations."""

import pytest

from lmev2.llm.embedded.extract import enumeration, groups, is_placeholder
from lmev2.llm.embedded.page import parse_context

TREE = (
    "State 4\nURL: http://museum.test/\nAction: click('3')  # link 'Loans'\nTree:\n"
    'RootWebArea "Keeper\'s page"\n'
    "\t[2] LabelText ''\n\t\tStaticText 'Band'\n"
    "\t[3] combobox 'Band' value='Dry', expanded=False\n\t\tMenuListPopup ''\n"
    "\t\t\t[4] option 'Dry', selected=True\n\t\t\t[5] option 'Hum\\'id', selected=False\n"
    "\t[6] button '\\uf002 Go'\n\t\tStaticText '\\uf002'\n"
)


def test_tree_lines_have_roles_names_values_and_parents():
    lines = parse_context([TREE]).lines
    by_name = {line.name: line for line in lines if line.depth >= 0}
    assert by_name["Keeper's page"].role == "rootwebarea"
    assert by_name["Go"].role == "button"  # the icon glyph is gone, and so is its text below
    assert [line.name for line in lines if line.role == "labeltext"] == ["Band"]
    combobox = next(line for line in lines if line.role == "combobox")
    assert combobox.value == "Dry"
    option = by_name["Hum'id"]
    assert lines[lines[option.parent].parent] is combobox


def test_action_line_keeps_the_control():
    action = next(line for line in parse_context([TREE]).lines if line.role == "action")
    assert action.value == "Loans" and action.rest == "link"


def test_segments_split_at_parts_states_and_roots():
    context = parse_context(["- a note", TREE + TREE, "RootWebArea 'A'\nRootWebArea 'B'"])
    assert [s.part for s in context.segments if s.end > s.start] == [0, 1, 1, 2, 2]


def test_groups_are_siblings():
    found = groups(parse_context([TREE]))
    assert ("Dry", "Hum'id") in [group.items for group in found]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Sizes: small, large or huge.", ("small", "large", "huge")),
        ("Marks open with a wing: NW:, KD: or TH:.", ("NW", "KD", "TH")),
        ("small, large, huge", ("small", "large", "huge")),
        ("May 4, 2031, 6 p.m.", ()),
        ("No list here", ()),
        ("", ()),
    ],
)
def test_enumeration(text, items):
    assert enumeration(text) == items


def test_placeholders():
    assert is_placeholder("-----") and is_placeholder("-- choose --") and is_placeholder("Select a wing...")
    assert not is_placeholder("Select all") and not is_placeholder("A")

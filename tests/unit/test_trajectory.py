"""Trajectories as methods see them."""

import pytest
from memory_data import make_trajectories

from lmev2.memory.summary import memory_summary
from lmev2.memory.view import HaystackView
from lmev2.store import read_rows, write_table
from lmev2.trajectory import Trajectories

TREES = {"a": ["RootWebArea 'Shop'\n\t[1] link 'Cart'", "RootWebArea 'Cart'"], "b": ["RootWebArea ''"]}


def test_an_action_has_the_number_of_the_state_that_it_led_to(tmp_path):
    trajectories = make_trajectories(tmp_path, TREES)
    assert trajectories["a"].numbered_actions == ["1. click('1')  # link 'Cart'"]
    assert trajectories["b"].numbered_actions == []


@pytest.mark.parametrize("wrong", [{"n_states": 3}, {"trajectory_id": "c"}])
def test_a_states_file_of_another_ingest_is_refused(tmp_path, wrong):
    make_trajectories(tmp_path, TREES)
    table = tmp_path / "trajectories.parquet"
    first, *others = read_rows(table)
    write_table("trajectories", [{**first, **wrong}, *others], table)
    trajectories = Trajectories(table, tmp_path / "states.parquet")
    with pytest.raises(ValueError, match="does not hold its states"):
        trajectories[wrong.get("trajectory_id", "a")]


def test_pages_without_a_title_are_not_in_the_summary(tmp_path):
    view = HaystackView(("a", "b"), make_trajectories(tmp_path, TREES), {})
    titles = memory_summary(view, ()).partition("Most common page titles (states):\n")[2]
    assert titles == "- Shop (1)\n- Cart (1)"

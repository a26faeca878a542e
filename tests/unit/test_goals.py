"""Goals are rewritten wherever a trajectory repeats them, however quoted, and the report says where."""

import ast
import csv
import io
import json
import re

import pytest
from dataset_factory import make_dataset
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.ingest.dataset import ingest_dataset, validate_dataset
from lmev2.ingest.defects import DatasetError
from lmev2.ingest.goals import GoalRewrites, Rewrite
from lmev2.ingest.source import open_source
from lmev2.store import read_rows

OLD, NEW = 'Open "My\n list" at the shop\'s', "Find the 'list' of \"mine\""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"It says {OLD} door.", f"It says {NEW} door."),
        ('Open   "My list"\tat the shop\'s', NEW),
        (f"\tStaticText {OLD!r}, visible", f"\tStaticText {NEW!r}, visible"),
        (f"[a1] link 'x{'y'}', url='u'\n\t[12] textbox {'Goal: ' + OLD!r}", None),
        (f"fill('a12', {OLD!r})", f"fill('a12', {NEW!r})"),
        (f"send_msg_to_user({'Done: ' + OLD + '.'!r})", f"send_msg_to_user({'Done: ' + NEW + '.'!r})"),
        (f"{OLD} and {OLD!r}", f"{NEW} and {NEW!r}"),
        ("open my list", "open my list"),
        ("", ""),
    ],
)
def test_a_repetition_is_replaced_in_its_own_quotation(text, expected):
    rewrite = Rewrite(OLD, NEW)
    new, count = rewrite.apply(text)
    assert new == (
        expected if expected is not None else text.replace(repr("Goal: " + OLD), repr("Goal: " + NEW))
    )
    assert bool(count) == (new != text) and not rewrite.left


def test_quotes_of_prose_are_no_literals():
    rewrite = Rewrite("Buy it", "It's 'bought'")
    text = "The user's wish is 'Buy it' and it's clear."
    assert rewrite.apply(text, literals=False)[0] == "The user's wish is 'It's 'bought'' and it's clear."


def test_a_rewritten_goal_that_holds_the_original_is_replaced_once():
    rewrite = Rewrite("Buy it", "Buy it in the shop")
    assert rewrite.apply("'Buy it' Buy it") == ("'Buy it in the shop' Buy it in the shop", 2)


def test_many_backslashes_end_soon():
    rewrite = Rewrite("x " + "\\" * 40 + "' end", "y")
    text = "x " + "\\" * 20_000 + " end" * 100
    assert rewrite.apply(text) == (text, 0) and not rewrite.left
    assert rewrite.apply("x " + "\\" * 83 + "' end")[1] == 0 and rewrite.left == 1


def test_another_quotation_is_left_and_counted():
    rewrite = Rewrite("Buy\nit", "x")
    text = 'say("{\\"goal\\": \\"Buy\\\\nit\\"}")'
    assert rewrite.apply(text) == (text, 0) and rewrite.left == 1


@settings(deadline=None, max_examples=50)
@given(old=st.text().map("Buy{}".format), new=st.text(min_size=1), before=st.text(), after=st.text())
def test_inside_a_literal_the_text_that_it_stands_for_is_replaced(old, new, before, after):
    """Whatever the quotes are, and without a word of the rest being changed."""
    plain = re.compile(r"\s+".join(map(re.escape, old.split())))
    name = before + old + after
    result, count = Rewrite(old, new).apply(f"[]: {name!r}")
    assert ast.literal_eval(result.removeprefix("[]: ")) == plain.sub(lambda _: new, name)
    assert count == len(plain.findall(name))


@pytest.fixture
def rewritten(tmp_path):
    """Ingest the tiny dataset with rewritten goals; rows of trajectories and states, notices and report."""

    def run(mapping, change=None, name="goals.json"):
        dataset = make_dataset(tmp_path / "data", change)
        path = tmp_path / name
        path.write_text(mapping if isinstance(mapping, str) else json.dumps(mapping))
        source = open_source({"source": "official", "goal_rewrites": str(path)})
        counts = ingest_dataset(dataset, ["small"], tmp_path / "out", source=source)
        tables = [read_rows(tmp_path / "out" / f"{table}.parquet") for table in ("trajectories", "states")]
        report = csv.DictReader(io.StringIO((tmp_path / "out" / "goal_rewrites.csv").read_text()))
        return *tables, counts.notices, list(report)

    return run


GOAL = "Do the task of t1."


def repeat(content):
    state = content.trajectories[0]["states"][1]
    state["accessibility_tree"] += f"\n\tStaticText {'Now: ' + GOAL!r}"
    state["thought"] = f"I was told: {GOAL}"
    content.trajectories[0]["states"][2]["action"] = f"send_msg_to_user({GOAL!r})"
    content.trajectories[1]["states"][1]["thought"] = f"Another's goal: {GOAL}"


def as_old(content):
    """The layout of older dumps, its goal as a list of parts."""
    repeat(content)
    for row in content.trajectories:
        row["metadata"] = {"original_goal": row.pop("goal").split(" ", 1)}
        row["content"] = [
            {
                "url": state["url"],
                "action": state["action"],
                "thoughts": state["thought"],
                "observation": {"text": state["accessibility_tree"], "screenshot": state["screenshot"]},
            }
            for state in row.pop("states")
        ]


@pytest.mark.parametrize("change", [repeat, as_old])
def test_goal_and_repetitions_in_either_layout(rewritten, change):
    trajectories, states, notices, report = rewritten({GOAL: "Be useful.", "Never set.": "x"}, change)
    assert [row["goal"] for row in trajectories[:2]] == ["Be useful.", "Do the task of t2."]
    assert states[1]["tree"].endswith("\tStaticText 'Now: Be useful.'")
    assert states[1]["thought"] == "I was told: Be useful."
    assert states[2]["action"] == "send_msg_to_user('Be useful.')"
    assert states[4]["thought"] == f"Another's goal: {GOAL}"  # of a trajectory with a goal of its own
    assert notices == [
        "goals rewritten in 1 trajectories: 1 in goals, 1 in trees, 1 in actions, 1 in thoughts",
        "1 of 2 goals to rewrite are no trajectory's goal",
    ]
    found = {"original": GOAL, "rewritten": "Be useful.", "found": "1", "trajectories": "t1", "left": "0"}
    assert report[0] == {**found, "goals": "1", "trees": "1", "actions": "1", "thoughts": "1"}
    assert (report[1]["original"], report[1]["found"]) == ("Never set.", "0")


def test_a_rewritten_goal_is_other_content(rewritten, tmp_path):
    before = {row["trajectory_id"]: row["fingerprint"] for row in rewritten({"No goal": "x"})[0]}
    after = {row["trajectory_id"]: row["fingerprint"] for row in rewritten({GOAL: "Other."})[0]}
    assert {key for key in before if before[key] != after[key]} == {"t1"}


def test_json_lines_and_white_space(rewritten):
    line = json.dumps({"original": "Do  the task\nof t1.", "rewritten": "Other."})
    assert rewritten(line + "\n", name="goals.jsonl")[0][0]["goal"] == "Other."


@pytest.mark.parametrize(
    ("mapping", "name", "fault"),
    [
        ('{"a": ""}', "g.json", "the goal 'a' is rewritten to nothing"),
        ('{"a b": "x", "a  b": "y"}', "g.json", "the goal 'a  b' occurs twice, white space aside"),
        ('{"a": 1}', "g.json", "it is no pair of goals"),
        ('{" ": "x"}', "g.json", "it is no pair of goals"),
        ("[]", "g.json", "the file is not one JSON object"),
        ("{", "g.json", "invalid JSON"),
        ('{"original": "a"}\n', "g.jsonl", "line 1, id 'a': the field 'rewritten' is missing"),
        ('{"rewritten": "a"}\n', "g.jsonl", "line 1: the field 'original' is missing"),
    ],
)
def test_faults_of_the_mapping(rewritten, mapping, name, fault):
    with pytest.raises(DatasetError, match=name) as error:
        rewritten(mapping, name=name)
    assert fault in str(error.value)


def test_a_mapping_that_is_not_there(tmp_path):
    source = open_source({"source": "official", "goal_rewrites": str(tmp_path / "none.json")})
    (defect,) = validate_dataset(make_dataset(tmp_path / "data"), ["small"], source=source)[1]
    assert "none.json" in defect.file and "mend dataset.goal_rewrites" in defect.remedy


def test_rows_that_are_no_trajectories_are_left_to_the_checks():
    rows = [{}, {"goal": 1, "states": 3}, {"goal": GOAL, "states": [1, {"action": 2}]}, {"metadata": 4}]
    rewrites = GoalRewrites([Rewrite(GOAL, "x")])
    assert [row for _, row in rewrites.apply((None, row) for row in rows)][2]["goal"] == "x"

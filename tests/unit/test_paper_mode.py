"""The first release's view of a question: an explicit choice, labelled, and out of reach for all others."""

import copy
from pathlib import Path

import pytest
import yaml
from test_runbook import FULL, QUESTION, ask, make_view

from lmev2.flow import UNSAFE, Flow
from lmev2.image import Image
from lmev2.ingest.paper_questions import original_goals, read_paper_questions
from lmev2.memory.paper_mode import PaperQuestion, paper_questions
from lmev2.memory.protocol import Question
from lmev2.memory.runbook import AgentRunbookR
from lmev2.records import SCHEMAS

ROOT = Path(__file__).parents[2]
ROW = {
    "question_id": "q7",
    "question_type": "procedure",
    "image": "shots/q7.png",
    "original_goals": ["Buy it"],
}
PICTURED = Question("handle", QUESTION.text, Image("x.png", "sha", 4, 4))


def paper_question(**changes) -> PaperQuestion:
    return paper_questions({"q7": PICTURED}, [{**ROW, **changes}])["q7"]


@pytest.fixture
def view(tmp_path):
    return make_view(tmp_path)


def flow(**methods):
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    config["methods"] |= methods
    return Flow(copy.deepcopy(config), ROOT)


PAPER_ARM = {
    "class": "lmev2.memory.runbook:AgentRunbookR",
    "label": "AgentRunbook-R, first release",
    "family": "rag",
    "options": {"mode": "paper"},
}


def test_paper_mode_shows_id_type_image_path_and_goals_but_not_the_image(view):
    items, services = ask(view, FULL, question=paper_question(), mode="paper")
    content = services.asked[0][0][1]["content"]
    fields = "Id: q7\nType: procedure\nImage: shots/q7.png\nOriginal goals: Buy it\n"
    assert f"<about_question>\n{fields}</about_question>" in content[0]["text"]
    assert {part["type"] for part in content} == {"text"}
    assert (services.traced["mode"], services.traced["leaderboard_safe"]) == ("paper", False)
    private, _ = ask(view, FULL, question=PICTURED)
    assert items == private  # the same queries find the same


@pytest.mark.parametrize(
    ("kind", "event", "note"),
    [
        ("procedure-abs", "", QUESTION.text),
        ("dynamic-environment", QUESTION.text, ""),
        ("errors-gotchas", "", ""),
    ],
)
def test_the_fallback_of_paper_mode_goes_by_the_type(view, kind, event, note):
    _, services = ask(view, "no", "no", question=paper_question(question_type=kind), mode="paper")
    expected = {"raw_state_queries": [QUESTION.text], "event_query": event, "note_query": note}
    assert services.traced["bundle"] == expected


def test_in_private_mode_the_further_fields_are_not_looked_at(view):
    _, private = ask(view, "no", "no", question=PICTURED)
    _, other = ask(view, "no", "no", question=paper_question())
    assert private.asked == other.asked
    assert private.traced == other.traced
    assert "leaderboard_safe" not in private.traced


def test_a_question_of_paper_mode_is_another_question_to_the_journal():
    assert PICTURED.identity == [QUESTION.text, "sha"]
    assert paper_question().identity != paper_question(question_type="dynamic").identity != PICTURED.identity


def test_only_arms_in_paper_mode_have_the_table_as_input_and_their_label_says_so():
    experiment = flow(first_release=PAPER_ARM)
    tables = {name: experiment.private_tables(name) for name in experiment.arms}
    assert tables.pop("first_release") == ("paper_questions",)
    pilots = {name for name in tables if tables[name] == ("oracle_questions",)}
    assert pilots == set(experiment.pilots)
    assert {tables[name] for name in tables.keys() - pilots} == {()}
    labels = {row["id"]: row["label"] for row in experiment.methods()}
    assert labels.pop("first_release") == PAPER_ARM["label"] + UNSAFE
    assert not any(UNSAFE in label for label in labels.values())
    assert experiment.query("first_release")["leaderboard_safe"] is False
    assert experiment.query("agentrunbook_r")["leaderboard_safe"] is True


def test_no_other_rule_of_the_query_stage_names_the_table():
    rules = (ROOT / "workflow/rules/query.smk").read_text() + (ROOT / "workflow/rules/common.smk").read_text()
    assert "paper_questions" not in rules  # it comes in by `private_tables` alone
    assert SCHEMAS["query_questions"].names == ["question_id", "text", "image", "image_sha256"]
    assert set(vars(QUESTION)) == {"handle", "text", "image"}
    assert AgentRunbookR.needs({})["private_tables"] == ()


def test_original_goals_are_taken_from_the_row_or_its_metadata_each_once():
    row = {"original_goal": " Buy  it ", "metadata": {"original_goals": ["Buy it", "Sell it", None, ""]}}
    assert original_goals(row) == ["Buy it", "Sell it"]
    assert original_goals({"metadata": None}) == []


def test_rows_of_the_table(tmp_path):
    line = '{"id": "q7", "question_type": "procedure", "image": "shots/q7.png", "original_goal": "Buy it"}'
    (tmp_path / "questions.jsonl").write_text(line + "\n")
    assert read_paper_questions(tmp_path) == [ROW]
    assert list(ROW) == SCHEMAS["paper_questions"].names

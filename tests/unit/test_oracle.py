import copy
from pathlib import Path

import numpy as np
import pytest
import yaml
from memory_data import make_trajectories, write_pool

from lmev2.configuration import ConfigError
from lmev2.flow import Flow
from lmev2.memory.oracle import OracleSlicesNotes, OracleTrajectories, choose_evidence, cover
from lmev2.memory.oracle_agent import OracleFilesAgent
from lmev2.memory.oracle_questions import OracleQuestion, oracle_questions, oracle_rows
from lmev2.memory.protocol import Question
from lmev2.memory.rag import RagSlices
from lmev2.memory.registry import MethodClassError, needs_of
from lmev2.memory.view import HaystackView, Pool

ROOT = Path(__file__).parents[2]
PLAIN = Question("h", "where?", None)


def question(*hops):
    return OracleQuestion("h", "where?", None, hops=hops)


@pytest.fixture
def view(tmp_path):
    trajectories = make_trajectories(
        tmp_path, {"t1": ["a", "b", "c", "d", "e"], "t2": ["x", "y"], "t3": ["z"]}
    )
    slices = [
        {
            "entry_id": f"{id_}:{centre}",
            "trajectory_id": id_,
            "first_state": max(0, centre - 1),
            "centre_state": centre,
            "last_state": min(n - 1, centre + 1),
            "digest": "d",
        }
        for id_, n in (("t1", 5), ("t2", 2), ("t3", 1))
        for centre in range(n)
    ]
    text = {"title": "title", "description": "about", "content": "- do", "digest": "d"}
    notes = [
        {"entry_id": f"{id_}:{kind}", "trajectory_id": id_, "kind": kind, **text, "title": f"{kind} {id_}"}
        for id_ in ("t1", "t2", "t3")
        for kind in ("procedure", "hint")
    ]
    pools = {
        name: Pool(*write_pool(tmp_path, name, entries, [[0]] * len(entries), np.eye(2)), 1)
        for name, entries in (("slices", slices), ("notes", notes))
    }
    return HaystackView(["t2", "t1"], trajectories, pools)


def ask(cls, view, hops, **options):
    memory = cls(options, None)
    memory.attach(view)
    return memory.query(question(*hops))


def test_one_trajectory_a_hop_from_the_haystack_and_shared_where_it_serves_both():
    first, second = {"t9": (0,), "t1": (1, 2), "t2": (0,)}, {"t3": (0,), "t1": (4,)}
    assert choose_evidence([first], ["t2", "t1"]) == {"t2": (0,)}
    assert choose_evidence([first, second], ["t1", "t2"]) == {"t1": (1, 2, 4)}
    assert choose_evidence([second, first], ["t2", "t1"]) == {"t1": (1, 2, 4)}
    assert choose_evidence([{"t3": (0,)}], ["t1"]) == {}
    assert choose_evidence([], ["t1"]) == {}


def test_slices_cover_the_states_without_overlap_of_need():
    slices = [
        {"centre_state": c, "first_state": max(0, c - 1), "last_state": min(9, c + 1)} for c in range(10)
    ]
    assert [entry["centre_state"] for entry in cover(slices, (0, 1, 2, 3, 7))] == [0, 2, 7]


def test_whole_trajectories(view):
    items = ask(OracleTrajectories, view, [{"t1": (3,)}])
    texts = [item.text for item in items if item.kind == "text"]
    assert texts[0].startswith("Trajectory t1\nGoal: goal of t1")
    assert [text.splitlines()[0] for text in texts[1:]] == [f"State {i}" for i in range(5)]
    assert sum(item.kind == "image" for item in items) == 5
    assert {item.trajectory_id for item in items} == {"t1"}
    assert ask(OracleTrajectories, view, [{"t3": (0,)}]) == []  # not in this haystack


def test_slices_and_notes(view):
    items = ask(OracleSlicesNotes, view, [{"t1": (0, 1, 4)}, {"t2": (1,)}])
    assert (
        items[0].text.index("procedure t1")
        < items[0].text.index("procedure t2")
        < items[0].text.index("hint t1")
    )
    windows = [
        (i.trajectory_id, i.first_state, i.last_state) for i in items if i.kind == "text" and i.trajectory_id
    ]
    assert windows == [("t1", 0, 1), ("t1", 3, 4), ("t2", 0, 1)]
    fewer = ask(OracleSlicesNotes, view, [{"t1": (0, 1, 4)}], top_slices=1)
    assert [i.first_state for i in fewer if i.kind == "text" and i.trajectory_id] == [0]
    assert ask(OracleSlicesNotes, view, [{"t3": (0,)}]) == []


def test_rows_and_questions():
    questions = [
        {"question_id": "q1", "abstention": False},
        {"question_id": "q2", "abstention": True},
        {"question_id": "q3", "abstention": False},
    ]
    coverage = [
        {"question_id": q, "hop": hop, "trajectory_id": t, "state_indexes": [1], "anchor_question_id": None}
        for q, hop, t in (
            ("q1", "0", "t1"),
            ("q1", "0", "t2"),
            ("q1", "1", "t3"),
            ("q2", "0", "t1"),
            ("q3", None, None),
        )
    ]
    rows = oracle_rows(questions, coverage)
    assert [row["question_id"] for row in rows] == ["q1", "q1", "q1", "q3"]
    known = oracle_questions({q["question_id"]: PLAIN for q in questions}, rows)
    assert list(known) == ["q1", "q3"]  # no abstention
    assert known["q1"].hops == ({"t1": (1,), "t2": (1,)}, {"t3": (1,)})
    assert known["q3"].hops == ()
    assert known["q1"].identity != known["q3"].identity != PLAIN.identity


def test_only_a_class_that_says_so_may_read_the_labels():
    assert needs_of(OracleTrajectories, {})["private_tables"] == ("oracle_questions",)
    assert needs_of(RagSlices, {})["private_tables"] == ()

    class Secret(RagSlices):
        @classmethod
        def needs(cls, options):
            return {"private_tables": ("oracle_questions",)}

    with pytest.raises(MethodClassError, match="labels = True"):
        needs_of(Secret, {})


def test_only_a_pilot_study_may_answer_without_the_reader():
    class Bypassing(RagSlices):
        answers = True

    with pytest.raises(MethodClassError, match="answers without the reader"):
        needs_of(Bypassing, {})
    assert needs_of(OracleFilesAgent, {})["private_tables"] == ("oracle_questions",)


def test_the_agent_that_answers_itself_runs_with_a_real_agent_only():
    methods = yaml.safe_load((ROOT / "config/paper.yaml").read_text())["methods"]
    pilot = {"oracle_files_agent": methods["oracle_files_agent"]}
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    without = flow(methods=config["methods"] | pilot)
    assert "oracle_files_agent" not in without.arms
    assert without.notices[0].startswith("oracle_files_agent is left out: the embedded agent")
    with pytest.raises(ConfigError, match="only pilot studies, and the embedded agent"):
        flow(methods=pilot)
    agent = {"provider": "codex", "model": "gpt-5.4-mini", "api_key_env": "KEY"}
    real = flow(methods=config["methods"] | pilot, models=config["models"] | {"agent": agent})
    assert real.answers_itself("oracle_files_agent") and real.reads_labels("oracle_files_agent")
    assert [name for name in real.arms if real.answers_itself(name)] == ["oracle_files_agent"]
    assert real.query("oracle_files_agent")["agent"]["provider"] == "codex"
    assert set(real.query("oracle_files_agent")["prompts"]) == {"agent_prompt", "oracle_answer"}


def test_the_labels_enter_the_query_stage_by_the_declared_input_alone():
    rules = ROOT / "workflow" / "rules"
    text = (rules / "query.smk").read_text() + (rules / "common.smk").read_text()
    assert "oracle" not in text and "coverage" not in text and "labels" not in text.replace("no label", "")


def flow(**changes):
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    return Flow(config | copy.deepcopy(changes), ROOT)


def test_no_other_method_of_the_default_run_reads_the_labels():
    experiment = flow()
    assert experiment.pilots == ["oracle_slices_notes", "oracle_trajectories"]
    labelled = {arm["id"] for arm in experiment.methods() if arm["labels"]}
    assert labelled == set(experiment.pilots)
    for name, arm in experiment.arms.items():
        assert ("oracle_questions" in experiment.private_tables(name)) == (arm.id in labelled)
        assert experiment.query(name)["leaderboard_safe"] == (not experiment.private_tables(name))


def test_what_the_outputs_depend_on_is_known_from_config_and_dataset(tmp_path):
    assert flow().has_labels and not flow().notices
    without = flow(dataset={"path": str(tmp_path)})
    assert not without.has_labels and not without.pilots
    assert without.arms.keys() == flow().arms.keys() - {"oracle_trajectories", "oracle_slices_notes"}
    assert without.notices[0].startswith("oracle_trajectories is left out")
    pilot = yaml.safe_load((ROOT / "config/config.yaml").read_text())["methods"]["oracle_trajectories"]
    with pytest.raises(ConfigError, match="only pilot studies"):
        flow(dataset={"path": str(tmp_path)}, methods={"oracle_trajectories": pilot})
    assert not flow().asks_again
    assert flow(judge={"repeats": 2}).asks_again
    (tmp_path / "questions.jsonl").write_text("{}")
    assert not flow().is_released and not flow(dataset={"path": str(tmp_path)}).is_released

"""Folders of experiment results become the tables of a dataset, and each oddity is handled and counted."""

import csv
import gzip
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from agentlab_data import LOOP, dumps, instance, observation, step, write_run
from dataset_factory import png

from lmev2.ingest.agentlab.actions import split_action
from lmev2.ingest.agentlab.axtree import render_tree
from lmev2.ingest.agentlab.notes import Note
from lmev2.ingest.agentlab.report import report_md, runs_csv
from lmev2.ingest.agentlab.results import Options, Results
from lmev2.ingest.agentlab.runs import content_digest, find_runs
from lmev2.ingest.agentlab.tasks import Site, site_of
from lmev2.ingest.dataset import ingest_dataset
from lmev2.ingest.defects import DatasetError
from lmev2.ingest.known import Known
from lmev2.ingest.source import open_source
from lmev2.ingest.trajectories import read_trajectories
from lmev2.store import read_rows

SHOP = {"task": "shop.*", "domain": "web", "environment": "shop"}
GENUINE = Path(__file__).parents[1] / "data" / "agentlab"


def read(dataset, **options):
    """Rows, defects and the outcomes by run of a folder of results."""
    results, defects = Results(Options(**{"tasks": [SHOP], **options})), []
    rows = [row for _, row in results.rows(dataset, {}, defects)]
    return rows, [f"{defect.file}: {defect}" for defect in defects], results


def one(dataset, **options):
    """The only run's row and counts."""
    rows, defects, results = read(dataset, **options)
    assert not defects
    return rows[0], +results.outcomes[0].notes


def test_an_action_moves_to_the_state_it_led_to(tmp_path):
    write_run(tmp_path / "run")
    row, notes = one(tmp_path)
    assert [state["action"] for state in row["states"]] == [None, "click('10')", "click('11')"]
    assert [state["thought"] for state in row["states"]] == [None, "To the next.", None]
    assert [state["step"] for state in row["states"]] == [state["state_index"] for state in row["states"]]
    assert row["states"][1]["screenshot"] == "run/screenshot_step_1.png"
    assert row["start_url"] == "http://app.example/0"
    assert (row["domain"], row["environment"], row["goal"]) == ("web", "shop", "Buy the lamp.")
    assert not notes.total()


@pytest.mark.parametrize(
    ("steps", "actions", "note"),
    [
        ([step(0, "a()"), step(1, "b()")], [None, "a()"], Note.ACTIONS_WITHOUT_STATE),  # cut short
        ([step(0, "a()"), step(1, None, None)], [None], Note.STEPS_WITHOUT_OBSERVATION),
        ([step(0, "a()"), step(1, None, None), step(2, None)], [None, "a()"], Note.STEPS_WITHOUT_OBSERVATION),
        ([step(0, "a()"), step(1, "b()", None), step(2, None)], [None, "b()"], Note.ACTIONS_WITHOUT_STATE),
        ([step(0, "a()", None), step(1, "b()"), step(2, None)], [None, "b()"], Note.ACTIONS_WITHOUT_STATE),
    ],
)
def test_steps_without_observation_and_actions_without_state(tmp_path, steps, actions, note):
    write_run(tmp_path / "run", steps)
    row, notes = one(tmp_path)
    assert [state["action"] for state in row["states"]] == actions
    assert [state["state_index"] for state in row["states"]] == list(range(len(actions)))
    assert notes[note] == 1


def test_a_run_in_which_nothing_was_seen_is_left_out(tmp_path):
    write_run(tmp_path / "run", [step(0, None, None)])
    write_run(tmp_path / "sound")
    rows, defects, results = read(tmp_path)
    assert len(rows) == 1 and not defects
    assert results.notices() == ["1 run left out (no state was seen)"]


@pytest.mark.parametrize(
    ("summary", "reward", "options", "outcome"),
    [
        (None, 1.0, {}, "success"),
        (None, 0.25, {}, "success"),
        (None, 0, {}, "failure"),
        (None, -1, {}, "failure"),
        (False, 0, {}, None),
        (b"", 0, {}, None),
        (b'{"cum_reward": 1.0', 0, {}, None),
        (b"[]", 0, {}, None),
        ({"cum_reward": None}, 0, {}, None),
        (False, 0, {"incomplete": "leave_out"}, "left out"),
        ({"err_msg": "it broke"}, 0, {}, "failure"),
        ({"err_msg": "it broke"}, 1, {}, "success"),
        ({"err_msg": "it broke"}, 1, {"errors": "unknown"}, None),
        ({"err_msg": "it broke"}, 1, {"errors": "leave_out"}, "left out"),
    ],
)
def test_outcomes(tmp_path, summary, reward, options, outcome):
    write_run(tmp_path / "run", summary=summary, reward=reward)
    rows, defects, results = read(tmp_path, **options)
    assert not defects
    assert [row["outcome"] for row in rows] == ([] if outcome == "left out" else [outcome])
    assert bool(results.notices()) == (outcome == "left out")


def test_the_last_step_of_an_incomplete_run_may_be_cut(tmp_path):
    run = write_run(tmp_path / "run", summary=False)
    last = run / "step_2.pkl.gz"
    last.write_bytes(last.read_bytes()[:-20])
    row, notes = one(tmp_path)
    assert len(row["states"]) == 2 and notes[Note.STEPS_UNREADABLE] == 1
    (run / "summary_info.json").write_text('{"cum_reward": 1}')
    assert read(tmp_path)[1][0].startswith("run: step_2.pkl.gz is not read: it is no whole gzip file")


def test_a_missing_step_is_named(tmp_path):
    (write_run(tmp_path / "run") / "step_1.pkl.gz").unlink()
    assert "step_1.pkl.gz is missing; copy the whole run" in read(tmp_path)[1][0]


def test_many_missing_steps_are_one_defect(tmp_path):
    run = write_run(tmp_path / "run")
    (run / "step_2.pkl.gz").rename(run / "step_900000000.pkl.gz")
    defects = read(tmp_path)[1]
    assert "step_2.pkl.gz to step_899999999.pkl.gz are missing" in defects[0] and len(defects) == 1


@pytest.mark.parametrize("name", ["step_01.pkl.gz", "step_\u0663.pkl.gz", "step_1 (copy).pkl.gz"])
def test_a_second_file_of_a_step_is_never_taken_for_the_first(name, tmp_path):
    run = write_run(tmp_path / "run")
    (run / name).write_bytes((run / "step_0.pkl.gz").read_bytes())
    assert f"{name} is no step_N.pkl.gz" in read(tmp_path)[1][0]


@pytest.mark.parametrize("name", ["exp_args.pkl", "summary_info.json", "step_1.pkl.gz", "goal_object.pkl.gz"])
def test_a_file_that_cannot_be_opened_is_named(name, tmp_path):
    run = write_run(tmp_path / "run")
    (run / name).unlink()
    (run / name).mkdir()
    rows, defects, _ = read(tmp_path)
    if name == "goal_object.pkl.gz":  # a folder of that name is no goal file
        assert rows[0]["goal"] == "Buy the lamp." and not defects
    else:
        assert name in defects[0] and "cannot be opened (Is a directory)" in defects[0]


def test_texts_that_are_no_utf8_are_named_wherever_they_stand(tmp_path):
    write_run(tmp_path / "r\udce9", task="shop.a")
    write_run(tmp_path / "s", task="shop.\ud800")
    write_run(tmp_path / "t", [step(0, "\udc80"), step(1, None)])
    rows, defects, _ = read(tmp_path)
    assert not rows and len(defects) == 3 and all("is no UTF-8" in defect for defect in defects)


def test_folders_that_are_links_are_not_followed_and_told(tmp_path):
    write_run(tmp_path / "elsewhere" / "run")
    dataset = tmp_path / "dataset"
    write_run(dataset / "study" / "run")
    (dataset / "linked").symlink_to(tmp_path / "elsewhere")
    (dataset / "study" / "circle").symlink_to(dataset)
    rows, defects, results = read(dataset)
    assert len(rows) == 1 and not defects
    assert results.found.links == ["linked", "study/circle"]
    assert "2 folders not looked into" in results.notices()[-1] and "- `linked`" in report_md(results)


@pytest.mark.parametrize("index", [1.0, np.array([1.0]), np.array([1]), True])
def test_the_active_tab_by_any_number(index, tmp_path):
    write_run(tmp_path / "run", [step(0, None, observation(0, url=None, active_page_index=index))])
    assert one(tmp_path)[0]["start_url"] == "http://app.example/tab/0"


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [nested(300), ["x"], {"a": 1}, (1,), 10**5000, b"x"], ids=type)
@pytest.mark.parametrize("key", ["role", "name", "value", "property"])
def test_a_tree_with_something_else_for_a_value_is_no_tree(key, value, tmp_path):
    node = {"nodeId": "1", "role": {"value": "button"}, "name": {"value": "Go"}}
    node |= (
        {key: {"value": value}}
        if key != "property"
        else {"properties": [{"name": "url", "value": {"value": value}}]}
    )
    write_run(
        tmp_path / "run", [step(0, None, observation(0, axtree_txt=None, axtree_object={"nodes": [node]}))]
    )
    row, notes = one(tmp_path)
    assert row["states"][0]["accessibility_tree"] == "" and notes[Note.TREES_MISSING] == 1


def test_steps_that_only_the_summary_knows_are_counted(tmp_path):
    write_run(tmp_path / "run", summary={"n_steps": 5})
    assert one(tmp_path)[1][Note.STEPS_NOT_SAVED] == 3


def test_screenshots_are_png_jpg_or_missing(tmp_path):
    run = write_run(tmp_path / "run")
    (run / "screenshot_step_0.png").rename(run / "screenshot_step_0.jpg")
    (run / "screenshot_step_2.png").unlink()
    row, notes = one(tmp_path)
    assert [state["screenshot"] for state in row["states"]] == [
        "run/screenshot_step_0.jpg",
        "run/screenshot_step_1.png",
        None,
    ]
    assert notes[Note.SCREENSHOTS_MISSING] == 1


def test_names_with_spaces_and_colons_and_what_is_skipped(tmp_path):
    odd = "study 1/2025-01-01 10:00:00_Agent on shop.buy: é"
    for name in (odd, "_old", "_study/run", ".hidden/run", "study 1/_run"):
        write_run(tmp_path / name)
    (tmp_path / "study 1" / "copy of run.zip").write_bytes(b"PK")
    rows, defects, results = read(tmp_path)
    assert not defects and [outcome.run.name for outcome in results.outcomes] == [odd]
    assert rows[0]["states"][0]["screenshot"] == f"{odd}/screenshot_step_0.png"
    assert results.notices() == ["4 runs left out (in folders with _ or . before)", "1 zip file not read"]
    report = report_md(results)
    assert "- `_study/run`" in report and "- `study 1/copy of run.zip`" in report


def test_ids_hang_on_the_place_of_the_run_only(tmp_path):
    for root in ("one", "other"):
        write_run(tmp_path / root / "results" / "run")
    write_run(tmp_path / "other" / "results" / "another", reward=0)
    first = find_runs(tmp_path / "one").runs
    both = {run.name: run.id for run in find_runs(tmp_path / "other").runs}
    assert both["results/run"] == first[0].id and len(first[0].id) == 16
    assert len(set(both.values())) == 2


def test_the_digest_sees_every_file_that_is_read(tmp_path):
    run = write_run(tmp_path / "run")
    seen = {content_digest(find_runs(tmp_path).runs)}
    for name in ("exp_args.pkl", "summary_info.json", "goal_object.pkl.gz", "step_1.pkl.gz"):
        with (run / name).open("ab") as file:
            file.write(b" ")
        seen.add(content_digest(find_runs(tmp_path).runs))
    (run / "step_2.pkl.gz").unlink()
    seen.add(content_digest(find_runs(tmp_path).runs))
    (run / "experiment.log").write_text("more")
    assert len(seen) == 6 and content_digest(find_runs(tmp_path).runs) in seen


def test_a_demo_agents_run_without_url(tmp_path):
    prose = "The lamp is there.\n```click('10')```\nThat should do."
    write_run(tmp_path / "run", [step(0, prose, observation(0, url=None)), step(1, None)])
    row, notes = one(tmp_path)
    assert [state["url"] for state in row["states"]] == ["http://app.example/tab/0", "http://app.example/1"]
    assert row["states"][1]["action"] == "click('10')"
    assert row["states"][1]["thought"] == "The lamp is there.\nThat should do."
    assert notes[Note.URLS_FROM_TABS] == notes[Note.ACTIONS_SPLIT] == 1


@pytest.mark.parametrize(
    ("text", "action", "thought"),
    [
        ("click('1')", "click('1')", None),
        ("  click('1')\n", "click('1')", None),
        ("Now:\n```\nclick('1')\n```", "click('1')", "Now:"),
        ("Now:\n```python\nfill('1', 'a b')\n```\n", "fill('1', 'a b')", "Now:"),
        ("```click('1')```", "click('1')", None),
        ("First ```click('1')``` and ```noop()``` then.", "click('1')\nnoop()", "First\nand\nthen."),
        ("Cut off: ```click('1')", "click('1')", "Cut off:"),
        ("Nothing in it: ``` ```", "Nothing in it: ``` ```", None),
        ("fill('1', 'a `quoted` word')", "fill('1', 'a `quoted` word')", None),
        ("", None, None),
    ],
)
def test_prose_with_fenced_code(text, action, thought):
    assert split_action(text) == (action, thought)


def test_thoughts_of_the_agent_and_of_its_prose_are_both_kept(tmp_path):
    write_run(tmp_path / "run", [step(0, "So ```a()```", think="Hm."), step(1, None)])
    assert one(tmp_path)[0]["states"][1]["thought"] == "Hm.\n\nSo"


TEXT, IMAGE = {"type": "text", "text": "Buy it."}, {"type": "image_url", "image_url": "data:…"}


@pytest.mark.parametrize(
    ("goal", "seen", "expected", "note"),
    [
        ((TEXT, IMAGE, {"type": "text", "text": "Now."}), {}, "Buy it.\nNow.", Note.GOAL_IMAGES),
        ("Buy it.", {}, "Buy it.", None),
        (None, {"goal_object": [TEXT]}, "Buy it.", None),
        (None, {}, "Buy the lamp.", None),
        (None, {"goal": None}, "Buy the lamp, said the chat.", Note.GOAL_FROM_CHAT),
        ((), {"goal": "", "chat_messages": []}, "", Note.GOAL_MISSING),
    ],
)
def test_goals(tmp_path, goal, seen, expected, note):
    write_run(tmp_path / "run", [step(0, None, observation(0, **seen))], goal=goal)
    row, notes = one(tmp_path)
    assert row["goal"] == expected
    assert notes == ({note: 1} if note else {})


NODES = [
    ("1", "RootWebArea", "It's a page", ["2", "4"], {"focused": True, "url": "http://x/"}),
    ("2", "generic", "", ["3", "9"], {}),
    ("3", "link", "Save all", ["5"], {"focusable": True, "disabled": False}),
    ("4", "textbox", "Name", [], {"required": True, "focused": False}),
    ("5", "StaticText", "Save", ["6"], {}),
    ("6", "InlineTextBox", "Save", [], {}),
]
TREE = {
    "nodes": [
        {
            "nodeId": id_,
            "role": {"value": role},
            "name": {"value": name},
            "childIds": children,
            "properties": [{"name": key, "value": {"value": value}} for key, value in properties.items()],
            **({"browsergym_id": f"a{id_}"} if role in ("link", "textbox") else {}),
            **({"value": {"value": "Ann"}} if role == "textbox" else {}),
        }
        for id_, role, name, children, properties in NODES
    ]
}
RENDERED = (
    "RootWebArea \"It's a page\", focused, url='http://x/'\n"
    "\t[a3] link 'Save all', clickable, visible, disabled=False\n"
    "\t[a4] textbox 'Name' value='Ann', required"
)


def test_a_tree_that_is_there_as_an_object_only_is_written_as_text(tmp_path):
    marks = {"a3": {"visibility": 1.0, "clickable": True}, "a4": {"visibility": 0.2, "clickable": False}}
    assert render_tree(TREE, marks) == RENDERED
    seen = observation(0, axtree_txt=None, axtree_object=TREE, extra_element_properties=marks)
    damaged = observation(1, axtree_txt=None, axtree_object={"nodes": []})
    write_run(
        tmp_path / "run",
        [step(0, None, seen), step(1, None, damaged), step(2, None, observation(2, axtree_txt=None))],
    )
    row, notes = one(tmp_path)
    assert [state["accessibility_tree"] for state in row["states"]] == [RENDERED, "", ""]
    assert notes == {Note.TREES_RENDERED: 1, Note.TREES_MISSING: 2}


def test_a_task_that_no_entry_fits_is_named_with_its_run_and_the_remedy(tmp_path):
    write_run(tmp_path / "my run", task="desk.close")
    defect = read(tmp_path)[1][0]
    assert "my run" in defect and "no entry of dataset.agentlab.tasks fits the task 'desk.close'" in defect
    assert "add {task: 'desk.close', domain: …, environment: …}" in defect


def test_the_first_entry_that_fits_counts():
    entries = [
        {"task": "shop.*", "run": "a/*", "domain": "web", "environment": "first"},
        {"run": "b/*", "domain": "web", "environment": "second"},
        {"task": "shop.*", "domain": "web", "environment": "third"},
    ]
    for task, run, expected in (("shop.x", "a/1", "first"), ("x", "b/1", "second"), ("shop.x", "c", "third")):
        assert site_of(task, run, entries) == Site("web", expected)
    assert site_of("Shop.x", "c", entries) is None


def test_damaged_and_hostile_files_are_all_named_at_once(tmp_path):
    write_run(tmp_path / "a") and (tmp_path / "a" / "exp_args.pkl").write_bytes(b"cposix\nsystem\n.")
    write_run(tmp_path / "b") and (tmp_path / "b" / "exp_args.pkl").write_bytes(pickle.dumps({}))
    hostile = gzip.compress(b"cbuiltins\neval\n.")
    write_run(tmp_path / "c", summary=False) and (tmp_path / "c" / "step_2.pkl.gz").write_bytes(hostile)
    write_run(tmp_path / "d") and (tmp_path / "d" / "goal_object.pkl.gz").write_bytes(hostile)
    write_run(tmp_path / "e", [step(0, None, observation(0, axtree_txt="half \ud800"))])
    mine = instance("my_agent", "Args")
    write_run(tmp_path / "f")
    (tmp_path / "f" / "exp_args.pkl").write_bytes(
        dumps(
            instance(LOOP, "ExpArgs", agent_args=mine, env_args=instance(LOOP, "EnvArgs", task_name="shop.x"))
        )
    )
    rows, defects, _ = read(tmp_path)
    assert not rows and len(defects) == 6
    for defect, words in zip(
        defects,
        (
            "exp_args.pkl is not read: it names posix.system",
            "exp_args.pkl is not read: it names no task",
            "step_2.pkl.gz is not read: it names builtins.eval",
            "goal_object.pkl.gz is not read: it names builtins.eval",
            "a lone surrogate",
            "it names my_agent.Args",
        ),
        strict=True,
    ):
        assert words in defect
    assert "name its module in dataset.agentlab.modules" in defects[-1]
    assert "f" in [
        outcome.run.name for outcome in read(tmp_path, modules=["my_agent"])[2].outcomes if outcome.states
    ]


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_any_protocol_that_agents_use(tmp_path, protocol):
    write_run(tmp_path / "run", [step(0, "a()", observation(0, url=None)), step(1, None)], protocol=protocol)
    assert one(tmp_path)[0]["states"][0]["url"] == "http://app.example/tab/0"


def section(**more):
    agentlab = {
        "tasks": [
            {"run": "*_shop_*", "domain": "web", "environment": "larkspur-shop"},
            {"domain": "enterprise", "environment": "quillmark-desk"},
        ],
        "modules": ["expagent"],
    }
    return {"source": "agentlab", "agentlab": agentlab, **more}


def test_two_genuine_runs_become_tables(tmp_path):
    rewrites = str(GENUINE / "goal_rewrites.json")
    counts = ingest_dataset(GENUINE, ["small"], tmp_path, source=open_source(section(goal_rewrites=rewrites)))
    assert (counts.trajectories, counts.states, counts.screenshots) == (2, 13, 13)
    assert counts.notices == [
        "goals rewritten in 1 trajectories: 1 in goals, 0 in trees, 0 in actions, 0 in thoughts"
    ]
    shop, desk = read_rows(tmp_path / "trajectories.parquet")
    assert shop["goal"] == "Find the bin label of the Ridge tarp Ennick in the shop."
    assert (desk["domain"], desk["outcome"], desk["family"]) == ("enterprise", "failure", "localsite")
    states = read_rows(tmp_path / "states.parquet")
    assert [state["action"] for state in states[:3]] == [
        None,
        "fill('117', 'Ridge tarp Ennick')",
        "click('118')",
    ]
    assert states[1]["thought"] == "Search for Ridge tarp Ennick."
    assert "[178] cell 'LK-1166'" in states[4]["tree"]
    assert (states[0]["screenshot_width"], states[0]["page_title"][:13]) == (1024, "Every product")
    runs = list(csv.DictReader(io.StringIO((tmp_path / "agentlab_runs.csv").read_text())))
    assert [run["trajectory_id"] for run in runs] == [shop["trajectory_id"], desk["trajectory_id"]]
    assert [run["states"] for run in runs] == ["6", "7"]
    assert "2 runs, 2 kept with 13 states" in (tmp_path / "agentlab.md").read_text()
    assert (tmp_path / "goal_rewrites.csv").read_text().count("\n") == 2


def test_a_folder_without_runs_and_labels_of_unknown_runs(tmp_path):
    for name in ("questions.jsonl", "haystacks/lme_v2_small.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((GENUINE / name).read_bytes())
    with pytest.raises(
        DatasetError, match=r"there is no run: no folder holds exp_args\.pkl; put the results"
    ):
        ingest_dataset(tmp_path, ["small"], tmp_path / "out", source=open_source(section()))
    write_run(tmp_path / "run")
    with pytest.raises(DatasetError, match="trajectories that are not in the experiment results"):
        ingest_dataset(tmp_path, ["small"], tmp_path / "out", source=open_source(section()))


def test_families_of_the_dataset_win_over_task_names(tmp_path):
    run = write_run(tmp_path / "run")
    write_run(tmp_path / "other")
    families = {find_runs(run.parent).runs[1].id: "mine"}
    list(Results(Options(tasks=[SHOP])).rows(tmp_path, families, []))
    assert sorted(families.values()) == ["mine", "shop.buy"]


def test_the_table_of_runs_has_a_column_for_each_count(tmp_path):
    write_run(tmp_path / "run", [step(0, "a()")])
    results = read(tmp_path)[2]
    (row,) = csv.DictReader(io.StringIO(runs_csv(results)))
    assert set(Note) < row.keys() and row["actions_without_state"] == "1"
    assert json.loads(row["states"]) == 1 and png(0)


def test_labels_of_a_run_that_is_to_be_mended_are_not_called_unknown(tmp_path):
    runs = (write_run(tmp_path / "results" / name) for name in ("sound", "damaged"))
    (list(runs)[1] / "step_1.pkl.gz").write_bytes(b"")
    results = Results(Options(tasks=[SHOP]))
    known, defects = Known("the experiment results"), []

    class Source:
        file, if_empty, rows = known.file, ("", ""), results.rows

    assert len(list(read_trajectories(tmp_path, {}, known, defects, source=Source()))) == 1
    assert len(defects) == 1 and not known.complete

"""The collector without a browser: applications and policies, servers, and datasets of recorded runs."""

import json
import re
import socket
import sys
import urllib.request
from pathlib import Path

import pytest
from collector import applications
from collector.__main__ import main
from collector.acts import Job, PolicyError, View, click, fill, goto, press, say, scroll, select
from collector.datacard import datacard
from collector.dataset import build_dataset, question_id
from collector.evidence import evidence, on_screen
from collector.questions import ABSTENTION, PHRASES, goes_through, question, shows
from collector.registry import Application, load_applications, load_jobs
from collector.servers import serving
from dataset_factory import png

from lmev2 import collecting
from lmev2.eval_function import parse_eval_function
from lmev2.ingest.dataset import validate_dataset
from lmev2.ingest.questions import QUESTION_TYPES

ROOT = Path(__file__).parents[2]
TREE = (
    "RootWebArea 'Notes', url='http://x/'\n"
    "\t[a1] button 'Save', clickable, visible\n"
    "\t\tStaticText 'now'\n"
    "\t[a2] button 'Save', clickable\n"
    '\t[a3] textbox "It\'s", visible\n'
    "\tStaticText 'far below'"
)


# -- applications --------------------------------------------------------------------------------------


def test_every_application_is_whole():
    found = load_applications()
    assert list(found) == collecting.applications() == ["desk", "forum", "shop"]
    jobs = load_jobs()
    assert len(jobs) == 105 == len({job.id for job in jobs})
    assert {job.outcome for job in jobs} == {"success", "failure"}
    environments = {job.environment for job in jobs}
    keys = {each["key"] for application in found.values() for each in application.questions}
    for name, application in found.items():
        assert application.requirements.is_file(), name
        for job in application.jobs():
            assert f":{application.port}/" in job.start_url, job.key
            assert hasattr(job.policy(), "send"), job.key
        for each in application.questions:
            assert each["environment"] in environments and each["question_type"] in QUESTION_TYPES
            parse_eval_function(each["eval_function"])
            assert each["anchor"] is None or each["anchor"] in keys
            assert each["image"] is None or each["image"][0] in {job.key for job in jobs}
            for hop in each["hops"]:
                for pattern in (*hop.get("patterns", ()), *hop.get("steps", ())):
                    re.compile(pattern)
    assert len(keys) == 54


def test_those_that_are_left_out_are_there():
    lines = (ROOT / "collector" / "leave_out.txt").read_text().splitlines()
    assert {line for line in lines if line and line[0] != "#"} <= {job.key for job in load_jobs()}


MODULE = """
from pathlib import Path
from collector.acts import Job, click
from collector.registry import Application

def jobs():
    return [Job("notes/{key}", "f", "notes", "web", "e", "g", "success", "http://x/", lambda: iter([]))]

APPLICATION = Application(port={port}, requirements=Path("r"), server=None, jobs=jobs)
"""


@pytest.fixture
def more(tmp_path, monkeypatch):
    """Put modules beside the project's applications."""
    monkeypatch.setattr(applications, "__path__", [*applications.__path__, str(tmp_path)])

    def add(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, f"collector.applications.{name}", raising=False)

    yield add
    for name in [name for name in sys.modules if name.startswith("collector.applications.my_")]:
        del sys.modules[name]


def test_one_module_is_an_application(more):
    more("my_notes", MODULE.format(key="a", port=8110))
    assert [job.key for job in load_jobs(["my_notes"])] == ["notes/a"]
    assert "my_notes" in load_applications()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "defines no APPLICATION"),
        (MODULE.format(key="a", port=8101), "the same port 8101"),
        (MODULE.format(key="a", port=8110).replace("[Job(", "2 * [Job("), "two jobs share the id of notes/a"),
    ],
)
def test_faults_of_applications_are_named(more, text, fault):
    more("my_notes", text)
    with pytest.raises(SystemExit, match=fault):
        load_applications()


def test_an_unknown_application_is_named():
    with pytest.raises(SystemExit, match="no application wiki; there is desk, forum, shop"):
        load_applications(["wiki"])


# -- acts ----------------------------------------------------------------------------------------------


def test_acts_name_elements_and_become_browsergyms_actions():
    view = View(TREE, "http://x/")
    acts = {
        "click('a1')": click("button", "Save", "t"),
        "click('a2')": click("button", "Save", "t", nth=-1),
        "fill('a3', \"it's\")": fill("It's", "it's", "t"),
        "select_option('a3', 'b')": select(re.compile("^It"), "b", "t", role="textbox"),
        "press('a1', 'Enter')": press("button", "Save", "Enter", "t", visible=True),
        "scroll(0, 200)": scroll(200, "t"),
        "goto('http://y/')": goto("http://y/", "t"),
        "send_msg_to_user('Done.')": say("Done.", "t"),
    }
    for action, act in acts.items():
        assert act.build(view) == action and act.thought == "t"
    assert click("button", "Save", "t", after="textbox").build(View(TREE + "\n" + TREE, "")) == "click('a1')"
    for act in (click("link", "Save", "t"), click("button", "Save", "t", nth=2), click("button", "S", "t")):
        with pytest.raises(PolicyError, match=r"on http://x/\nRootWebArea"):
            act.build(view)


def jsonl(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_what_is_on_screen():
    assert on_screen(TREE).split("\n") == [
        "\t[a1] button 'Save', clickable, visible",
        "\t\tStaticText 'now'",
        '\t[a3] textbox "It\'s", visible',
        "\tStaticText 'far below'",
    ]


# -- servers -------------------------------------------------------------------------------------------


class Folder:
    """Serves a folder; or ends at once."""

    def __init__(self, *, works=True):
        self.works = works

    def prepare(self, python, state):
        (state / "fresh").write_text("yes")

    def command(self, python, port):
        module = ["-m", "http.server", "--bind", "127.0.0.1", str(port)] if self.works else ["-c", "1"]
        return [str(python), *module], Path.cwd()


def an_application(server):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Application(port=port, requirements=Path(), server=server, jobs=list)


def test_a_server_lives_as_long_as_the_block_with_a_fresh_state(tmp_path):
    application = an_application(Folder())
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "old").touch()
    url = f"http://127.0.0.1:{application.port}/"
    with serving("files", application, Path(sys.executable), tmp_path / "state"):
        assert urllib.request.urlopen(url).status == 200
        assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["fresh", "server.log"]
    with pytest.raises(OSError):
        urllib.request.urlopen(url)


def test_a_server_that_does_not_start_is_named(tmp_path):
    with (
        pytest.raises(SystemExit, match=r"files did not start at http.*, see .*server\.log"),
        serving("files", an_application(Folder(works=False)), Path(sys.executable), tmp_path / "state"),
    ):
        pytest.fail("it was served")


# -- from recorded runs to a dataset -------------------------------------------------------------------


def recorded(folder, *runs):
    """Write runs as `record` does: key, and per state tree and action."""
    for number, (key, outcome, *states) in enumerate(runs):
        job = Job(
            key, key.split("-")[0], "notes", "web", "my-notes", f"Do {key}.", outcome, "http://x/", iter
        )
        row = {
            name: getattr(job, name)
            for name in ("id", "domain", "environment", "goal", "outcome", "start_url")
        }
        row["states"] = []
        for index, (tree, action) in enumerate(states):
            path = f"screenshots/{job.id}/{index}.png"
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(png(index))
            row["states"].append(
                {
                    **{"state_index": index, "step": index, "url": "http://x/", "action": action},
                    **{"thought": action and "Go on.", "accessibility_tree": tree, "screenshot": path},
                }
            )
        row |= {"_key": key, "_family": job.family, "_app": "notes", "_number": number}
        (folder / "raw").mkdir(exist_ok=True)
        (folder / "raw" / f"{job.id}.json").write_text(json.dumps(row))
    return folder


PAGE = "RootWebArea 'P'\n\t[a1] button 'Save', visible"
QUESTIONS = [
    question("q1", "my-notes", "procedure", "Which button?", "Save", PHRASES, [shows("button 'Save'")]),
    question(
        *("q2", "my-notes", "procedure-abs", "And else?", "x", ABSTENTION),
        [goes_through("BID button 'Save'")],
        anchor="q1",
        image=("notes/add-1", 0),
    ),
]


def a_run(key, outcome="success"):
    return key, outcome, (PAGE, None), ("RootWebArea 'Q'", "click('a1')"), (PAGE, "go_back()")


@pytest.fixture
def runs(tmp_path):
    return recorded(
        tmp_path / "notes", a_run("notes/add-1"), a_run("notes/add-2", "failure"), a_run("notes/no-1")
    )


def test_recorded_runs_become_a_sound_dataset(tmp_path, runs):
    built = build_dataset([runs], QUESTIONS, tmp_path / "data", leave_out=["notes/no-1"])
    assert (built.trajectories, built.questions, built.problems, built.left_out) == (2, 2, [], [])
    counts, defects = validate_dataset(tmp_path / "data", ["small", "medium"])
    assert not defects and counts.labelled_questions == 2 and counts.screenshots == 6
    assert counts.outcomes == {"success": 1, "failure": 1}
    first, second = jsonl(tmp_path / "data" / "coverage.jsonl")
    assert [entry["state_indexes"] for entry in first["hops"][0]["trajectories"]] == [[0, 2], [0, 2]]
    assert [entry["state_indexes"] for entry in second["hops"][0]["trajectories"]] == [[0], [0]]
    assert second["anchor_question_id"] == question_id("q1")
    assert "2 trajectories, 6 states (3 to 3), 1 task families" in datacard(tmp_path / "data")
    before = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    build_dataset([runs], QUESTIONS, tmp_path / "data", leave_out=["notes/no-1"])
    assert before == {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}


BAD = [
    (shows("button 'Delete'"), "Save", "q: no evidence for hop 0"),
    (shows("button 'Save'"), "Delete", "q: 'Delete' is not in the evidence of notes/add-1"),
    (shows("heading 'Q'", absent=["Save"]), "Save", "q: no evidence for hop 0"),
]


@pytest.mark.parametrize(("hop", "answer", "fault"), BAD)
def test_a_question_that_the_runs_do_not_bear_out(tmp_path, runs, hop, answer, fault):
    bad = question("q", "my-notes", "procedure", "?", answer, PHRASES, [hop])
    dependent = question("q3", "my-notes", "procedure-abs", "?", "x", ABSTENTION, [], anchor="q")
    built = build_dataset([runs], [*QUESTIONS, bad, dependent], tmp_path / "data")
    assert fault in built.problems and not (tmp_path / "data").exists()
    built = build_dataset([runs], [*QUESTIONS, bad, dependent], tmp_path / "data", partial=True)
    assert not built.problems and built.left_out == ["q", "q3"]
    assert validate_dataset(tmp_path / "data", ["small", "medium"])[1] == []


def test_evidence():
    run = {
        "_key": "a",
        "states": [
            {"state_index": 0, "accessibility_tree": PAGE, "url": "http://x/1", "action": None},
            {"state_index": 1, "accessibility_tree": PAGE, "url": "http://x/2", "action": "click('a1')"},
            {"state_index": 2, "accessibility_tree": "", "url": "http://x/3", "action": "click('a1')"},
        ],
    }
    for hop, states in (
        (shows("Save"), [0, 1]),
        (shows("Save", url="/2$"), [1]),
        (shows("Save", action="^click"), [1]),
        (shows(absent=["Save"]), [2]),
        (shows("Save", only=["b"]), []),
        (goes_through("BID button 'Save'", "BID button 'Save'"), [0, 1]),
        (goes_through(*["BID button 'Save'"] * 3), []),
        (goes_through("BID button 'Other'"), []),
    ):
        assert evidence(hop, run) == states, hop


# -- as jobs of the workflow ---------------------------------------------------------------------------


def test_the_digest_of_a_recording_sees_its_application_and_the_recorder_alone(tmp_path, monkeypatch):
    for name in (
        "acts.py",
        "dataset.py",
        "applications/a/site/x.html",
        "applications/a/questions.py",
        "applications/b.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(collecting, "COLLECTOR", tmp_path)
    before = collecting.recording_digest("a")
    for name, counts in (
        ("applications/b.py", False),
        ("applications/a/questions.py", False),
        ("dataset.py", False),
        ("applications/a/x.mo", False),
        ("applications/a/site/x.html", True),
        ("acts.py", True),
    ):
        (tmp_path / name).write_text(name)
        assert (collecting.recording_digest("a") != before) == counts, name
        before = collecting.recording_digest("a")


def test_what_the_collector_says_is_in_the_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("INFO before\n")
    with pytest.raises(collecting.CollectorError, match=r"`python -m collector build` failed; its words are"):
        collecting.run_collector(["build", str(tmp_path / "data"), str(tmp_path / "none")], str(log))
    assert log.read_text().startswith("INFO before\n") and "no evidence for hop 0" in log.read_text()


def test_the_command_line_lists_jobs_and_builds(tmp_path, runs, capsys):
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 105
    assert main(["build", str(tmp_path / "data"), str(runs)]) == 1
    assert "w-gate-field: no evidence for hop 0" in capsys.readouterr().err
    assert main(["build", "--partial", str(tmp_path / "data"), str(runs)]) == 0
    assert "54 questions left out, as runs are lacking" in capsys.readouterr().out
    assert (tmp_path / "data" / "DATACARD.md").read_text().startswith("# Recorded runs")


def test_the_bundled_dataset_is_what_is_built_of_its_runs(tmp_path):
    """Questions, labels and haystacks, to the last state index."""
    mini, numbers = ROOT / "resources" / "mini", {job.key: n for n, job in enumerate(load_jobs())}
    families = json.loads((mini / "families.json").read_text())
    (tmp_path / "raw").mkdir()
    (tmp_path / "screenshots").symlink_to(mini / "screenshots")
    for row in jsonl(mini / "trajectories.jsonl"):
        family = families[row["id"]]
        key = family["key"]
        row |= {"_key": key, "_family": family["family"], "_app": family["app"], "_number": numbers[key]}
        (tmp_path / "raw" / f"{row['id']}.json").write_text(json.dumps(row))
    questions = [each for application in load_applications().values() for each in application.questions]
    assert build_dataset([tmp_path], questions, tmp_path / "data").problems == []
    for name, key in (("trajectories", "id"), ("questions", "id"), ("coverage", "question_id")):
        built, bundled = (
            {row[key]: row for row in jsonl(folder / f"{name}.jsonl")} for folder in (tmp_path / "data", mini)
        )
        for row in (*built.values(), *bundled.values()) if name == "coverage" else ():
            for hop in row["hops"]:
                hop["trajectories"].sort(key=lambda entry: entry["trajectory_id"])
        assert built == bundled
    for name in ("families", "haystacks/lme_v2_small", "haystacks/lme_v2_medium"):
        built, bundled = ((folder / f"{name}.json").read_text() for folder in (tmp_path / "data", mini))
        assert json.loads(built) == json.loads(bundled)

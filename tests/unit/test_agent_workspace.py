import json
import os
import subprocess
import sys
import time

import pytest
from agent_data import HAYSTACK, TREES, make_files, make_workspace
from PIL import Image as Picture

from lmev2.agent.workspace import (
    HAYSTACKS,
    HaystackFolder,
    entry_name,
    instruction,
    manifest_texts,
    workspace,
)
from lmev2.image import Image
from lmev2.insert.files import FORMAT, folder_name, link, write_trajectory_files
from lmev2.prompts import FOLDER


def test_a_trajectory_is_a_folder_with_all_that_was_recorded(tmp_path):
    _, files = make_files(tmp_path)
    (row,) = files.rows(["t1"])
    folder = files.store / row["folder"]
    found = json.loads((folder / "trajectory.json").read_text())
    assert list(found) == ["id", "goal", "start_url", "outcome", "actions", "states"]
    assert found["actions"] == ["click('1')", "click('2')"]
    assert found["states"][1] == {
        "state_index": 1,
        "url": "http://x/1",
        "action": "click('1')",
        "thoughts": "thought 1",
        "text": TREES["t1"][1],
        "screenshot": "screenshots/1.png",
    }
    # A link, not a copy: the screenshots of the full dataset are gigabytes.
    assert (folder / "screenshots/1.png").samefile(tmp_path / "t1/1.png")


def test_annotations_are_of_the_page_before_the_action(tmp_path):
    # Bid 1 is a link before the first click and a button after it.
    _, files = make_files(tmp_path)
    assert files.rows(["t1"])[0]["actions"] == [
        None,
        "click('1')  # link 'Orders'",
        "click('2')  # link 'Depots'",
    ]


def test_folders_are_made_once_and_never_half(tmp_path, monkeypatch):
    trajectories, files = make_files(tmp_path)
    made = {path: path.stat().st_mtime_ns for path in files.store.iterdir()}
    write_trajectory_files(trajectories, files.store, lambda: None)
    assert {path: path.stat().st_mtime_ns for path in files.store.iterdir()} == made
    monkeypatch.setattr("lmev2.insert.files.link", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_trajectory_files(trajectories, tmp_path / "other", lambda: None)
    assert list((tmp_path / "other").iterdir()) == []


def test_a_folder_is_named_by_id_content_and_form(monkeypatch):
    names = {folder_name("a", "1"), folder_name("a", "2"), folder_name("b", "1")}
    monkeypatch.setattr("lmev2.insert.files.FORMAT", FORMAT + 1)
    assert len(names | {folder_name("a", "1")}) == 4


def test_without_hard_links_files_are_copied(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("x")

    def refuse(*_, **__):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    link(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "x"


def test_a_haystack_holds_its_trajectories_only_and_goes_away(tmp_path):
    _, files = make_files(tmp_path)
    haystack = HaystackFolder(files.store, files.rows(HAYSTACK), manifests=False)
    assert sorted(path.name for path in haystack.path.iterdir()) == ["t1", "t2"]
    haystack.close()
    assert list((files.store / HAYSTACKS).iterdir()) == []
    assert (files.store / files.rows(["t1"])[0]["folder"] / "trajectory.json").is_file()


def test_what_a_killed_process_left_is_swept(tmp_path, monkeypatch):
    _, files = make_files(tmp_path)
    left = HaystackFolder(files.store, files.rows(HAYSTACK), manifests=False)
    HaystackFolder(files.store, files.rows(HAYSTACK), manifests=False)
    assert left.path.is_dir()  # its process, this one, is alive
    monkeypatch.setattr("lmev2.agent.workspace.is_alive", lambda process: False)
    HaystackFolder(files.store, files.rows(HAYSTACK), manifests=False)
    assert not left.path.exists()


def test_missing_files_say_what_to_do(tmp_path):
    _, files = make_files(tmp_path)
    (row,) = files.rows(["t1"])
    with pytest.raises(FileNotFoundError, match=r"files\.parquet"):
        HaystackFolder(files.store, [{**row, "folder": "gone"}], manifests=False)


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "a b"])
def test_an_id_that_is_no_folder_name_is_refused(name):
    with pytest.raises(ValueError, match="cannot name a folder"):
        entry_name(name)


def test_500_trajectories_are_laid_out_in_well_under_a_second(tmp_path):
    _, files = make_files(tmp_path)
    (row,) = files.rows(["t1"])
    rows = [{**row, "trajectory_id": f"t{number}"} for number in range(500)]
    began = time.perf_counter()
    HaystackFolder(files.store, rows, manifests=True)
    assert time.perf_counter() - began < 2.0  # 0.1 s here; others may be busy


def test_manifests_are_sorted_and_fit_their_table(tmp_path):
    row = {
        "outcome": None,
        "n_states": 2,
        "start_url": "http://b",
        "actions": [None, "click('1')  # link 'A'"],
    }
    texts = manifest_texts(
        [
            {**row, "trajectory_id": "x", "goal": "a | b\nc"},
            {**row, "trajectory_id": "z", "goal": "a", "start_url": "http://a", "outcome": "failure"},
            {**row, "trajectory_id": "y", "goal": "a"},
        ]
    )
    table = texts["TRAJECTORY_SUMMARY_CONCISE.md"].split("\n")[4:7]
    assert table == [
        "| z | a | failure | 2 | http://a |",
        "| y | a | unknown | 2 | http://b |",
        "| x | a \\| b c | unknown | 2 | http://b |",
    ]
    assert "## y\n- Goal: a\n" in texts["TRAJECTORY_SUMMARY_FULL.md"]
    assert "  1. click('1')  # link 'A'" in texts["TRAJECTORY_SUMMARY_FULL.md"]


def test_the_question_is_text_and_picture_and_nothing_else(tmp_path):
    _, files = make_files(tmp_path)
    haystack = HaystackFolder(files.store, files.rows(HAYSTACK), manifests=True)
    with workspace(haystack, "What?", None, "Do.\n", helper=True) as folder:
        assert json.loads((folder / "question.json").read_text()) == {"question": "What?"}
        assert sorted(path.name for path in folder.iterdir()) == [
            "INSTRUCTION.md",
            "question.json",
            "scripts",
            "trajectories",
        ]
    assert not folder.exists()
    Picture.new("RGB", (4, 4)).save(tmp_path / "abc.PNG")
    with workspace(
        haystack, "What?", Image(tmp_path / "abc.PNG", "sha", 4, 4), "Do.\n", helper=False
    ) as folder:
        assert json.loads((folder / "question.json").read_text()) == {
            "question": "What?",
            "image": "question_image.png",
        }
        assert (folder / "question_image.png").read_bytes() == (tmp_path / "abc.PNG").read_bytes()
        assert not (folder / "scripts").exists()


@pytest.mark.parametrize("name", ["agent_plain", "agent_workflow"])
def test_an_ablation_takes_every_sentence_about_the_thing_with_it(name):
    template = (FOLDER / f"{name}.md").read_text()
    whole = instruction(template, manifests=True, helper=True)
    assert "TRAJECTORY_SUMMARY_FULL.md" in whole
    assert "inspect_trajectory.py" in whole
    without = instruction(template, manifests=False, helper=True).lower()
    assert not any(word in without for word in ("summary", "summaries", "manifest"))
    without = instruction(template, manifests=True, helper=False).lower()
    assert not any(word in without for word in ("inspect", "helper", "script", "--"))
    for text in (whole, without):
        assert "[no" not in text
        assert "[manifests]" not in text


# -- the helper ---------------------------------------------------------------------------------------


def helper(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-S", "scripts/inspect_trajectory.py", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_helper_shows_overview_state_span_and_matches(tmp_path):
    with make_workspace(tmp_path) as folder:
        overview = helper(folder, "t1").stdout
        assert "Goal: goal of t1" in overview
        assert "1. click('1')  # link 'Orders'  ->  http://x/1" in overview
        state = helper(folder, "t1", "--state", "2").stdout
        assert "textbox 'Gate code', required" in state
        assert "Screenshot: trajectories/t1/screenshots/2.png" in state
        span = helper(folder, "t1", "--span", "1:2").stdout
        assert span.index("State 1 of") < span.index("State 2 of")
        assert "State 0" not in span
        match = helper(folder, "t1", "--match", "gate|depots").stdout
        assert "4 lines match" in match
        assert "  [1] textbox 'Gate code', required" in match


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["t9"], "there is no trajectory 't9'"),
        (["../t1"], "there is no trajectory"),
        (["t1", "--state", "3"], "states are numbered 0 to 2"),
        (["t1", "--state", "-1"], "there is no state '-1'"),
        (["t1", "--span", "2:1"], "reversed: write 1:2"),
        (["t1", "--span", "1-2"], "is no span"),
        (["t1", "--span", "0:99"], "there is no state '99'"),
        (["t1", "--match", "(a"], "no regular expression"),
    ],
)
def test_the_helper_says_what_is_wrong(tmp_path, arguments, says):
    with make_workspace(tmp_path) as folder:
        done = helper(folder, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_the_helper_is_quick_and_brief_on_a_large_file(tmp_path):
    with make_workspace(tmp_path) as folder:
        path = folder / "trajectories/t1/trajectory.json"
        data = json.loads(path.read_text())
        data["states"] = [
            {
                **data["states"][0],
                "state_index": number,
                "text": "\t[1] link 'a long line of text'\n" * 10_000,
            }
            for number in range(60)
        ]
        path.unlink()
        path.write_text(json.dumps(data))
        began = time.perf_counter()
        for arguments in (
            ["t1", "--state", "5"],
            ["t1", "--span", "0:59"],
            ["t1", "--match", "long"],
            ["t1"],
        ):
            done = helper(folder, *arguments)
            assert done.returncode == 0
            assert len(done.stdout) < 100_000
        assert time.perf_counter() - began < 20


def test_the_helper_gives_up_on_a_pattern_that_never_ends(tmp_path):
    with make_workspace(tmp_path) as folder:
        path = folder / "trajectories/t1/trajectory.json"
        data = json.loads(path.read_text())
        data["states"][0]["text"] = "a" * 40
        path.unlink()
        path.write_text(json.dumps(data))
        script = folder / "scripts/inspect_trajectory.py"
        script.write_text(script.read_text().replace("MATCH_SECONDS = 20", "MATCH_SECONDS = 0.3"))
        done = helper(folder, "t1", "--match", "(a+)+b")
    assert "use a simpler one" in done.stderr

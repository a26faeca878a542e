"""Backends of the official harness, run unchanged in a process of their own."""

import asyncio
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from memory_data import make_trajectories
from PIL import Image as Picture

from lmev2.flow import Flow, code_of
from lmev2.image import Image
from lmev2.journal import Journal
from lmev2.memory import official_program
from lmev2.memory.official import OfficialMemory
from lmev2.memory.official_process import BackendError, BackendGoneError, BackendProcess
from lmev2.memory.protocol import Question
from lmev2.memory.registry import MethodClassError, memory_class, options_of
from lmev2.memory.services import Services
from lmev2.query import Method, Runner
from lmev2.trajectory import Trajectories

ROOT = Path(__file__).parents[2]
CHECKOUT = ROOT / "tests" / "data" / "official_checkout"
TREES = {"b": ["tree b0", "tree b1"], "a": ["tree a0"]}
HAYSTACK = ("b", "a")


def options(tmp_path, **changes):
    params = {"log": str(tmp_path / "log.jsonl"), "place": "{workspace}", **changes.pop("params", {})}
    given = {"checkout": str(CHECKOUT), "memory_type": "recorder", "params": params, **changes}
    return options_of(OfficialMemory, given)


class WithDigests(Trajectories):
    """Screenshots with the digests of their files, which the factory makes up."""

    def _screenshot(self, state):
        image = super()._screenshot(state)
        return replace(image, sha256=sha256(image.path.read_bytes()).hexdigest())


def run(tmp_path, texts, *, concurrency=1, image=None, trees=TREES, haystacks=None, **changes):
    """The rows of some questions, by text, in their order."""
    folder = tmp_path / "data"
    folder.mkdir(exist_ok=True)
    make_trajectories(folder, trees)
    trajectories = WithDigests(folder / "trajectories.parquet", folder / "states.parquet", folder)
    for id_, states in trees.items():
        (folder / id_).mkdir(exist_ok=True)
        for index in range(len(states)):
            Picture.new("RGB", (64, 32), (index, len(id_), ord(id_[0]))).save(folder / id_ / f"{index}.png")
    given = options(tmp_path, **changes)
    method = Method(OfficialMemory, given, {"options": given}, (), concurrency)
    journal = Journal(tmp_path / "journal")
    questions = {f"secret-{n}": Question(f"handle{n}", text, image) for n, text in enumerate(texts)}
    runner = Runner(method, trajectories, {}, lambda repeat: Services(None, {}, repeat=repeat), journal)
    haystacks = haystacks or [HAYSTACK] * len(texts)
    try:
        found = runner.run(questions, dict(zip(questions, haystacks, strict=True)), 1, lambda: None)
        return asyncio.run(found)
    finally:
        journal.close()


def notes(tmp_path, what=None):
    lines = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    return [line for line in lines if what in (None, line["what"])]


def test_a_haystack_is_built_once_and_inserted_in_its_order(tmp_path):
    rows = run(tmp_path, ["one", "two", "three"], haystacks=[HAYSTACK, HAYSTACK, ("a",)])
    assert [row["status"] for row in rows] == ["ok"] * 3, rows[0]["error"]
    assert [note["what"] for note in notes(tmp_path)] == [
        *("built", "configured", "inserted", "inserted", "asked", "asked"),
        *("built", "configured", "inserted", "asked"),
    ]
    assert [note["trajectory"]["id"] for note in notes(tmp_path, "inserted")] == ["b", "a", "a"]
    assert len({note["pid"] for note in notes(tmp_path)} | {os.getpid()}) == 3  # a process each, not ours
    assert all(note["main"] for note in notes(tmp_path) if "main" in note)
    assert [item["text"] for item in rows[0]["items"] if item["kind"] == "text"] == ["tree b1", "tree a0"]
    for pid in {note["pid"] for note in notes(tmp_path)}:
        assert not Path(f"/proc/{pid}").exists()


def test_a_finished_query_is_not_asked_again(tmp_path):
    first = run(tmp_path, ["one"])
    assert run(tmp_path, ["one"]) == first
    assert len(notes(tmp_path, "built")) == 1


def test_the_trajectory_is_the_official_one(tmp_path):
    run(tmp_path, ["one"])
    given = notes(tmp_path, "inserted")[0]["trajectory"]
    assert list(given) == ["id", "domain", "environment", "goal", "outcome", "start_url", "states"]
    assert given["states"][1] == {
        "state_index": 1,
        "step": 1,
        "url": "http://x/1",
        "action": "click('1')",
        "thought": "thought 1",
        "accessibility_tree": "tree b1",
        "screenshot": str((tmp_path / "data" / "b" / "1.png").resolve()),
    }


def test_the_backend_learns_text_image_and_an_opaque_id_only(tmp_path):
    picture = tmp_path / "0123.png"
    Picture.new("RGB", (4, 3)).save(picture)
    params = {"listed": "{questions}", "traces": "{traces}"}
    rows = run(tmp_path, ["one"], image=Image(picture, "sha", 4, 3), params=params)
    (asked,) = notes(tmp_path, "asked")
    assert (asked["query"], asked["image"]) == ("one", str(picture))
    assert asked["context"] == {"question_id": "handle0"}
    (configured,) = notes(tmp_path, "configured")
    assert configured["values"].keys() == {
        *("query_trace_dir", "generation_temperature", "generation_top_p", "cancel_event"),
    }
    assert configured["values"]["query_trace_dir"] == notes(tmp_path, "built")[0]["params"]["traces"]
    text = (tmp_path / "log.jsonl").read_text()
    assert "secret" not in text
    assert rows[0]["question_id"] == "secret-0"


def test_the_questions_file_has_no_label(tmp_path):
    memory = OfficialMemory(options(tmp_path), Services(None, {}))
    picture = Image(tmp_path / "p.png", "sha", 4, 3)
    memory.expect([Question("h1", "one", None), Question("h2", "two", picture)])
    listed = json.loads((memory._workspace / "questions.json").read_text())
    asyncio.run(memory.close())
    assert listed == [
        {"id": "h1", "question": "one", "question_type": "not-told"},
        {"id": "h2", "question": {"text": "two", "image": str(picture.path)}, "question_type": "not-told"},
    ]


def test_metadata_and_times_of_the_query_are_kept(tmp_path):
    (row,) = run(tmp_path, ["it #sleeps"])
    trace = json.loads(row["trace"])
    assert trace["post_query"] == {"items": 4, "undefined": "NaN", "path": "a"}
    assert trace["post_query_s"] >= 0
    assert 0.2 <= row["latency_s"] < 0.35  # not the start of the process, nor what is done around it


def test_screenshots_are_the_datasets_own_even_if_copied(tmp_path):
    rows = run(tmp_path, ["plain", "#copies"], params={"states": 1})
    for row, place in zip(rows, [("a", 0, 0), ("a", 0, 0)], strict=True):
        image = row["items"][1]
        assert image["image"] == str(tmp_path / "data" / "a" / "0.png")
        if row["question_id"] == "secret-0":
            assert (image["trajectory_id"], image["first_state"], image["last_state"]) == place


def test_pictures_of_its_own_making_need_a_place(tmp_path):
    picture = tmp_path / "own.png"
    Picture.new("RGB", (5, 6)).save(picture)
    (row,) = run(tmp_path, ["it #draws"], params={"picture": str(picture)})
    assert row["status"] == "query_failed"
    assert "name a folder in options.images" in row["error"]
    (row,) = run(tmp_path, ["it #draws"], params={"picture": str(picture)}, images=str(tmp_path / "kept"))
    (item,) = row["items"]
    assert (item["width"], item["height"]) == (5, 6)
    assert Path(item["image"]).parent == tmp_path / "kept"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("it #raises", "KeyError: 'no such page' ("),
        ("it #quits", "SystemExit: 4 ("),
        ("it is #wrong", 'query: item 0 is not {"type": "text" or "image"'),
    ],
)
def test_an_error_of_a_query_is_its_row_and_the_backend_goes_on(tmp_path, text, message):
    failed, fine = run(tmp_path, [text, "two"])
    assert failed["status"] == "query_failed"
    assert message in failed["error"]
    assert fine["status"] == "ok"
    assert len(notes(tmp_path, "built")) == 1


def test_after_a_crash_the_backend_is_built_anew(tmp_path):
    failed, fine = run(tmp_path, ["it #exits", "two"])
    assert failed["status"] == "query_failed"
    assert "the backend's process exited with status 3; its last words: " in failed["error"]
    assert "I have had enough" in failed["error"]
    assert fine["status"] == "ok"
    assert json.loads(fine["trace"])["builds"] == 2
    assert fine["latency_s"] < 0.1  # building anew is no part of it


def test_a_query_that_hangs_is_stopped_and_others_are_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr("lmev2.memory.official_process.GRACE_S", 0.1)
    rows = run(tmp_path, ["it #hangs", "it #sleeps", "three"], concurrency=2, timeout_s=1.0)
    assert [row["status"] for row in rows] == ["query_failed", "ok", "ok"]
    assert "no answer to query within 1 s: the backend was stopped" in rows[0]["error"]


def test_the_process_ends_with_the_one_that_started_it(tmp_path):
    """Also in the middle of a query: what is seen of a killed run is that the socket closes."""

    async def started():
        setup = options(tmp_path)
        setup = {key: setup[key] for key in ("base", "module", "class", "memory_type", "params", "runtime")}
        process = await BackendProcess.start(sys.executable, CHECKOUT, tmp_path / "output", setup, 60)
        hanging = asyncio.ensure_future(process.call("query", 60, handle="h", text="it #hangs", image=None))
        await asyncio.sleep(0.1)
        process._writer.close()
        return await asyncio.gather(hanging, return_exceptions=True)

    (ended,) = asyncio.run(started())
    assert isinstance(ended, BackendGoneError)
    assert "was ended by SIGKILL" in str(ended)


def test_queries_side_by_side_have_threads_and_contexts_of_their_own(tmp_path):
    rows = run(tmp_path, ["one #sleeps", "two #sleeps", "three #sleeps"], concurrency=3)
    assert [row["status"] for row in rows] == ["ok"] * 3
    asked = notes(tmp_path, "asked")
    assert sorted(note["main"] for note in asked) == [False, False, True]
    assert {(note["query"], note["context"]["question_id"]) for note in asked} == {
        *(("one #sleeps", "handle0"), ("two #sleeps", "handle1"), ("three #sleeps", "handle2")),
    }


def failure(tmp_path, **changes):
    with pytest.raises(BackendError) as caught:
        run(tmp_path, ["one"], **changes)
    return str(caught.value)


def test_a_build_that_fails_names_the_trajectory_and_the_cause(tmp_path):
    message = failure(tmp_path, params={"refuses": "goal of a"})
    assert message.startswith("recorder: inserting trajectory a: ValueError: cannot take a (")
    assert "recorder.py, line " in message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"memory_type": "other"}, "there is no memory type 'other'; registered are recorder"),
        ({"module": "mine.plain", "class": "No", "memory_type": ""}, "has no class 'No'"),
        (
            {"module": "mine.loose", "class": "Loose", "memory_type": ""},
            "the class Loose does not subclass memory_modules.memory.Memory",
        ),
        (
            {"module": "mine.plain", "class": "NoQuery", "memory_type": "", "base": "mine.plain"},
            "the class NoQuery does not subclass mine.plain.Memory",
        ),
        (
            {"module": "mine.plain", "class": "NoQuery", "memory_type": "", "base": "mine.loose"},
            "the class NoQuery has no method query",
        ),
        ({"base": "mine.loose"}, "the module mine.loose has no MEMORY_TYPES"),
        ({"params": {"log": "/no/such/folder/log"}}, "FileNotFoundError: "),
        ({"python": "/no/such/python"}, "/no/such/python: cannot be started: No such file or directory"),
    ],
)
def test_a_backend_that_cannot_be_built_says_what_is_missing(tmp_path, changes, message):
    assert message in failure(tmp_path, **changes)


def test_a_class_that_is_not_registered_and_takes_less(tmp_path):
    (row,) = run(tmp_path, ["one"], **{"module": "mine.plain", "class": "Plain", "memory_type": ""})
    assert [item["text"] for item in row["items"]] == ["one None configured goal of b goal of a"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"checkout": "/no/such/folder"}, "options.checkout: there is no folder '/no/such/folder'"),
        ({"memory_type": ""}, "name either `memory_type`, or `module` and `class`"),
        ({"class": "Recorder"}, "name either `memory_type`, or `module` and `class`"),
        ({"memory_type": "", "class": "Recorder"}, "options.module: missing"),
        ({"module": "mine.missing"}, "has no module 'mine.missing'"),
        ({"base": "no such"}, "options.base: 'no such' is not of the form"),
        ({"timeout_s": 0}, "options.timeout_s: should be more than 0"),
        (
            {"memory_type": "codex", "params": {"questions_path": "data/questions.jsonl"}},
            "options.params.questions_path: leave it out",
        ),
        ({"memory_typ": "x"}, "options.memory_typ: unknown option; did you mean 'memory_type'?"),
    ],
)
def test_options_that_cannot_be_run(tmp_path, changes, message):
    with pytest.raises(MethodClassError) as caught:
        options(tmp_path, **changes)
    assert message in str(caught.value)


def test_its_short_name():
    assert memory_class("official") is OfficialMemory


def test_the_example_config_names_it_and_its_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    config["methods"] = yaml.safe_load((ROOT / "docs" / "examples" / "official.yaml").read_text())["methods"]
    params = Flow(config, ROOT).query("recorder")
    assert params["method"]["class"] == "official"
    assert params["options"].items() >= {"memory_type": "recorder", "timeout_s": 5400.0}.items()
    assert params["method_code"].endswith(OfficialMemory.code(params["options"]))
    assert not params["models"]


def test_the_code_digest_follows_the_checkout(tmp_path):
    seen = {}
    changes = {
        "nothing": None,
        "a comment": ("memory_modules/recorder.py", lambda text: f"# More.\n{text}"),
        "code": ("memory_modules/recorder.py", lambda text: text.replace("no such page", "gone")),
        "data": ("memory_modules/words.txt", lambda text: f"{text} more"),
        "imported": ("mine/plain.py", lambda text: text.replace("configured", "ready")),
        "elsewhere": ("README.md", lambda text: ""),
    }
    for name, change in changes.items():
        checkout = shutil.copytree(
            CHECKOUT, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
        )
        if change:
            file = checkout / change[0]
            file.write_text(change[1](file.read_text()))
        seen[name] = code_of(OfficialMemory, options(tmp_path, checkout=str(checkout), module="mine.plain"))
    same = {name for name, digest in seen.items() if digest == seen["nothing"]}
    assert same == {"nothing", "a comment", "elsewhere"}
    assert len(set(seen.values())) == 4


@pytest.mark.parametrize(
    "code",
    [
        b"def f(:\n",
        b"X = 'a\0'",
        b"X = '\xff'",
        *(b"X = " + b"+".join([b"1"] * n) for n in (2000, 3000, 90_000)),
    ],
)
def test_a_checkout_that_does_not_parse_is_named(tmp_path, code):
    shutil.copytree(CHECKOUT, tmp_path / "checkout")
    (tmp_path / "checkout/memory_modules/broken.py").write_bytes(code)
    with pytest.raises(MethodClassError, match=r"broken.py, line 1: "):
        code_of(OfficialMemory, options(tmp_path, checkout=str(tmp_path / "checkout")))


@pytest.mark.parametrize(
    ("query", "given"),
    [
        (lambda query, query_image=None: (query, query_image), ("t", "i")),
        (lambda query, **more: (query, more), ("t", {"query_image": "i"})),
        (lambda text, picture: (text, picture), ("t", "i")),
        (lambda text, *, other=None: (text, other), ("t", None)),
    ],
)
def test_query_is_called_as_its_signature_allows(query, given):
    assert official_program.ask(query, "t", "i") == given


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("text", "query returned str, not a list"),
        ([{"type": "audio", "value": "x"}], 'item 0 is not {"type": "text" or "image"'),
        ([{"type": "text", "value": " "}], "item 0 has no text in `value`"),
        ([{"type": "text", "value": "\ud800"}], "item 0 holds a lone surrogate"),
        ([{"type": "text", "value": "x"}, {"type": "image", "value": "no.png"}], "item 1: there is no image"),
        ([{"type": "image", "value": "/"}], "item 0: there is no image '/'"),
        ([{"type": "image", "value": "a\0"}], "item 0: there is no image"),
    ],
)
def test_a_context_of_another_form(context, message):
    with pytest.raises(official_program.UnfitError, match=re.escape(message)):
        official_program.checked(context)


class Surrogates:
    """A backend that gives half characters wherever it can."""

    def query(self, query, query_image=None):
        if query == "raise":
            raise ValueError("\ud800")
        return [{"type": "text", "value": "x"}]

    def post_query_hook(self):
        return {"seen": "a\udc80", "none": float("nan"), "set": {1}}


def test_half_characters_of_a_backend_end_before_they_reach_us():
    program = official_program.Program(None)
    program.memory = Surrogates()
    ask = {"n": 1, "do": "query", "handle": "h", "image": None}
    reply = program.reply_to({**ask, "text": "t"})
    assert reply["metadata"] == {"seen": "a?", "none": "NaN", "set": "{1}"}
    failed = program.reply_to({**ask, "text": "raise"})
    assert failed["error"].startswith(r"ValueError: \ud800")
    json.dumps(failed, ensure_ascii=False).encode()

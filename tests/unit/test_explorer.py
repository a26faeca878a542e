"""The explorer's data files: packing, contexts by reference, the matrix, warnings, pictures."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from dataset_factory import png
from explorer_data import Plan, make_site
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_data import make_trajectories
from stats_data import MODELS, fill

from lmev2.explorer.answers import found_phrases, notes_of, pack_trace
from lmev2.explorer.contexts import pack_items, split_text
from lmev2.explorer.dataset import gold_phrases, pack_haystacks
from lmev2.explorer.matrix import pack_matrix
from lmev2.explorer.packing import chunks, encode, joined, write_data
from lmev2.explorer.parts import ASSETS, SCRIPTS, site_digest
from lmev2.explorer.screenshots import Screenshots, Settings
from lmev2.explorer.summary import list_warnings
from lmev2.image import Image
from lmev2.memory.render import render_event, render_run, render_slice
from lmev2.report.captions import Source

PHRASES = "norm_phrase_set_match|lower=true|normalize_hyphen=true|strip_punct=true|separators=,;"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


def unpacked(path):
    """Name and value of a data file."""
    name, text = re.fullmatch(
        r'lmev2\.data\((".*"),"([A-Za-z0-9+/=]*)"\);\n', path.read_text("ascii")
    ).groups()
    return json.loads(name), json.loads(zlib.decompress(base64.b64decode(text)))


# -- packing -------------------------------------------------------------------------------------------


@given(JSON)
@settings(max_examples=50, deadline=None)
def test_a_data_file_is_one_harmless_call_whatever_is_in_it(tmp_path_factory, value):
    folder = tmp_path_factory.mktemp("data")
    write_data(folder, "a/b", {"text": value, "</script>": "<!--\u2028"})
    assert unpacked(folder / "b.js") == ("a/b", {"text": value, "</script>": "<!--\u2028"})


def test_half_a_surrogate_pair_is_replaced(tmp_path):
    write_data(tmp_path, "x", "\ud800")
    assert unpacked(tmp_path / "x.js")[1] == "?"


@given(st.lists(st.text(max_size=30), max_size=20), st.integers(1, 60))
@settings(max_examples=50, deadline=None)
def test_chunks_hold_every_record_once_in_order_and_are_bounded(texts, most):
    groups = list(chunks(((str(number), text) for number, text in enumerate(texts)), most))
    together = [pair for group in groups for pair in json.loads(joined(group)).items()]
    assert together == [(str(number), text) for number, text in enumerate(texts)]
    assert all(len(group) == 1 or sum(map(len, group.values())) <= most for group in groups)
    fits = [
        sum(map(len, one.values())) + len(encode(next(iter(json.loads(joined(other)).values()))))
        for one, other in pairwise(groups)
    ]
    assert all(size > most for size in fits)  # none smaller than it need be


# -- contexts ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trajectory(tmp_path_factory):
    trees = [
        f"RootWebArea 'Page {number}'\n" + "\t[1] button 'Go to the next page'\n" * 5 for number in range(3)
    ]
    trees.append(trees[1])  # the same page again
    return make_trajectories(tmp_path_factory.mktemp("t"), {"a": trees})["a"]


def put_together(pieces, trajectory):
    known = {
        "actions": "\n".join(trajectory.numbered_actions),
        **{state.index: state.tree for state in trajectory.states},
    }
    return "".join(piece if isinstance(piece, str) else known[piece[0]] for piece in pieces)


def test_rendered_items_shrink_to_references_and_come_back_whole(trajectory):
    event = {"pre_state": 0, "post_state": 1, "overview": "o", "transition": trajectory.states[1].tree}
    items = [*render_run(trajectory), *render_slice(trajectory, 1, 2, 3), *render_event(trajectory, event)]
    for item in items:
        if item.kind == "text":
            pieces = split_text(item.text, trajectory, item.first_state, item.last_state)
            assert put_together(pieces, trajectory) == item.text
            references = [piece[0] for piece in pieces if isinstance(piece, list)]
            literal = sum(len(piece) for piece in pieces if isinstance(piece, str))
            if item.source == "slices":
                assert set(references) - {"actions"} == {1, 2, 3}
                assert literal < len(item.text) / 2


@given(st.lists(st.sampled_from(["x", "Tree:\n", "tree0", "tree1", "tree2", "actions"]), max_size=8))
@settings(max_examples=60, deadline=None)
def test_pieces_are_the_text_whatever_it_quotes(trajectory, parts):
    known = {"actions": "\n".join(trajectory.numbered_actions)} | {
        f"tree{number}": trajectory.states[number].tree for number in range(3)
    }
    text = "".join(known.get(part, part) for part in parts)
    assert put_together(split_text(text, trajectory), trajectory) == text


def test_items_tell_what_was_cut_and_whose_screenshot_they_are(trajectory):
    blank = {
        "text": None,
        "image": None,
        "image_sha256": None,
        "source": "s",
        "trajectory_id": "a",
        "first_state": 1,
        "last_state": 2,
    }
    shot = trajectory.states[2].screenshot
    items = [
        {**blank, "kind": "image", "image": str(shot.path), "image_sha256": shot.sha256},
        {**blank, "kind": "image", "image": "other.png", "image_sha256": "0"},
        {**blank, "kind": "text", "text": "words", "trajectory_id": "unknown"},
    ]
    packed = pack_items(items, 2, {"a": trajectory})
    assert [item.get("image") for item in packed] == [2, "other.png", None]
    assert [item.get("cut", False) for item in packed] == [False, False, True]
    assert packed[2]["text"] == ["words"]


# -- answers and labels --------------------------------------------------------------------------------


def test_a_rule_says_which_phrases_are_missing():
    question = {"eval_function": PHRASES, "answer": "Gate-code; Depot card"}
    assert gold_phrases(question) == ["Gate-code", "Depot card"]
    assert found_phrases(question, "the gate code") == [["Gate-code", True], ["Depot card", False]]
    assert found_phrases(question, None) == [["Gate-code", False], ["Depot card", False]]
    assert gold_phrases({"eval_function": "mc_choice_match", "answer": "B"}) == []
    assert gold_phrases({"eval_function": PHRASES.replace(",;", ""), "answer": "a, b"}) == ["a, b"]


@pytest.mark.parametrize("output", ["", "[1]", "{", '{"memory_markdown": 3}', "[" * 9999])
def test_an_output_without_notes_has_none(output):
    assert notes_of(output) == {"notes": "", "output": output}


def test_a_trace_that_nobody_knows_is_kept_as_it_is():
    assert json.loads(pack_trace({"mine": {"a": 1}}, {})["more"]) == {"mine": {"a": 1}}
    assert pack_trace({"post_query": None}, {}) == {}  # of an imported run that had none
    packed = pack_trace({"hits": {"slices": [["gone", 0.5]]}}, {})
    assert packed["hits"]["slices"][0]["score"] == 0.5
    assert "more" not in packed


def test_equal_haystacks_are_one_list():
    rows = [
        {"question_id": question, "position": position, "trajectory_id": id_}
        for question, ids in (("q", "ab"), ("r", "ab"), ("s", "ba"))
        for position, id_ in enumerate(ids)
    ]
    packed = pack_haystacks(rows[::-1], {"a": 7, "b": 8})
    lists = {question: packed["lists"][number] for question, number in packed["of"].items()}
    assert lists == {"q": [7, 8], "r": [7, 8], "s": [8, 7]}
    assert len(packed["lists"]) == 2


def test_the_matrix_has_a_character_for_each_outcome():
    def row(question, score=0, status="ok", unknown=False, repeat=0):
        return fill(
            "scores",
            question_id=question,
            method="m",
            score=score,
            status=status,
            is_unknown=unknown,
            repeat=repeat,
            latency_s=float(repeat),
        )

    rows = [
        row("a", 1),
        row("b"),
        row("c", unknown=True),
        row("d", status="agent_failed"),
        row("a", repeat=1),
    ]
    ranks = [fill("retrieval", question_id="b", method="m", rank_trajectory=3, rank_state=None)]
    cell = pack_matrix(["a", "b", "c", "d", "e"], rows, ranks)["m"]["small"]
    assert cell["codes"] == ["10ue-", "0----"]
    assert cell["latency"] == [0.5, 0.0, 0.0, 0.0, None]
    assert cell["trajectory"] == [None, 3, None, None, None]


# -- summary -------------------------------------------------------------------------------------------


def meta(stage, params=None, git=None, **counts):
    return {"stage": stage, "params": params or {}, "counts": {"rows": 9, **counts}, "git": git or {}}


def test_every_warning_that_matters_is_given():
    query = {"method": {"id": "m", "operating_point": "low"}, "leaderboard_safe": False}
    metas = [
        meta(
            "ingest_dataset",
            missing_screenshots={"damaged": 2, "null": 1},
            git={"commit": "a", "dirty": True},
        ),
        meta("write_notes", status={"ok": 7, "template": 2}, git={"commit": "b"}),
        meta("query_memory", query, controller={"fallback": 3}, missing_screenshots=4),
        meta("read_answers", truncated=5),
    ]
    scores = [
        fill("scores", question_id="q", method="m", operating_point="low", status="agent_failed"),
        fill("scores", question_id="r", method="m", operating_point="low"),
    ]
    found = list_warnings(Source("d", MODELS), scores, metas, {"m@low": "M (low)"}, {"m@low": 3})
    texts = {warning.title: warning.text for warning in found}
    assert "M (low), small: 1 agent_failed" in texts["Errors, scored 0"]
    assert "2 of 3" in texts["Not all questions were answered"]
    assert texts["Templates for notes"].startswith("2 of 9")
    assert texts["Missing screenshots"].startswith("3 ")
    assert "4 screenshots" in texts["Contexts without screenshots"]
    assert "M (low): 3 of 9" in texts["Controller fallbacks"]
    assert texts["Truncated contexts"].startswith("5 ")
    assert "M (low)" in texts["Not leaderboard-safe"]
    assert {"Embedded models", "Several commits", "Uncommitted code"} <= texts.keys()
    assert [warning.grave for warning in found] == sorted((warning.grave for warning in found), reverse=True)


def test_a_clean_run_has_no_warning():
    models = {"reader": {"provider": "openai", "model": "m"}}
    scores = [fill("scores", question_id="q", method="m")]
    metas = [
        meta("ingest_dataset", missing_screenshots={}),
        meta("query_memory", {"method": {"id": "m", "operating_point": ""}}),
    ]
    assert list_warnings(Source("d", models, released=True), scores, metas, {"m": "M"}, {"m": 1}) == []


# -- pictures ------------------------------------------------------------------------------------------


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "data set" / "a #1.PNG"
    path.parent.mkdir()
    path.write_bytes(png(9, (100, 50)))
    return Image(path, "f" * 64, 100, 50)


def test_pictures_are_linked_copied_or_made_small(tmp_path, image):
    site = tmp_path / "out" / "site"

    def made(*how):
        screenshots = Screenshots(site, Settings(*how))
        folder = tmp_path / "-".join(map(str, how))
        return (
            screenshots.addresses(image),
            screenshots.write([image, image], folder),
            sorted(path.name for path in folder.iterdir()),
        )

    own = f"{'f' * 64}"
    assert made("link", 40, False) == (
        {"small": "../../data%20set/a%20%231.PNG", "full": "../../data%20set/a%20%231.PNG"},
        0,
        [],
    )
    assert made("link", 40, True) == (
        {"small": f"pictures/{own}.png", "full": f"pictures/{own}.png"},
        1,
        [f"{own}.png"],
    )
    assert made("thumbnails", 40, True) == ({"small": f"pictures/{own}.webp"}, 1, [f"{own}.webp"])
    assert made("thumbnails", 40, False)[0]["full"].startswith("../../data%20set/")


# -- the whole -----------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """The tags of a page with the names of their attributes."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, [name for name, _ in attrs]))


def test_the_page_names_files_that_are_there_and_escapes_what_it_is_given(tmp_path):
    page = make_site(
        tmp_path, Plan(text=lambda kind: f"{kind} <img src=x onerror=a()>&{{{{7*7}}}}", questions=2)
    )
    html = page.read_text(encoding="utf-8")
    assert "<img src=x" not in html
    assert "&lt;img src=x onerror=a()&gt;&amp;{{7*7}}" in html
    linked = re.findall(r'(?:src|href)="([^#"][^"]*)"', html)
    assert {f"assets/{name}" for name in SCRIPTS} < set(linked)
    assert all((page.parent / name).is_file() for name in linked)
    parser = Tags()
    parser.feed(html)
    assert not [
        name for _, names in parser.found for name in names if name.startswith("on") or name == "style"
    ]
    assert not [
        tag for tag, names in parser.found if tag == "style" or (tag == "script" and "src" not in names)
    ]
    names = [unpacked(path)[0] for path in page.parent.glob("data/**/*.js")]
    assert {
        f"{path.relative_to(page.parent / 'data').with_suffix('')}"
        for path in page.parent.glob("data/**/*.js")
    } == set(names)


def test_every_script_of_the_explorer_is_loaded_and_none_reads_html():
    assert {path.name for path in ASSETS.glob("*.js")} == {*SCRIPTS, "theme.js"}
    for path in ASSETS.glob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|srcdoc", path.read_text()
        )


def test_an_edited_script_changes_the_sites_digest(monkeypatch, tmp_path):
    before = site_digest()
    for name in ("assets", "templates"):
        folder = tmp_path / name
        folder.mkdir()
        for path in (ASSETS.parent / name).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr("lmev2.explorer.parts.ASSETS", tmp_path / "assets")
    monkeypatch.setattr("lmev2.explorer.parts.TEMPLATES", tmp_path / "templates")
    assert site_digest() == before
    with Path(tmp_path / "assets/main.js").open("a") as file:
        file.write("//")
    assert site_digest() != before

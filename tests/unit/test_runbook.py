"""AgentRunbook-R: what the controller sees, what is searched, what the context shows."""

import asyncio
import json
from contextlib import nullcontext

import numpy as np
import pytest
from memory_data import make_trajectories, slice_entry, write_pool

from lmev2.image import Image
from lmev2.insert.embedding import embed_entries
from lmev2.llm.reply import Reply
from lmev2.memory.protocol import Question
from lmev2.memory.runbook import POOLS, AgentRunbookR
from lmev2.memory.summary import evenly_spaced, memory_summary
from lmev2.memory.view import HaystackView, Pool
from lmev2.prompts import Prompts, prompt_params
from lmev2.records import Status
from lmev2.store import write_parquet, write_table

TREES = {
    "a": ["RootWebArea 'Shelf'\n\tStaticText 'a0'", "RootWebArea 'Shelf'\n\tStaticText 'a1'", ""],
    "b": ["RootWebArea 'Desk'\n\tStaticText 'b0'", "RootWebArea 'Shelf'\n\tStaticText 'b1'"],
    "lone": ["RootWebArea 'Lager 倉庫'\n\tStaticText 'lone0'"],
}
QUESTION = Question("handle", "What is on the shelf? Mark your final answer as one word.", None)
FULL = {"raw_state_queries": ["a0", "b1"], "event_query": "a0-1", "note_query": "b"}


AXES: dict[str, int] = {}


def vector_of(text):
    """A text as a vector: one axis a word, so that a query finds what shares its words."""
    vector = np.zeros(64, np.float32)
    for word in text.split():
        vector[AXES.setdefault(word, len(AXES))] += 1
    return vector / np.linalg.norm(vector)


class FakeServices:
    """Scripted controller replies; keeps what it was asked and traced."""

    timed = staticmethod(lambda part: nullcontext())

    def __init__(self, *replies, unknown=()):
        self.replies, self.asked, self.traced, self.unknown = list(replies), [], {}, unknown
        self.embedded = []
        self.prompts = Prompts(prompt_params(("controller.",), {}))

    async def chat(self, messages, *, ask=0, sampling=None):
        self.asked.append((messages, sampling))
        given = self.replies[len(self.asked) - 1]
        text, status = ("", given) if isinstance(given, Status) else (given, Status.OK)
        return Reply(text, "", "stop", status, "m", "r", 1, 1, 9, 3, 0.5, 1.0, 0.0, 0.0)

    async def embed_queries(self, texts):
        self.embedded += texts
        return [None if text in self.unknown else vector_of(text) for text in texts]

    def trace(self, **values):
        json.dumps(values)
        self.traced.update(values)


def note(trajectory, kind):
    return {
        "entry_id": f"{trajectory}/{kind}",
        "trajectory_id": trajectory,
        "kind": kind,
        "title": f"{kind} of {trajectory}",
        "description": "",
        "content": "- x",
        "digest": f"{trajectory}/{kind}",
    }


def event(trajectory, post):
    place = f"{trajectory}/{post - 1}-{post}"
    return {
        "entry_id": place,
        "trajectory_id": trajectory,
        "pre_state": post - 1,
        "post_state": post,
        "overview": f"overview {place}",
        "transition": f"transition {place}",
        "digest": place,
    }


def make_view(folder, haystack=("a", "b", "lone"), *, screenshots=True):
    trajectories = make_trajectories(folder, TREES, screenshots=screenshots)
    entries = {
        "slices": [
            slice_entry(t, i, len(trees) - 1) for t, trees in TREES.items() for i in range(len(trees))
        ],
        "events": [event(t, post) for t, trees in TREES.items() for post in range(1, len(trees))],
        "notes": [note(t, kind) for t in TREES for kind in ("procedure", "hint")],
    }
    texts = {
        "slices": [
            TREES[entry["trajectory_id"]][entry["centre_state"]][-3:-1] for entry in entries["slices"]
        ],
        "events": [entry["entry_id"].replace("/", "") for entry in entries["events"]],
        "notes": [entry["trajectory_id"] for entry in entries["notes"]],
    }
    pools = {}
    for name, rows in entries.items():
        vectors = np.stack([vector_of(text or "nothing") for text in texts[name]])
        lists = [[row] if text else [] for row, text in enumerate(texts[name])]
        pools[name] = Pool(*write_pool(folder, name, rows, lists, vectors), best=5)
    return HaystackView(haystack, trajectories, pools)


@pytest.fixture
def view(tmp_path):
    return make_view(tmp_path)


def ask(view, *replies, question=QUESTION, unknown=(), **options):
    services = FakeServices(*(json.dumps(r) if isinstance(r, dict) else r for r in replies), unknown=unknown)
    memory = AgentRunbookR(options, services)
    memory.attach(view)
    return asyncio.run(memory.query(question)), services


def hits(services, pool):
    return [entry for entry, _ in services.traced["hits"].get(pool, ())]


# -- the controller ----------------------------------------------------------------------------------


def test_the_summary_is_of_the_questions_own_haystack(tmp_path):
    view = make_view(tmp_path, ("b", "lone"))
    assert memory_summary(view, POOLS) == (
        "Trajectories: 2\nState slices: 3\nEvents: 1\nProcedure notes: 2\nHint notes: 2\n"
        "Goals of some runs:\n- goal of b\n- goal of lone\n"
        "Most common page titles (states):\n- Desk (1)\n- Shelf (1)\n- Lager 倉庫 (1)\n"
        "Titles of some procedure notes:\n- procedure of b\n- procedure of lone\n"
        "Titles of some hint notes:\n- hint of b\n- hint of lone"
    )


def test_samples_are_evenly_spaced_and_hold_both_ends():
    assert evenly_spaced(range(100), 6) == [0, 20, 40, 59, 79, 99]
    assert evenly_spaced("abc", 6) == ["a", "b", "c"]
    assert evenly_spaced([], 4) == []


def test_the_controller_sees_summary_question_and_image_and_nothing_else(view):
    image = Image("x.png", "sha", 4, 4)
    _, services = ask(view, FULL, question=Question("handle", "Was ist 倉庫?", image))
    (messages, sampling) = services.asked[0]
    first, picture, task = messages[1]["content"]
    assert first["text"].startswith("<memory>\nTrajectories: 3\n")
    assert first["text"].endswith("</memory>\n\n<question>\nWas ist 倉庫?\n</question>")
    assert picture["sha256"] == "sha"
    assert task["text"].endswith('{"raw_state_queries": ["..."], "event_query": "...", "note_query": "..."}')
    assert "handle" not in str(messages)
    assert sampling is None  # the role's own, thinking included


@pytest.mark.parametrize(
    ("replies", "outcome", "queries"),
    [
        ([FULL], "parsed", ["a0", "b1"]),
        ([f"Sure!\n```json\n{json.dumps(FULL)}\n```"], "parsed", ["a0", "b1"]),
        ([{**FULL, "raw_state_queries": ["a0", "A0", 3, "b1", "c", "d", "e", "f"]}], "parsed", None),
        (["I would search the shelf.", FULL], "repaired", ["a0", "b1"]),
        ([Status.EMPTY_REPLY, FULL], "repaired", ["a0", "b1"]),
        (["nothing", "still nothing"], "fallback", ["What is on the shelf?"]),
        ([Status.CONTEXT_OVERFLOW], "fallback", ["What is on the shelf?"]),
        ([{"raw_state_queries": [], "event_query": "", "note_query": ""}] * 2, "fallback", None),
    ],
)
def test_a_reply_is_parsed_repaired_or_replaced_and_the_trace_says_which(view, replies, outcome, queries):
    _, services = ask(view, *replies, strip_answer_format=True)
    assert services.traced["controller"] == outcome
    assert len(services.asked) == len(replies)
    if queries:
        assert services.traced["bundle"]["raw_state_queries"] == queries
    if len(replies) == 2:
        assert services.asked[1][1] == {"thinking": False}


def test_the_fallback_asks_the_question_itself_of_the_slices_alone(view):
    _, services = ask(view, "no", "no")
    assert services.traced["bundle"] == {
        "raw_state_queries": [QUESTION.text],
        "event_query": "",
        "note_query": "",
    }
    _, services = ask(view, "no", "no", pools=["events", "notes"])
    assert services.traced["bundle"] == {
        "raw_state_queries": [],
        "event_query": QUESTION.text,
        "note_query": QUESTION.text,
    }


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, {"controller": 2, "embedding": 7}),
        ({"slice_queries": 3, "pools": ["slices", "notes"]}, {"controller": 2, "embedding": 4}),
        ({"pools": ["events", "notes"]}, {"controller": 2, "embedding": 2}),
    ],
)
def test_a_query_makes_no_more_calls_than_it_says(view, options, most):
    assert AgentRunbookR.most_calls(options) == most
    greedy = {"raw_state_queries": list("abcdefgh"), "event_query": "i", "note_query": "j"}
    _, services = ask(view, "no", greedy, **options)
    assert len(services.asked) == most["controller"]
    assert len(services.embedded) == most["embedding"]


# -- search and context ------------------------------------------------------------------------------


def test_notes_come_first_then_events_then_slices_each_best_first(view):
    items, services = ask(view, FULL)
    order = [(item.source, item.kind, item.trajectory_id, item.first_state) for item in items]
    assert order[:5] == [
        ("notes", "text", None, None),
        ("events", "text", None, None),
        ("events", "text", "a", 0),
        ("events", "image", "a", 0),
        ("events", "image", "a", 1),
    ]
    # a's last state has no tree, so its slice has no vector and is never found.
    assert hits(services, "slices") == ["a/0", "a/1", "b/0", "b/1", "lone/0"]
    assert items[0].text.index("procedure of b") < items[0].text.index("hint of b")
    assert [item.kind for item in items if item.source == "slices"] == ["text"] + 5 * ["text", "image"]
    assert "overview a/0-1" in items[2].text and "Action: click('1')" in items[2].text
    assert services.traced["missing_screenshots"] == 0


def test_an_empty_query_skips_its_pool(view):
    items, services = ask(view, {"raw_state_queries": ["a0"], "event_query": "", "note_query": ""})
    assert {item.source for item in items} == {"slices"}
    assert services.traced["hits"].keys() == {"slices"}


def test_a_query_without_vector_finds_nothing_and_is_named(view):
    items, services = ask(view, FULL, unknown=("b1", "b"))
    assert services.traced["queries_without_vector"] == ["b1", "b"]
    assert {item.source for item in items} == {"events", "slices"}
    items, _ = ask(view, "no", "no", unknown=(QUESTION.text,))
    assert items == []


def test_missing_screenshots_are_skipped_and_counted(tmp_path):
    items, services = ask(make_view(tmp_path, screenshots=False), FULL)
    assert {item.kind for item in items} == {"text"}
    assert services.traced["missing_screenshots"] == 2 * 3 + 5


def test_merge_rule_by_option(view):
    two = {"raw_state_queries": ["a0", "lone0"]}
    assert len(hits(ask(view, two, merge="code")[1], "slices")) == 5
    assert len(hits(ask(view, two, merge="paper")[1], "slices")) == 4


def test_the_trace_tells_what_each_slice_query_found(view):
    _, services = ask(view, {"raw_state_queries": ["a0", "lone0"]}, merge="code")
    found = services.traced["slice_hits"]
    assert list(found) == ["a0", "lone0"]
    assert all(hits == sorted(hits, key=lambda hit: -hit[1]) for hits in found.values())
    kept = hits(services, "slices")
    assert kept[:3] == [entry for entry, _ in found["a0"]][:3]
    assert set(kept) <= {entry for found_hits in found.values() for entry, _ in found_hits}


def test_a_haystack_of_runs_of_one_state_has_no_events(tmp_path):
    items, services = ask(make_view(tmp_path, ("lone",)), FULL)
    assert hits(services, "events") == []
    assert {item.source for item in items} == {"notes", "slices"}


def test_a_pool_without_a_single_entry_is_searched_all_the_same(tmp_path):
    view = make_view(tmp_path, ("lone",))
    rows, vectors = asyncio.run(embed_entries(None, iter(()), 8, lambda done: None))
    paths = [tmp_path / f"none{suffix}.parquet" for suffix in ("", ".embeddings", ".vectors")]
    write_table("events", [], paths[0])
    write_table("embeddings", rows, paths[1])
    write_parquet(vectors, paths[2])
    view._pools["events"] = Pool(*paths, best=5)
    items, services = ask(view, FULL)
    assert hits(services, "events") == []
    assert "Events: 0" in services.asked[0][0][1]["content"][0]["text"]
    assert {item.source for item in items} == {"notes", "slices"}


# -- ablations ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", POOLS)
def test_an_ablated_pool_is_in_no_prompt_no_search_and_no_context(view, absent):
    kept = [pool for pool in POOLS if pool != absent]
    full, _ = ask(view, FULL)
    items, services = ask(view, FULL, pools=kept)
    assert items == [item for item in full if item.source != absent]
    words = {"slices": "slice", "events": "event", "notes": "note"}
    prompt = str(services.asked[0][0]).lower()
    assert words[absent] not in prompt.replace("notebook", "")
    assert all(words[pool] in prompt for pool in kept)
    needs = AgentRunbookR.needs({"pools": kept})
    assert needs["pools"] == tuple(kept)
    assert f"controller.{absent}" not in needs["prompts"]


def test_an_ablated_pool_need_not_exist(tmp_path):
    view = make_view(tmp_path)
    view._pools = {"slices": view._pools["slices"]}
    items, _ = ask(view, FULL, pools=["slices"])
    assert {item.source for item in items} == {"slices"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pools": []}, "pools must be"),
        ({"pools": ["slice"]}, "pools must be"),
        ({"merge": "x"}, "merge must be"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        AgentRunbookR.needs(options)

import asyncio
import json

import pytest
from memory_data import make_trajectories

from lmev2.image import Image
from lmev2.journal import Journal, JournalMissError
from lmev2.llm.faults import TransientError
from lmev2.llm.meter import METER
from lmev2.llm.reply import Reply
from lmev2.memory.protocol import Item, Question
from lmev2.query import Method, Runner, haystacks_of, question_of
from lmev2.records import SCHEMAS, Status
from lmev2.rows import ItemsFailedError

QUESTIONS = {id_: Question(f"handle-{id_}", f"text of {id_}", None) for id_ in ("q1", "q2", "q3")}
HAYSTACKS = {"q1": ("a", "b"), "q2": ("a", "b"), "q3": ("b", "a")}


class Recorder:
    """Remembers what it was given; answers with what it has inserted."""

    built = 0

    def __init__(self, options, services):
        type(self).built += 1
        self.options, self.inserted = options, []

    def insert(self, trajectory):
        self.inserted.append(trajectory.id)

    def query(self, question):
        if question.text == self.options.get("fails"):
            raise KeyError("no such thing")
        return [Item("text", text=f"{question.text}: {' '.join(self.inserted)}")]


class Attached:
    pools = ()

    def __init__(self, options, services):
        self.services = services

    def attach(self, view):
        self.view = view

    async def query(self, question):
        return [Item("text", text=" ".join(self.view.trajectory_ids))]


def ask(
    tmp_path,
    cls=Recorder,
    *,
    options=None,
    code="1",
    repeats=1,
    again=(),
    concurrency=1,
    replay=False,
    trees=None,
):
    trajectories = make_trajectories(tmp_path, trees or {"a": ["tree a"], "b": ["tree b"]})
    method = Method(
        cls, options or {}, {"class": cls.__name__, "code": code, "options": options or {}}, (), concurrency
    )
    journal = Journal(tmp_path / "journal", replay=replay)
    runner = Runner(method, trajectories, {}, lambda repeat: None, journal, again)
    rows = asyncio.run(runner.run(QUESTIONS, HAYSTACKS, repeats, lambda: None))
    journal.close()
    return rows, runner.made


def texts(rows):
    return [row["items"][0]["text"] for row in rows]


def test_a_memory_is_built_once_per_distinct_haystack_and_inserted_in_order(tmp_path):
    Recorder.built = 0
    rows, made = ask(tmp_path)
    assert texts(rows) == ["text of q1: a b", "text of q2: a b", "text of q3: b a"]
    assert Recorder.built == 2
    assert made == 3


def test_rows_have_the_columns_of_the_schema(tmp_path):
    rows, _ = ask(tmp_path)
    arm = {"method", "operating_point", "tier"}
    assert all(row.keys() | arm == set(SCHEMAS["query"].names) for row in rows)
    assert all(row["status"] == Status.OK and row["latency_s"] >= 0 and row["in_flight"] == 1 for row in rows)


def test_finished_queries_are_not_asked_again_nor_their_memory_built(tmp_path):
    first, _ = ask(tmp_path)
    Recorder.built = 0
    second, made = ask(tmp_path)
    assert second == first  # latencies too
    assert made == Recorder.built == 0


@pytest.mark.parametrize(
    "change", [{"code": "2"}, {"options": {"x": 1}}, {"trees": {"a": ["other"], "b": ["tree b"]}}]
)
def test_whatever_a_query_reads_is_in_its_key(tmp_path, change):
    ask(tmp_path)
    _, made = ask(tmp_path, **change)
    assert made == 3


def test_repeats_are_queries_of_their_own(tmp_path):
    rows, made = ask(tmp_path, repeats=2)
    assert made == 6
    assert [(row["question_id"], row["repeat"]) for row in rows] == [
        (q, r) for q in QUESTIONS for r in (0, 1)
    ]


def test_a_failing_query_is_a_row_with_a_status(tmp_path):
    rows, _ = ask(tmp_path, options={"fails": "text of q2"})
    assert [row["status"] for row in rows] == ["ok", "query_failed", "ok"]
    assert rows[1]["error"] == "KeyError: 'no such thing'"
    assert rows[1]["items"] == []
    _, made = ask(tmp_path, options={"fails": "text of q2"}, again=("query_failed",))
    assert made == 1


class Wrong(Recorder):
    def query(self, question):
        return "just a text"


def test_a_wrong_return_value_is_named(tmp_path):
    rows, _ = ask(tmp_path, Wrong)
    assert {row["error"] for row in rows} == {
        "TypeError: `query` must return a list of Item, not 'just a text'"
    }


def test_a_memory_without_insert_gets_the_view(tmp_path):
    rows, _ = ask(tmp_path, Attached)
    assert texts(rows) == ["a b", "a b", "b a"]


def test_a_replay_that_misses_is_an_error_not_a_failed_row(tmp_path):
    with pytest.raises(JournalMissError):
        ask(tmp_path, replay=True)


class Calling(Recorder):
    """Books a recorded model call of 7 s with 3 s of waiting."""

    def query(self, question):
        numbers = {"calls": 1, "attempts": 2, "input_tokens": 10, "output_tokens": 5, "cost": 0.5}
        times = {"latency_s": 7.0, "queue_wait_s": 1.0, "retry_wait_s": 2.0}
        reply = Reply("text", "", "stop", Status.OK, model="m", request="r", **numbers, **times)
        METER.get().chat(reply, elapsed=0.0)
        METER.get().trace["found"] = ["é"]
        with METER.get().part("search_s"):
            pass
        return []


def test_recorded_calls_count_with_their_own_latency_and_waits_apart(tmp_path):
    rows, _ = ask(tmp_path, Calling)
    row = rows[0]
    assert 7.0 <= row["latency_s"] < 7.5
    assert row["model_s"] == 7.0
    assert (row["queue_wait_s"], row["retry_wait_s"]) == (1.0, 2.0)
    assert (row["calls"], row["attempts"], row["input_tokens"], row["cost"]) == (1, 2, 10, 0.5)
    parts = ("model_s", "embed_s", "search_s", "render_s", "other_s")
    assert sum(row[part] for part in parts) == pytest.approx(row["latency_s"])
    assert json.loads(row["trace"]) == {"found": ["é"]}


class Slow(Recorder):
    async def query(self, question):
        await asyncio.sleep(0.02)
        return []


def test_queries_run_beside_each_other_only_as_the_method_says(tmp_path):
    alone, _ = ask(tmp_path / "one", Slow)
    assert [row["in_flight"] for row in alone] == [1, 1, 1]
    together, _ = ask(tmp_path / "two", Slow, concurrency=3)
    assert max(row["in_flight"] for row in together) == 3  # whether they share a haystack or not


def test_a_question_shows_text_and_image_only(tmp_path):
    from PIL import Image as Picture

    Picture.new("RGB", (4, 3)).save(tmp_path / "p.png")
    row = {"question_id": "secret", "text": "t", "image": str(tmp_path / "p.png"), "image_sha256": "abc"}
    question = question_of(row)
    assert question.image == Image(tmp_path / "p.png", "abc", 4, 3)
    assert vars(question).keys() == {"handle", "text", "image"}
    assert question.handle == question_of({**row, "question_id": "other"}).handle
    assert question.handle != question_of({**row, "text": "u"}).handle
    assert "secret" not in repr(question)


def test_haystacks_keep_their_order():
    rows = [
        {"question_id": "q", "position": p, "trajectory_id": t} for p, t in ((2, "c"), (0, "a"), (1, "b"))
    ]
    assert haystacks_of(rows) == {"q": ("a", "b", "c")}


@pytest.mark.parametrize(
    "wrong", [{"kind": "text"}, {"kind": "image", "text": "x"}, {"kind": "audio", "text": "x"}]
)
def test_an_item_is_a_text_or_an_image(wrong):
    with pytest.raises(ValueError, match="an item is a text"):
        Item(**wrong)


def test_a_call_that_came_to_nothing_is_no_outcome_of_the_query(tmp_path):
    class Calling(Recorder):
        down = True

        def query(self, question):
            if self.down and question.text == "text of q1":
                raise TransientError("busy")
            return super().query(question)

    with pytest.raises(ItemsFailedError, match=r"1 of 3 items failed.*\n.*busy"):
        ask(tmp_path, Calling)
    Calling.down, Calling.built = False, 0
    rows, made = ask(tmp_path, Calling)
    assert made == 1  # the others, also those of later haystacks, were kept
    assert [row["status"] for row in rows] == ["ok"] * 3

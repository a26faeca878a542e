"""What a memory method may do wrong while it runs, and what follows."""

import asyncio

import pytest
from memory_data import make_trajectories

from lmev2.errors import UndeclaredError, describe
from lmev2.journal import Journal
from lmev2.llm.meter import metered
from lmev2.memory.protocol import Item, Question
from lmev2.memory.services import Services
from lmev2.query import MemoryBuildError, Method, Runner

QUESTIONS = {id_: Question(id_, f"text of {id_}", None) for id_ in ("q1", "q2")}


class NoModels:
    """A door that no role goes through."""

    models = ()


class Plain:
    def __init__(self, options, services):
        self.services = services

    def insert(self, trajectory):
        pass

    def query(self, question):
        return [Item("text", text="found")]


def ask(tmp_path, cls):
    runner = Runner(
        Method(cls, {}, {"class": cls.__name__}),
        make_trajectories(tmp_path, {"a": ["tree a"], "b": ["tree b"]}),
        {},
        lambda repeat: Services(NoModels(), None, repeat=repeat),
        Journal(tmp_path / "journal"),
    )
    haystacks = dict.fromkeys(QUESTIONS, ("a", "b"))
    return asyncio.run(runner.run(QUESTIONS, haystacks, 1, lambda: None))


def test_an_error_in_the_constructor_names_the_class(tmp_path):
    class Wrong(Plain):
        def __init__(self, options):
            pass

    with pytest.raises(MemoryBuildError, match=r"Wrong: making the memory: TypeError: .*positional argument"):
        ask(tmp_path, Wrong)


def test_an_error_in_insert_names_the_trajectory_and_the_line(tmp_path):
    class Wrong(Plain):
        def insert(self, trajectory):
            if trajectory.id == "b":
                raise ValueError("too long")

    with pytest.raises(MemoryBuildError) as caught:
        ask(tmp_path, Wrong)
    assert str(caught.value).startswith("Wrong: inserting trajectory b: ValueError: too long (")
    assert f"{__file__}, line " in str(caught.value)


def test_an_error_in_attach_is_named(tmp_path):
    class Wrong(Plain):
        def attach(self, view):
            return view.trajectory("c")

    with pytest.raises(MemoryBuildError, match="Wrong: attaching the haystack: KeyError"):
        ask(tmp_path, Wrong)


def test_insert_and_attach_may_be_async(tmp_path):
    class Async(Plain):
        async def insert(self, trajectory):
            await asyncio.sleep(0)
            self.last = trajectory.id

        async def attach(self, view):
            await asyncio.sleep(0)
            self.view = view

        async def query(self, question):
            return [Item("text", text=f"{self.last} of {' '.join(self.view.trajectory_ids)}")]

    assert [row["items"][0]["text"] for row in ask(tmp_path, Async)] == ["b of a b"] * 2


def test_a_model_that_the_class_does_not_name_stops_the_run(tmp_path):
    class Wrong(Plain):
        async def query(self, question):
            return await self.services.chat([{"role": "user", "content": "hello"}])

    with pytest.raises(UndeclaredError, match="asks the model 'controller', which its class does not name"):
        ask(tmp_path, Wrong)


def test_a_pool_that_the_class_does_not_name_stops_the_run(tmp_path):
    class Wrong(Plain):
        def attach(self, view):
            self.pool = view.pool("slices")

    with pytest.raises(UndeclaredError, match="reads the pool 'slices', which its class does not name"):
        ask(tmp_path, Wrong)


def test_a_trace_that_cannot_be_kept_is_the_fault_of_its_query(tmp_path):
    class Wrong(Plain):
        def query(self, question):
            self.services.trace(found={question})
            return []

    rows = ask(tmp_path, Wrong)
    assert {row["status"] for row in rows} == {"query_failed"}
    assert "not JSON serializable" in rows[0]["error"]


def test_a_trace_is_kept():
    with metered() as meter:
        Services.trace(found=[1, "a"])
    assert meter.trace == {"found": [1, "a"]}


def test_an_error_is_described_in_one_line():
    try:
        raise ValueError("no good")
    except ValueError as error:
        text = describe(error)
    assert text.startswith(f"ValueError: no good ({__file__}, line ")
    assert describe(ValueError("never raised")) == "ValueError: never raised"

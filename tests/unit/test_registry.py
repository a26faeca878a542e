import sys

import pytest

from lmev2.insert.embedding import DOCUMENTS
from lmev2.memory.no_retrieval import NoRetrieval
from lmev2.memory.rag import RagSlices, RagSlicesNotes
from lmev2.memory.registry import (
    POOLS,
    MethodClassError,
    file_of_class,
    memory_class,
    needs_of,
    options_of,
)

MEMORY = """
class Memory:
    def __init__(self, options, services): pass
    def insert(self, trajectory): pass
    def query(self, question): return []
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to import from; what the test imports is forgotten afterwards."""
    before, path = set(sys.modules), list(sys.path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def fault(reference):
    with pytest.raises(MethodClassError) as caught:
        memory_class(reference)
    return str(caught.value)


def test_a_class_of_a_file_and_of_a_package(folder, monkeypatch):
    (folder / "mine.py").write_text(MEMORY)
    assert memory_class("mine.py:Memory").__name__ == "Memory"
    assert memory_class(f"{folder}/mine.py:Memory") is memory_class("mine.py:Memory")
    (folder / "package_of_mine").mkdir()
    (folder / "package_of_mine" / "module.py").write_text(MEMORY)
    monkeypatch.syspath_prepend(str(folder))
    assert memory_class("package_of_mine.module:Memory").__module__ == "package_of_mine.module"
    assert file_of_class("package_of_mine.module:Memory") == folder / "package_of_mine" / "module.py"
    assert memory_class("lmev2.memory.rag:RagSlices") is RagSlices


def test_a_file_may_import_what_lies_beside_it_and_nothing_from_beside_another(folder):
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "beside.py").write_text(f"NAME = {name!r}")
        (folder / name / "mine.py").write_text(f"from beside import NAME\n{MEMORY}    name = NAME\n")
    assert [memory_class(f"{name}/mine.py:Memory").name for name in ("one", "two")] == ["one", "two"]


def test_a_file_does_not_take_the_place_of_another_module(folder):
    (folder / "random.py").write_text(MEMORY)
    memory_class("random.py:Memory")
    import random

    assert not hasattr(random, "Memory")


@pytest.mark.parametrize("reference", ["Memory", "mine.py", "mine.py:", ":Memory", "a b:Memory", ".a:Memory"])
def test_a_reference_of_no_known_form(folder, reference):
    assert "is not of the form 'package.module:Name' or 'path/to/file.py:Name'" in fault(reference)


def test_what_is_not_there_is_named(folder):
    (folder / "mine.py").write_text(MEMORY)
    assert f"there is no file {folder}/other.py" in fault("other.py:Memory")
    assert "mine.py has no class 'Memori'; did you mean 'Memory'?" in fault("mine.py:Memori")
    assert "no module 'no_such_package.x' is installed here" in fault("no_such_package.x:Memory")
    assert "no module 'lmev2.memory.rags' is installed here" in fault("lmev2.memory.rags:RagSlices")
    assert "'sys' is not a module of Python source" in fault("sys:Memory")


def test_something_else_than_a_memory_class(folder):
    (folder / "mine.py").write_text("Memory = 3\nclass Half:\n    def insert(self, trajectory): pass\n")
    assert "has no class 'Memory'" in fault("mine.py:Memory")
    assert "needs `query` and either `insert` or `attach`: see docs/adding-a-method.md" in fault(
        "mine.py:Half"
    )


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (
            "import os\nimport no_such_module\n",
            "ModuleNotFoundError: No module named 'no_such_module' (FILE, line 2)",
        ),
        ("\n\n1 / 0\n", "ZeroDivisionError: division by zero (FILE, line 3)"),
        ("class Memory:\n  def query(self:\n", "SyntaxError: '(' was never closed (broken.py, line 2)"),
    ],
)
def test_an_error_inside_a_plug_in_shows_its_cause_and_line(folder, code, cause):
    (folder / "broken.py").write_text(code)
    expected = f"importing it failed: {cause.replace('FILE', f'{folder}/broken.py')}"
    assert expected in fault("broken.py:Memory")
    assert expected in fault("broken.py:Memory")  # the second try as well as the first


def test_an_error_in_a_parent_package_shows_its_cause(folder, monkeypatch):
    (folder / "broken_package").mkdir()
    (folder / "broken_package" / "__init__.py").write_text("import no_such_module\n")
    (folder / "broken_package" / "mine.py").write_text(MEMORY)
    monkeypatch.syspath_prepend(str(folder))
    message = fault("broken_package.mine:Memory")
    assert "No module named 'no_such_module'" in message
    assert "broken_package/__init__.py, line 1" in message


class Stating:
    defaults = {"top": 6, "share": 0.5, "fast": False, "name": "x", "anything": None}  # noqa: RUF012


def test_options_are_completed():
    assert options_of(RagSlices, {"top_slices": 2}) == {"top_slices": 2, "strip_answer_format": False}
    assert options_of(Stating, {"share": 1, "anything": [1]})["share"] == 1
    assert options_of(object, {"whatever": 1}) == {"whatever": 1}


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (
            RagSlicesNotes,
            {"top_slice": 6},
            "options.top_slice: unknown option; did you mean 'top_slices'?",
        ),
        (Stating, {"zzz": 1}, "options.zzz: unknown option; Stating takes 'top', 'share', 'fast'"),
        (NoRetrieval, {"top_slices": 6}, "options.top_slices: unknown option; NoRetrieval takes none"),
        (Stating, {"top": "6"}, "options.top: '6' should be a value like 6 (int)"),
        (Stating, {"top": True}, "options.top: True should be a value like 6 (int)"),
        (Stating, {"top": 6.5}, "options.top: 6.5 should be a value like 6 (int)"),
        (Stating, {"fast": 1}, "options.fast: 1 should be a value like False (bool)"),
        (Stating, {"name": None}, "options.name: None should be a value like 'x' (str)"),
    ],
)
def test_wrong_options(cls, options, message):
    with pytest.raises(MethodClassError) as caught:
        options_of(cls, options)
    assert message in str(caught.value)


def test_all_wrong_options_are_named_at_once():
    with pytest.raises(MethodClassError, match=r"top_slice:.*strip_answer_format: 'yes'"):
        options_of(RagSlices, {"top_slice": 6, "strip_answer_format": "yes"})


def test_what_a_class_needs():
    assert needs_of(RagSlicesNotes, {}) == {
        "pools": ("slices", "notes"),
        "roles": ("embedding",),
        "prompts": (),
        "private_tables": (),
    }

    class Depending:
        @classmethod
        def needs(cls, options):
            return {"pools": ["slices"] if options["reads"] else []}

        def attach(self, view): ...

    assert needs_of(Depending, {"reads": True})["pools"] == ("slices",)
    assert needs_of(Depending, {"reads": False})["pools"] == ()
    assert needs_of(Depending, {"reads": False})["roles"] == ("controller", "embedding")
    with pytest.raises(MethodClassError, match=r"Depending.needs\(options\) failed: KeyError: 'reads'"):
        needs_of(Depending, {})


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"pools": ("slice",)}, "Mine.pools: 'slice' is not one of 'slices', 'events', 'notes'"),
        ({"roles": ("reader",)}, "Mine.roles: 'reader' is not one of 'controller', 'embedding'"),
        ({"pools": "slices"}, "Mine.pools should be a tuple: ('slices',), not 'slices'"),
        ({"pools": ("slices",)}, "Mine names pools but has no `attach` to take them"),
    ],
)
def test_needs_that_cannot_be_met(attributes, message):
    with pytest.raises(MethodClassError) as caught:
        needs_of(type("Mine", (), attributes), {})
    assert message in str(caught.value)


def test_the_known_pools_are_those_that_can_be_embedded():
    assert set(POOLS) == set(DOCUMENTS)

"""Reading a pickle of somebody else's runs nothing of it."""

import contextlib
import functools
import gzip
import importlib
import io
import operator
import os
import pickle
import struct
import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from agentlab_data import dumps, instance
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.ingest.agentlab import unpickle
from lmev2.ingest.agentlab.unpickle import Array, Inert, RefusedNameError, UnpickleError, field, load


def loads(data, tmp_path, modules=(), name="file.pkl"):
    path = tmp_path / name
    path.write_bytes(data)
    return load(path, modules)


class Call:
    """Pickles as a call."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def text(value):
    return b"\x8c" + bytes([len(value)]) + value.encode()


def named(module, name):
    """Put what `module.name` is onto the stack."""
    return text(module) + text(name) + b"\x93"


def program(*parts):
    return b"\x80\x04" + b"".join(parts) + b"."


def test_the_hostile_pickles_do_harm_where_nothing_stops_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("os.system", "eval", "protocol 0", "INST", "OBJ", "nested in a list"):
        pickle.loads(HOSTILE[name]())
        Path(MARK).unlink()


MARK = "touched"
TOUCH = f"open({MARK!r}, 'w').close()"

HOSTILE = {
    "os.system": lambda: pickle.dumps(Call(os.system, f"touch {MARK}")),
    "eval": lambda: pickle.dumps(Call(eval, TOUCH)),
    "exec": lambda: pickle.dumps(Call(exec, TOUCH), 2),
    "Popen": lambda: pickle.dumps(Call(subprocess.Popen, ["touch", MARK])),
    "partial": lambda: pickle.dumps(Call(functools.partial(os.system, f"touch {MARK}"))),
    "getattr": lambda: pickle.dumps(Call(getattr, Call(importlib.import_module, "os"), "system")),
    "attrgetter": lambda: pickle.dumps(Call(operator.methodcaller("system", f"touch {MARK}"), None)),
    "import_module": lambda: pickle.dumps(Call(importlib.import_module, "antigravity")),
    "nested in a list": lambda: pickle.dumps([{"a": (1, Call(os.system, f"touch {MARK}"))}]),
    "protocol 0": lambda: b"cposix\nsystem\n(S'touch " + MARK.encode() + b"'\ntR.",
    "INST": lambda: b"(S'touch " + MARK.encode() + b"'\niposix\nsystem\n.",
    "OBJ": lambda: b"(cposix\nsystem\nS'touch " + MARK.encode() + b"'\no.",
    "numpy.load": lambda: pickle.dumps(Call(np.load, "x.npy", None, True)),
    "numpy's own eval": lambda: program(named("numpy.testing._private.utils", "runstring"), b"."),
    "_reconstruct": lambda: program(
        named("numpy._core.multiarray", "_reconstruct"), named("builtins", "eval"), b"K\x00\x85C\x01b\x87R"
    ),
    "dotted name": lambda: program(named("numpy", "dtype.__class__.__subclasses__")),
    "dotted name of a container": lambda: program(named("builtins", "set.__class__")),
    "name made at run time": lambda: program(
        b"\x8c\x02os", b"\x94", b"\x8c\x06system", b"\x94", b"h\x00h\x01\x93"
    ),
    "constructor": lambda: pickle.dumps(Call(bytearray, 10)),
    "copyreg": lambda: b"ccopyreg\n_reconstructor\n(cbuiltins\nobject\ncbuiltins\nobject\nNtR.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_outside_the_list_is_refused_and_nothing_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = HOSTILE[name]()
    with pytest.raises(RefusedNameError, match="which is not on the list") as error:
        loads(data, tmp_path)
    assert error.value.name in str(error.value) and "." in error.value.name
    assert not Path(MARK).exists()


def test_the_refused_name_is_the_one_in_the_file(tmp_path):
    with pytest.raises(RefusedNameError, match=r"it names posix\.system"):
        loads(pickle.dumps(Call(os.system, "true")), tmp_path)


def test_a_name_that_is_let_in_is_no_more_than_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = Call(os.system, f"touch {MARK}")
    assert isinstance(loads(pickle.dumps(call), tmp_path, ["posix"]), Inert)
    inert = program(named("agentlab", "os.system"), text(f"touch {MARK}"), b"\x85R")
    assert isinstance(loads(inert, tmp_path), Inert)
    assert not Path(MARK).exists()


def test_modules_are_let_in_whole_not_by_the_beginning_of_their_names(tmp_path):
    assert isinstance(loads(dumps(instance("my_agent.args", "Args", a=1)), tmp_path, ["my_agent"]), Inert)
    for name in ("agentlab2", "xagentlab", "agentlab "):
        with pytest.raises(RefusedNameError):
            loads(program(named(name, "X")), tmp_path)


@pytest.mark.parametrize("name", ["Inert", "Array", "_Dtype", "_Scalar"])
def test_the_stand_ins_cannot_be_changed(name, tmp_path):
    """BUILD sets attributes of what it is given, and a class could be given to it."""
    places = {
        "Inert": ("agentlab", "X"),
        "Array": ("numpy._core.multiarray", "_reconstruct"),
        "_Dtype": ("numpy", "dtype"),
        "_Scalar": ("numpy.core.multiarray", "scalar"),
    }
    change = b"N}" + text("__new__") + text("x") + b"s\x86b"  # BUILD with (None, {"__new__": "x"})
    before = dict(vars(getattr(unpickle, name)))
    with pytest.raises(UnpickleError):
        loads(program(named(*places[name]), change), tmp_path)
    assert dict(vars(getattr(unpickle, name))) == before


def old_names(data):
    """The pickle as numpy 1 would have written it."""
    assert b"numpy._core" in data
    return data.replace(b"numpy._core", b"numpy.core")


@pytest.mark.parametrize("numpy_1", [False, True])
@pytest.mark.parametrize(
    "array", [np.array([3]), np.array([[1, 2], [3, 4]], ">i2"), np.array([0.5], np.float32)]
)
def test_arrays_of_both_numpys(array, numpy_1, tmp_path):
    for protocol in (3,) if numpy_1 else (3, 4, 5):  # only protocol 3 has the name without its length
        data = pickle.dumps(array, protocol)
        value = loads(old_names(data) if numpy_1 else data, tmp_path)
        assert isinstance(value, Array) and value.values == array.ravel().tolist()


@pytest.mark.parametrize("numpy_1", [False, True])
def test_numbers_of_both_numpys(numpy_1, tmp_path):
    for number in (np.float64(0.25), np.int64(-7), np.bool_(True)):
        data = pickle.dumps(number, 3)
        assert loads(old_names(data) if numpy_1 else data, tmp_path) == number.item()


def test_arrays_of_other_things_hold_nothing(tmp_path):
    assert loads(pickle.dumps(np.array(["a", None], object)), tmp_path).values == []
    assert loads(pickle.dumps(np.str_("a")), tmp_path) is None


def test_objects_of_the_libraries_keep_their_fields(tmp_path):
    value = instance("browsergym.loop", "StepInfo", obs={"url": "u"}, action=None)
    read = loads(dumps(value), tmp_path)
    assert field(read, "obs") == {"url": "u"} and field(read, "action") is None and field(read, "x") is None
    assert field(3, "x") is None
    setitems = program(named("agentlab", "M"), b")\x81", b"(", text("role"), text("user"), b"u")
    assert field(loads(setitems, tmp_path), "role") == "user"
    appends = program(named("agentlab", "M"), b")\x81", b"(", text("a"), text("b"), b"e")
    assert isinstance(loads(appends, tmp_path), Inert)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=10,
)


@settings(deadline=None, max_examples=30)
@given(value=plain, protocol=st.integers(0, 5).filter(lambda n: n > 2), tail=st.binary(max_size=5))
def test_plain_values_come_back_and_damage_is_damage(value, protocol, tail, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    data = pickle.dumps({"value": value}, protocol)
    assert loads(data, folder) == {"value": value}
    for damaged in (data[:-1], data[: len(data) // 2], tail + data[3:]):
        try:
            loads(damaged, folder)
        except UnpickleError:
            continue


@settings(deadline=None, max_examples=60)
@given(data=st.binary(max_size=60))
def test_any_bytes_give_a_value_or_the_error(data, tmp_path_factory):
    try:
        loads(data, tmp_path_factory.getbasetemp())
    except UnpickleError as error:
        assert str(error)


def test_no_pickle_has_more_memory_than_it_is_long(tmp_path, monkeypatch):
    monkeypatch.setattr(unpickle, "MAX_BYTES", 1000)
    programs = {
        "memo": b"\x80\x04N" + b"r" + struct.pack("<I", 2**31) + b".",
        "memo in text": b"N" + b"p2000000000\n.",
        **{
            name: b"\x80\x05" + opcode + struct.pack("<Q", 2**40) + b"."
            for name, opcode in {
                "bytearray": b"\x96",
                "bytes": b"\x8e",
                "text": b"\x8d",
                "frame": b"\x95",
            }.items()
        },
        "long": b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b".",
    }
    for name, data in programs.items():
        tracemalloc.start()
        with contextlib.suppress(UnpickleError):
            assert loads(data, tmp_path) is None, name
        assert tracemalloc.get_traced_memory()[1] < 10**6, name
        tracemalloc.stop()


@pytest.mark.parametrize("use", ["key", "keys", "set", "frozenset", "named set"])
@pytest.mark.parametrize("shape", ["deep", "doubled"])
def test_no_pickle_has_us_hash_for_ever(use, shape, tmp_path):
    """Hashing a tuple in a tuple, a million times, crashes; one twice in itself, 40 times, takes for ever."""
    doubled = b")q\x00" + b"".join(b"h%ch%c\x86q%c" % (i - 1, i - 1, i) for i in range(1, 40))
    made = b"N" + b"\x85" * 10**5 if shape == "deep" else doubled
    if use in ("key", "keys"):
        data = program(b"}" + made + b"Ns") if use == "key" else program(b"}(" + made + b"Nu")
        with pytest.raises(UnpickleError, match="a key is a tuple in a tuple"):
            loads(data, tmp_path)
        return
    in_set = {
        "set": b"\x8f(" + made + b"\x90",
        "frozenset": b"(" + made + b"\x91",
        "named set": named("builtins", "set") + b"](" + made + b"e\x85R",
    }
    assert isinstance(loads(program(in_set[use]), tmp_path), Inert)


def test_a_key_may_be_a_plain_tuple(tmp_path):
    assert loads(
        pickle.dumps({(1, "a"): {1}, "b": frozenset("c"), None: bytearray(b"d")}, 5), tmp_path
    ).keys() == {
        (1, "a"),
        "b",
        None,
    }


def test_a_gzip_bomb_is_not_unpacked_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(unpickle, "MAX_BYTES", 1000)
    bomb = gzip.compress(pickle.dumps("x" * 10**6))
    assert len(bomb) < 2000
    with pytest.raises(UnpickleError, match=r"longer than 1,000 bytes, unpacked"):
        loads(bomb, tmp_path, name="bomb.pkl.gz")
    assert loads(gzip.compress(pickle.dumps("x" * 900)), tmp_path, name="fits.pkl.gz") == "x" * 900


@pytest.mark.parametrize("cut", [0, 5, 30, -4])
def test_a_gzip_file_that_is_cut_is_named(cut, tmp_path):
    whole = io.BytesIO(gzip.compress(pickle.dumps(list(range(100))))).getvalue()
    with pytest.raises(UnpickleError):
        loads(whole[:cut], tmp_path, name="cut.pkl.gz")

"""Pickles of other people's runs, read without running anything of them.

A pickle is a program: it can name any function of any installed module and have it called. So the only
callables that `load` hands to one are the sealed classes below, which keep data and do nothing. No module
is ever imported. A name outside the allow-list is refused.
"""

import gzip
import io
import pickle
import re
import struct
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np

# Longest pickle that is read, unpacked. A step with its page as text has about 100 kB, with the page's DOM
# some MB; what is larger than this is no step but an attack or an accident.
MAX_BYTES = 256 * 2**20

# Modules of the libraries that write the results; their classes become `Inert`, installed or not.
LIBRARIES = ("agentlab", "bgym", "browsergym")

# Names whose objects occur in results but tell nothing that is read here: `Inert`, too.
_UNREAD = {
    "builtins": {"frozenset", "set"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "pathlib": {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
    "pathlib._local": {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
    "uuid": {"UUID"},
}

# What a damaged or hostile pickle makes the standard unpickler raise, next to its own error.
_DAMAGE = (
    *(pickle.UnpicklingError, AttributeError, EOFError, ImportError, LookupError, MemoryError),
    *(OverflowError, RecursionError, TypeError, ValueError, struct.error),
)


class UnpickleError(Exception):
    """A pickle that is damaged or too large; the text says which."""


class RefusedNameError(UnpickleError):
    """A pickle names something outside the allow-list.

    Attributes:
        name: the dotted name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"it names {name}, which is not on the list of names that results may hold")
        self.name = name


class _Sealed(type):
    """A class that no pickle can change: some opcodes set attributes of whatever they are given."""

    def __setattr__(cls, name: str, value: Any) -> NoReturn:
        raise TypeError(f"{cls.__name__} is sealed")


class Inert(metaclass=_Sealed):
    """Stands for an object of a class that is not loaded: it holds the fields and does nothing."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        # Fields, or a pair of them: those of the instance and those in slots.
        for fields in state if isinstance(state, tuple) else (state,):
            if isinstance(fields, dict):
                vars(self).update({key: value for key, value in fields.items() if isinstance(key, str)})

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):  # a subclass of dict
            vars(self)[key] = value

    def append(self, item: Any) -> None:
        """Take no notice: nothing that is read here is in a subclass of list."""

    def extend(self, items: Any) -> None:
        """Likewise."""


class _Dtype(metaclass=_Sealed):
    """Stands for numpy.dtype."""

    def __init__(self, code: Any = "", *flags: Any) -> None:
        self.code, self.order = code, "="

    def __setstate__(self, state: Any) -> None:
        self.order = state[1]

    def decode(self, data: Any) -> list[Any]:
        """The numbers in `data`; none of a dtype that is not one of plain numbers."""
        if not isinstance(self.code, str) or not re.fullmatch(r"b1|[iu][1248]|f[248]", self.code):
            return []
        order = self.order if self.order in ("<", ">") else ""
        return np.frombuffer(bytes(data), np.dtype(order + self.code)).tolist()


class Array(metaclass=_Sealed):
    """Stands for a numpy array.

    Attributes:
        values: its numbers, flat; empty where its dtype is not one of plain numbers.
    """

    def __init__(self, *args: Any) -> None:
        self.values: list[Any] = []

    def __setstate__(self, state: Any) -> None:
        _, _, dtype, _, data = state
        self.values = _numbers(dtype, data)


class _FromBuffer(metaclass=_Sealed):
    """Stands for numpy's function that makes an array of a buffer (pickle protocol 5)."""

    def __new__(cls, data: Any, dtype: Any, *layout: Any) -> Array:
        array = Array()
        array.values = _numbers(dtype, data)
        return array


class _Scalar(metaclass=_Sealed):
    """Stands for numpy's function that makes a number; gives Python's."""

    def __new__(cls, dtype: Any, data: Any = b"") -> Any:
        values = _numbers(dtype, data)
        return values[0] if len(values) == 1 else None


def _numbers(dtype: Any, data: Any) -> list[Any]:
    known = isinstance(dtype, _Dtype) and isinstance(data, bytes | bytearray)
    return dtype.decode(data) if known else []


_NUMPY = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): Inert,  # only ever named, as the class that _reconstruct makes
    **{
        (f"numpy.{core}.{module}", name): stand_in
        for core in ("core", "_core")  # numpy 1 and 2
        for module, name, stand_in in (
            ("multiarray", "_reconstruct", Array),
            ("multiarray", "scalar", _Scalar),
            ("numeric", "_frombuffer", _FromBuffer),
        )
    },
}


class _Unpickler(pickle._Unpickler):
    """Python's own unpickler in its version without C.

    That in C makes room for any place in its memo, and hashes tuples in tuples however deep, until it
    crashes. This one has a method for each opcode, so that the few in question can be replaced.
    """

    dispatch: ClassVar = dict(pickle._Unpickler.dispatch)

    def __init__(self, file: io.BytesIO, modules: Iterable[str]) -> None:
        super().__init__(file)
        self._modules = (*LIBRARIES, *modules)

    def find_class(self, module: str, name: str) -> type:
        """The stand-in for a name; nothing is imported."""
        if known := _NUMPY.get((module, name)):
            return known
        if name in _UNREAD.get(module, ()) or any(
            module == allowed or module.startswith(f"{allowed}.") for allowed in self._modules
        ):
            return Inert
        raise RefusedNameError(f"{module}.{name}")

    def _set_item(self) -> None:
        _check_key(self.stack[-2])
        self.load_setitem()

    def _set_items(self) -> None:
        for key in self.stack[::2]:  # keys and values since the mark
            _check_key(key)
        self.load_setitems()

    def _make_set(self) -> None:
        self.append(Inert())

    def _add_items(self) -> None:
        self.pop_mark()  # nothing that is read here is in a set

    def _make_frozenset(self) -> None:
        self.pop_mark()
        self.append(Inert())

    def _make_bytearray(self) -> None:
        (length,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(length)))  # as long as the file, whatever the length says

    dispatch |= {
        pickle.SETITEM[0]: _set_item,
        pickle.SETITEMS[0]: _set_items,
        pickle.EMPTY_SET[0]: _make_set,
        pickle.ADDITEMS[0]: _add_items,
        pickle.FROZENSET[0]: _make_frozenset,
        pickle.BYTEARRAY8[0]: _make_bytearray,
    }


def _check_key(key: Any) -> None:
    """Refuse a key whose hash takes more than one look at it."""
    if isinstance(key, tuple) and any(isinstance(part, tuple) for part in key):
        raise UnpickleError("a key is a tuple in a tuple, which can take for ever to look up")


def load(path: Path, modules: Collection[str] = ()) -> Any:
    """Read a pickle file, gzipped where its name ends in `.gz`.

    Args:
        path: the file.
        modules: further modules whose classes become `Inert`, such as those of the user's own agent.

    Returns:
        Plain Python values, `Inert` and `Array` objects.

    Raises:
        RefusedNameError: it names something that results have no business to name. Nothing was run.
        UnpickleError: it cannot be opened, is damaged, or longer than `MAX_BYTES`.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UnpickleError(f"it is no whole gzip file ({error})") from error
    except OSError as error:
        raise UnpickleError(f"it cannot be opened ({error.strerror})") from error
    if len(data) > MAX_BYTES:
        raise UnpickleError(f"it is longer than {MAX_BYTES:,} bytes, unpacked")
    try:
        return _Unpickler(io.BytesIO(data), modules).load()
    except _DAMAGE as error:
        raise UnpickleError(f"it is no whole pickle ({type(error).__name__}: {error})") from error


def field(value: Any, name: str) -> Any:
    """The field of a mapping or of a stand-in; None where there is none."""
    fields = value if isinstance(value, Mapping) else vars(value) if isinstance(value, Inert) else {}
    return fields.get(name)

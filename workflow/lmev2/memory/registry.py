"""Memory classes by reference: `package.module:Name` or `path/to/file.py:Name`."""

import difflib
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from lmev2.errors import UserError, describe

# Classes that a config names by one word.
SHORT_NAMES = {"official": "lmev2.memory.official:OfficialMemory"}
# What a class may name as `pools` and `roles`.
POOLS = ("slices", "events", "notes")
ROLES = ("controller", "embedding")
AGENT = "agent"  # a role too, but a coding agent is no model: it must be stated, and brings the files
# What only methods for faithful replication read, never leaderboard-safe (`lmev2.memory.paper_mode`).
PRIVATE_TABLES = ("paper_questions", "oracle_questions")

_brought: set[str] = set()  # modules that lie beside the plug-in file loaded last


class MethodClassError(UserError):
    """A method's class cannot be used as the config asks."""


def file_of_class(reference: str, folder: str | Path = ".") -> Path:
    """The file that defines the class `reference`; paths are relative to `folder`.

    Raises:
        MethodClassError: it cannot be found; the message says where it was looked for.
    """
    reference = SHORT_NAMES.get(reference, reference)
    module, _, name = reference.rpartition(":")
    is_file = module.endswith(".py")
    if not name.isidentifier() or not (is_file or all(part.isidentifier() for part in module.split("."))):
        raise MethodClassError(
            f"class {reference!r} is not of the form 'package.module:Name' or 'path/to/file.py:Name'"
        )
    if is_file:
        path = Path(folder, module).resolve()
        if not path.is_file():
            raise MethodClassError(f"class {reference!r}: there is no file {path}")
        return path
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise MethodClassError(f"class {reference!r}: {describe(error)}") from error
        spec = None
    except Exception as error:  # a parent package is imported on the way, and may do anything
        raise MethodClassError(f"class {reference!r}: {describe(error)}") from error
    if spec is None:
        raise MethodClassError(
            f"class {reference!r}: no module {module!r} is installed here; install it, or name its file "
            "instead ('path/to/file.py:Name')"
        )
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise MethodClassError(f"class {reference!r}: {module!r} is not a module of Python source")
    return Path(spec.origin).resolve()


def memory_class(reference: str, folder: str | Path = ".") -> type[Any]:
    """Import the class `reference`; paths are relative to `folder`.

    Raises:
        MethodClassError: there is no such module, file or class, importing it fails (the message gives
            the cause and its line), or it is no memory class.
    """
    reference = SHORT_NAMES.get(reference, reference)
    module_name, _, name = reference.rpartition(":")
    path = file_of_class(reference, folder)
    try:
        module = (
            _module_of_file(path) if module_name.endswith(".py") else importlib.import_module(module_name)
        )
    except Exception as error:  # a plug-in may do anything when it is imported
        raise MethodClassError(f"class {reference!r}: importing it failed: {describe(error)}") from error
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise MethodClassError(f"class {reference!r}: {path} has no class {name!r}{_hint(name, classes)}")
    if not hasattr(found, "query") or not (hasattr(found, "insert") or hasattr(found, "attach")):
        raise MethodClassError(
            f"class {reference!r} needs `query` and either `insert` or `attach`: see docs/adding-a-method.md"
        )
    return found


@cache
def _module_of_file(path: Path) -> ModuleType:
    # A name of its own: a plug-in random.py must not become the module `random`.
    name = f"lmev2_plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    # A plug-in may import what lies beside it, but not by mistake what lies beside another one.
    for other in _brought:
        sys.modules.pop(other, None)
    _brought.clear()
    before = set(sys.modules)
    sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        sys.path.remove(str(path.parent))
        raise
    finally:
        _brought.update(other for other in set(sys.modules) - before if _lies_in(other, path.parent))
    return module


def _lies_in(module: str, folder: Path) -> bool:
    top = folder / module.partition(".")[0]
    return top.with_suffix(".py").is_file() or (top / "__init__.py").is_file()


def options_of(cls: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a class, completed with those that it states as `defaults`.

    A class that states `defaults` takes no other options, and values only of its defaults' types (a
    default of None stands for any); one that does not takes all. A class may check further what it is
    given in a classmethod `check(options)`.

    Raises:
        MethodClassError: an option is unknown or of another type; all such faults are named.
    """
    defaults = getattr(cls, "defaults", None)
    if defaults is None:
        return dict(options)
    faults = []
    for key, value in options.items():
        if key not in defaults:
            known = ", ".join(map(repr, defaults)) or "none"
            hint = _hint(key, defaults) or f"; {cls.__name__} takes {known}"
            faults.append(f"options.{key}: unknown option{hint}")
        elif not _fits(value, defaults[key]):
            faults.append(
                f"options.{key}: {value!r} should be a value like {defaults[key]!r} "
                f"({type(defaults[key]).__name__})"
            )
    if faults:
        raise MethodClassError("; ".join(faults))
    completed = {**defaults, **options}
    if hasattr(cls, "check"):
        cls.check(completed)
    return completed


def code_of(cls: type[Any], options: Mapping[str, Any]) -> str:
    """Digest of code that a class runs from elsewhere (its classmethod `code(options)`), mostly ""."""
    return cls.code(options) if hasattr(cls, "code") else ""


def _fits(value: Any, default: Any) -> bool:
    if default is None or value is None:
        return default is None
    if isinstance(value, bool) or isinstance(default, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    kinds = (str, int, list | tuple, Mapping)
    return any(isinstance(value, kind) and isinstance(default, kind) for kind in kinds)


def needs_of(cls: type[Any], options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """What a memory class uses: shared `pools`, model `roles`, `prompts` (beginnings of template names).

    A class states them as attributes, or as a classmethod `needs(options)` where they depend on its
    options. One that states no roles may use all that a method can have.

    Raises:
        MethodClassError: a pool or role is unknown, pools have no `attach` to go to, or `needs` fails.
    """
    try:
        stated = dict(cls.needs(options)) if hasattr(cls, "needs") else {}
    except Exception as error:  # the plug-in's own code
        raise MethodClassError(f"{cls.__name__}.needs(options) failed: {describe(error)}") from error
    needs = {
        "pools": stated.get("pools", getattr(cls, "pools", ())),
        "roles": stated.get("roles", getattr(cls, "roles", ROLES)),
        "prompts": stated.get("prompts", getattr(cls, "prompts", ())),
        "private_tables": stated.get("private_tables", ()),
    }
    known_names = {
        "pools": POOLS,
        "roles": (*ROLES, AGENT),
        "prompts": None,
        "private_tables": PRIVATE_TABLES,
    }
    for key, known in known_names.items():
        if isinstance(needs[key], str):
            raise MethodClassError(
                f"{cls.__name__}.{key} should be a tuple: ({needs[key]!r},), not {needs[key]!r}"
            )
        for name in needs[key] if known else ():
            if name not in known:
                raise MethodClassError(
                    f"{cls.__name__}.{key}: {name!r} is not one of {', '.join(map(repr, known))}"
                )
    if "oracle_questions" in needs["private_tables"] and not getattr(cls, "labels", False):
        raise MethodClassError(
            f"{cls.__name__} reads the evidence labels; only a class that says so (labels = True) may"
        )
    if getattr(cls, "answers", False) and "oracle_questions" not in needs["private_tables"]:
        raise MethodClassError(
            f"{cls.__name__} answers without the reader; only a pilot study, which competes with none, may"
        )
    if needs["pools"] and not hasattr(cls, "attach"):
        raise MethodClassError(f"{cls.__name__} names pools but has no `attach` to take them")
    return {key: tuple(names) for key, names in needs.items()}


def _hint(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""

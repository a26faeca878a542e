"""Memory classes by reference: `package.module:Name` or `path/to/file.py:Name`."""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmev2.provenance import file_of_class


def memory_class(reference: str, folder: str | Path = ".") -> type[Any]:
    """Import the class behind `reference`; paths are relative to `folder`.

    Raises:
        ValueError: there is no such module, file or class, or it has no `query`, or neither `insert`
            nor `attach`.
    """
    module_name, _, name = reference.rpartition(":")
    path = file_of_class(reference, folder)
    if module_name.endswith(".py"):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        sys.path.insert(0, str(path.parent))  # a plug-in may import what lies beside it
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(module_name)
    found = getattr(module, name, None)
    if not isinstance(found, type):
        raise ValueError(f"class {reference!r}: {path} has no class {name!r}")
    if not hasattr(found, "query") or not (hasattr(found, "insert") or hasattr(found, "attach")):
        raise ValueError(
            f"class {reference!r} needs `query` and either `insert` or `attach`: see docs/adding-a-method.md"
        )
    return found


def needs_of(cls: type[Any], options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """What a memory class uses: shared `pools`, model `roles`, `prompts` (beginnings of template names).

    A class states them as attributes, or as a classmethod `needs(options)` where they depend on its
    options. One that states no roles may use all that a method can have.
    """
    stated = cls.needs(options) if hasattr(cls, "needs") else {}
    return {
        "pools": tuple(stated.get("pools", getattr(cls, "pools", ()))),
        "roles": tuple(stated.get("roles", getattr(cls, "roles", ("controller", "embedding")))),
        "prompts": tuple(stated.get("prompts", getattr(cls, "prompts", ()))),
    }

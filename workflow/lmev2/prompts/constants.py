"""Texts that Python files hold as constants, read from the syntax tree: nothing is imported or run.

A text is found where a name is assigned one, in a module or in a function: strings, joined by adjacency or
`+`, f-strings of plain names, `dedent(…)` and `.strip()` of these, dictionaries of them. Where it is put
together by code it cannot be had, and the reason is kept.
"""

import ast
import string
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lmev2.errors import UserError

# Shorter texts are keys, labels and names of things.
PROMPT_LENGTH = 60
_SKIPPED = ("__pycache__", "site-packages", "node_modules")
_STRIPS = {"strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip}


class CheckoutError(UserError):
    """A checkout cannot be read."""


@dataclass(frozen=True)
class Placeholder:
    """A name whose value is put in its place when the text is used."""

    name: str


Parts = tuple[str | Placeholder, ...]


@dataclass(frozen=True)
class Constant:
    """A text and where it is assigned.

    Attributes:
        place: "path.py:NAME", "path.py:function.name", "path.py:NAME[key]".
        line: of the assignment.
        parts: the text; adjacent literal parts are joined.
        problem: why there is no text; empty where there is one.
    """

    place: str
    line: int
    parts: Parts = ()
    problem: str = ""

    @property
    def length(self) -> int:
        """Characters, without the values of placeholders."""
        return sum(len(part) for part in self.parts if isinstance(part, str))


class _OpenError(Exception):
    """An expression is no constant text; its message says why."""


def find_constants(checkout: str | Path) -> dict[str, Constant]:
    """The texts of all Python files of a checkout, by place, and what looks like one but cannot be had.

    Raises:
        CheckoutError: there is no such folder, or a file of it cannot be parsed.
    """
    checkout = Path(checkout)
    if not checkout.is_dir():
        raise CheckoutError(f"{checkout} is no folder; name a checkout")
    found: dict[str, Constant] = {}
    for path in sorted(checkout.rglob("*.py")):
        name = path.relative_to(checkout)
        if path.is_file() and not any(part.startswith(".") or part in _SKIPPED for part in name.parts):
            try:
                tree = ast.parse(path.read_bytes(), filename=str(path))  # Python finds the encoding itself
                found.update({constant.place: constant for constant in _of_module(tree, name.as_posix())})
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise CheckoutError(
                    f"{path}: {error}; mend the file, or take it out of the checkout"
                ) from error
    return found


def _of_module(tree: ast.Module, file: str) -> Iterator[Constant]:
    known: dict[str, Parts] = {}
    formatted = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("format", "format_map")
        and isinstance(node.value, ast.Name)
    }
    yield from _of_block(tree.body, f"{file}:", known, formatted)


def _of_block(
    body: list[ast.stmt], prefix: str, outer: Mapping[str, Parts], formatted: set[str]
) -> Iterator[Constant]:
    """The texts assigned in a block and in the functions and classes below it."""
    known = dict(outer)
    seen: dict[str, Constant] = {}
    inner = []
    for node in _statements(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner.append(node)
            continue
        for constant, name in _of_assignment(node, prefix, known, formatted):
            if constant.place in seen:
                constant = Constant(constant.place, constant.line, problem="it is assigned more than once")
                known.pop(name, None)
            elif not constant.problem:
                known[name] = constant.parts
            seen[constant.place] = constant
    yield from seen.values()
    for node in inner:
        arguments = {arg.arg for arg in ast.walk(node) if isinstance(arg, ast.arg)}
        visible = {name: parts for name, parts in known.items() if name not in arguments}
        yield from _of_block(node.body, f"{prefix}{node.name}.", visible, formatted)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of the branches and loops in it."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, part, []))
        for handler in getattr(node, "handlers", []):
            yield from _statements(handler.body)


def _of_assignment(
    node: ast.stmt, prefix: str, known: Mapping[str, Parts], formatted: set[str]
) -> Iterator[tuple[Constant, str]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target = node.target
    else:
        return
    if not isinstance(target, ast.Name):
        return
    values = [(target.id, node.value)]
    if isinstance(node.value, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.value.keys]
        if all(isinstance(key, str) for key in keys):
            values = [
                (f"{target.id}[{key}]", value) for key, value in zip(keys, node.value.values, strict=True)
            ]
    for name, value in values:
        place = f"{prefix}{name}"
        try:
            parts = _parts(value, known)
            if name in formatted:
                parts = _of_format(parts)
            yield Constant(place, node.lineno, parts), name
        except _OpenError as error:
            if _longest_string(value) >= PROMPT_LENGTH:
                yield Constant(place, node.lineno, problem=str(error)), name


def _longest_string(value: ast.expr) -> int:
    return max(
        (
            len(node.value)
            for node in ast.walk(value)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ),
        default=0,
    )


def _parts(value: ast.expr, known: Mapping[str, Parts]) -> Parts:
    """The text of an expression.

    Raises:
        _OpenError: it is none, or is known only when the code runs.
    """
    match value:
        case ast.Constant(value=str(text)):
            return _joined([text])
        case ast.Constant(value=bool() | int() | float() as number):
            return (str(number),)  # for f-strings; a number alone is shorter than any prompt
        case ast.JoinedStr(values=values):
            return _joined([part for piece in values for part in _piece(piece, known)])
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _joined([*_parts(left, known), *_parts(right, known)])
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]) if name in _STRIPS:
            return _joined([_STRIPS[name](_literal(inner, known, f".{name}()"))])
        case ast.Call(func=ast.Name(id="dedent") | ast.Attribute(attr="dedent"), args=[inner], keywords=[]):
            return _joined([textwrap.dedent(_literal(inner, known, "dedent()"))])
    raise _OpenError(f"it is put together by code ({type(value).__name__}, line {value.lineno})")


def _piece(piece: ast.expr, known: Mapping[str, Parts]) -> Parts:
    """A part of an f-string."""
    match piece:
        case ast.Constant(value=text):
            return (text,)
        case ast.FormattedValue(value=ast.Name(id=name), conversion=-1, format_spec=None):
            return known[name] if name in known else (Placeholder(name),)
    conversion = f"!{chr(piece.conversion)}" if piece.conversion > 0 else ""
    inside = ast.unparse(piece.value) + conversion + ":…" * bool(piece.format_spec)
    raise _OpenError(f"its f-string has more than a plain name in braces (line {piece.lineno}): {{{inside}}}")


def _literal(value: ast.expr, known: Mapping[str, Parts], what: str) -> str:
    parts = _parts(value, known)
    if any(isinstance(part, Placeholder) for part in parts):
        raise _OpenError(f"{what} of a text with placeholders (line {value.lineno})")
    return "".join(parts)


def _of_format(parts: Parts) -> Parts:
    """A text that `.format` is called on."""
    if any(isinstance(part, Placeholder) for part in parts):
        raise _OpenError("an f-string that .format is called on")
    found: list[str | Placeholder] = []
    try:
        for text, name, spec, conversion in string.Formatter().parse("".join(parts)):
            found.append(text)
            if name is not None:
                if spec or conversion or not name.isidentifier():
                    raise _OpenError(f"its placeholder {{{name}}} is more than a plain name")
                found.append(Placeholder(name))
    except ValueError as error:
        raise _OpenError(f"no text for .format: {error}") from error
    return _joined(found)


def _joined(parts: list[str | Placeholder]) -> Parts:
    """Adjacent literal parts as one; empty ones dropped."""
    joined: list[str | Placeholder] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part:
            joined.append(part)
    return tuple(joined)

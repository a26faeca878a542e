"""Read BrowserGym's flattened accessibility trees, and say which element an action touched.

A tree is text, one element a line, indented by tabs: `[143] textbox 'Title', required`. Names are
Python-repr quoted (either quote kind), some lines carry no bid (StaticText), and a line that does
not look like an element is kept as plain text. Lines end at "\\n" only: names may hold U+2028,
U+0085 or vertical tabs, at which `str.splitlines` would break them.
"""

import ast
import codecs
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_QUOTED = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
_LINE = re.compile(rf"([\t ]*)(?:\[([^\]\s]+)\] )?(\w+) ({_QUOTED})([^\n]*)")
# An element may carry no name at all, not even an empty one; only its bid tells it from plain text.
_NAMELESS = re.compile(r"([\t ]*)\[([^\]\s]+)\] (\w+)((?:,[^\n]*)?)")
_ATTRIBUTE = re.compile(rf"([\w-]+)(?:=({_QUOTED}|[^,]*))?(?:, |$)")
_LINE_WITH_BID = re.compile(r"^[\t ]*\[([^\]\s]+)\] [^\n]*", re.MULTILINE)
_ROOT = re.compile(r"^[\t ]*(?:\[[^\]\s]+\] )?RootWebArea [^\n]*", re.MULTILINE)
# The escapes that `repr` writes; surrogates stay escaped because no file could hold them.
_ESCAPE = re.compile(
    r"""\\(?:[\\'"nrt]|x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4}|U(?:000[0-9a-f]|0010)[0-9a-f]{4})"""
)

# BrowserGym's actions on elements -> their leading parameters that are bids. Other actions may have a
# first argument that only looks like one: keyboard_type('143'), send_msg_to_user('143').
_BID_PARAMETERS = {
    "fill": ("bid",),
    "check": ("bid",),
    "uncheck": ("bid",),
    "select_option": ("bid",),
    "click": ("bid",),
    "dblclick": ("bid",),
    "hover": ("bid",),
    "press": ("bid",),
    "focus": ("bid",),
    "clear": ("bid",),
    "upload_file": ("bid",),
    "drag_and_drop": ("from_bid", "to_bid"),
}


@dataclass(frozen=True, slots=True)
class TreeLine:
    """One line of a tree.

    Attributes:
        depth: number of leading whitespace characters (BrowserGym: one tab a level).
        bid: the element's id, None where the line has none.
        role: for example "button"; "" for a line that does not look like an element.
        name: the name without quotes and escapes; the whole text of a plain line.
        attributes: what follows the name, without the separating comma: "clickable, visible".
    """

    depth: int
    bid: str | None
    role: str
    name: str
    attributes: str

    def __str__(self) -> str:
        """Role and quoted name, as in the tree: `button 'Save'`."""
        return f"{self.role} {self.name!r}" if self.role else self.name


def parse_line(line: str) -> TreeLine:
    """Parse one line (without its "\\n"); a line of any other form becomes plain text."""
    if match := _LINE.fullmatch(line):
        indent, bid, role, quoted, rest = match.groups()
        name = _ESCAPE.sub(_unescape, quoted[1:-1])
    elif match := _NAMELESS.fullmatch(line):
        indent, bid, role, rest = match.groups()
        name = ""
    else:
        text = line.lstrip("\t ")
        return TreeLine(len(line) - len(text), None, "", text, "")
    return TreeLine(len(indent), bid, role, name, rest.lstrip(", "))


def _unescape(match: re.Match[str]) -> str:
    return codecs.decode(match[0], "unicode_escape")


def parse_attributes(attributes: str) -> dict[str, str]:
    """Split a `TreeLine.attributes` text: name -> value without quotes, "" for a mark like `visible`."""
    return {
        name: _ESCAPE.sub(_unescape, value[1:-1]) if re.fullmatch(_QUOTED, value) else value
        for name, value in _ATTRIBUTE.findall(attributes)
    }


def iterate_lines(tree: str) -> Iterator[TreeLine]:
    """Yield the tree's lines that hold anything, in order."""
    for line in tree.split("\n"):
        line = line.removesuffix("\r")
        if line and not line.isspace():
            yield parse_line(line)


def page_title(tree: str) -> str:
    """Name of the tree's first RootWebArea, "" without one."""
    match = _ROOT.search(tree)
    return parse_line(match[0].removesuffix("\r")).name if match else ""


def find_element(tree: str, bid: str) -> TreeLine | None:
    """First element with this bid, or None; a text search, so cheap on a tree of any length."""
    marker = f"[{bid}] "
    position = tree.find(marker)
    while position >= 0:
        line_start = tree.rfind("\n", 0, position) + 1
        # The marker may also stand inside another element's name.
        if not tree[line_start:position].strip("\t "):
            line_end = tree.find("\n", position)
            line = tree[line_start : len(tree) if line_end < 0 else line_end]
            return parse_line(line.removesuffix("\r"))
        position = tree.find(marker, position + 1)
    return None


def annotate_action(action: str, trees_before: Sequence[str]) -> str:
    """Append the element that the action touches: `click('143')  # button 'Save'`.

    Args:
        action: one Python-like call.
        trees_before: trees of the states before the action, in order. The bid is looked up in the
            last one, then in earlier ones: an action is stored with the state that it led to, whose
            own tree may give the same bid to something else (docs/benchmark.md).

    Returns:
        The annotated action; the action as it is if it is malformed, touches no element or names a
        bid that no tree knows.
    """

    def find(bid: str) -> TreeLine | None:
        for tree in reversed(trees_before):
            if element := find_element(tree, bid):
                return element
        return None

    return _annotate(action, find)


def annotate_actions(actions: Sequence[str | None], trees: Sequence[str]) -> list[str | None]:
    """Annotate a trajectory's actions, in time linear in the length of its trees.

    Args:
        actions: per state the action that led to it, None where there is none (as for state 0).
        trees: per state its tree; `actions[i]` is looked up in `trees[i - 1]`, then in earlier ones.

    Returns:
        One annotated action per state (see `annotate_action`), None where there was none.
    """
    latest: dict[str, str] = {}  # bid -> its line in the latest tree that has it

    def find(bid: str) -> TreeLine | None:
        return parse_line(latest[bid].removesuffix("\r")) if bid in latest else None

    annotated: list[str | None] = []
    for action, tree in zip(actions, trees, strict=True):
        # Before this state's own tree is read: `latest` must hold earlier states only.
        annotated.append(None if action is None else _annotate(action, find))
        # Reversed, so that the first of two elements with the same bid is kept, as `find_element` does.
        latest |= {match[1]: match[0] for match in reversed(list(_LINE_WITH_BID.finditer(tree)))}
    return annotated


def _annotate(action: str, find: Callable[[str], TreeLine | None]) -> str:
    elements = [element for bid in _bids(action) if (element := find(bid))]
    if not elements:
        return action
    return f"{action}  # {' -> '.join(map(str, elements))}"


def _bids(action: str) -> list[str]:
    """Bids in the action's arguments, [] if it has none or is not a well-formed call."""
    if action.partition("(")[0].strip() not in _BID_PARAMETERS:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # agents write strings like '\d'
            warnings.simplefilter("ignore", DeprecationWarning)
            call = ast.parse(action.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # all that `ast.parse` documents
        return []
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return []
    bids = []
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    for position, parameter in enumerate(_BID_PARAMETERS[call.func.id]):
        node = call.args[position] if position < len(call.args) else keywords.get(parameter)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            bids.append(node.value)
    return bids

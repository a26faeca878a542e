"""The accessibility tree as text, for results that hold it as an object only.

The form is that of BrowserGym's flattened trees: a tab for each level, the element's bid, its role, its name
quoted as Python does, then its marks and properties.
"""

from typing import Any

_UNSEEN_ROLES = {"InlineTextBox", "LineBreak"}  # they repeat or break the text above them
_UNSEEN_PROPERTIES = {
    *("editable", "focusable", "invalid", "level", "multiline", "readonly", "settable"),
}
_LONGEST = 2**64  # whole numbers beyond are none of a browser, and may take long to write
_FLAGS = {"atomic", "focused", "required"}  # named where they are true


def render_tree(tree: dict[str, Any], elements: dict[str, Any] | None = None) -> str:
    """Write a tree as text.

    Args:
        tree: the browser's tree, `{"nodes": [{"nodeId", "role", "name", "childIds", ...}, ...]}`; the first
            node is the root.
        elements: bid -> {"visibility", "clickable", ...}, as BrowserGym's `extra_element_properties`.

    Raises:
        IndexError, KeyError, TypeError, AttributeError: it is no such tree.
    """
    nodes = {node["nodeId"]: node for node in tree["nodes"]}
    lines, seen = [], set()
    stack = [(tree["nodes"][0]["nodeId"], 0, "")]  # a stack: pages may be nested deeper than Python's calls
    while stack:
        id_, depth, above = stack.pop()
        if id_ not in nodes or id_ in seen:
            continue
        seen.add(id_)
        node = nodes[id_]
        name = _value(node, "name") or ""
        line = _line(node, name, above, elements or {})
        if line is not None:
            lines.append("\t" * depth + line)
            depth += 1
        stack += [(child, depth, name) for child in reversed(node.get("childIds", []))]
    return "\n".join(lines)


def _line(node: dict[str, Any], name: str, above: str, elements: dict[str, Any]) -> str | None:
    """One node, None where it is not worth a line."""
    role, bid = _value(node, "role"), node.get("browsergym_id")
    repeats = role == "StaticText" and name in above  # a link's text is its name already
    if role in _UNSEEN_ROLES or "name" not in node or repeats:
        return None
    properties = [
        text
        for entry in node.get("properties", [])
        if (text := _property(entry["name"], _value(entry, "value")))
    ]
    marks = elements.get(bid, {}) if bid is not None else {}
    if role == "generic" and not properties:
        return None
    head = f"[{bid}] " if bid is not None else ""
    text = f"{head}{role}" if role == "generic" and not name else f"{head}{role} {name.strip()!r}"
    value = _value(node, "value")
    if value is not None:
        text += f" value={value!r}"
    shown = ["clickable"] * bool(marks.get("clickable")) + ["visible"] * (marks.get("visibility", 0) >= 0.5)
    return ", ".join([text, *shown, *properties])


def _property(name: str, value: Any) -> str | None:
    if value is None or name in _UNSEEN_PROPERTIES:
        return None
    if name in _FLAGS:
        return name if value else None
    return f"{name}={value!r}"


def _value(node: dict[str, Any], key: str) -> Any:
    """The value inside one of the browser's typed values: text, a number, a truth value or nothing."""
    value = (node.get(key) or {}).get("value")
    if not isinstance(value, str | int | float | None) or (type(value) is int and abs(value) > _LONGEST):
        raise TypeError(f"the {key} of a node is no plain value")
    return value

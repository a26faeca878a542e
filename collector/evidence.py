"""Looks for the evidence of a question in recorded runs, and whether its answer can be seen there."""

import re
from typing import Any


def evidence(hop: dict[str, Any], trajectory: dict[str, Any]) -> list[int]:
    """State indexes of a recorded trajectory that hold the evidence of a hop; empty if it does not."""
    if "steps" in hop:
        return _in_order(hop["steps"], trajectory["states"])
    if hop["only"] and trajectory["_key"] not in hop["only"]:
        return []
    return [state["state_index"] for state in trajectory["states"] if _holds(state, hop)]


def _holds(state: dict[str, Any], hop: dict[str, Any]) -> bool:
    tree = state["accessibility_tree"]
    return (
        all(re.search(pattern, tree) for pattern in hop["patterns"])
        and not any(re.search(pattern, tree) for pattern in hop["absent"])
        and bool(re.search(hop["url"], state["url"]))
        and bool(re.search(hop["action"], state["action"] or ""))
    )


def _in_order(steps: list[str], states: list[dict[str, Any]]) -> list[int]:
    found, start = [], 0
    for pattern in steps:
        for index in range(start, len(states) - 1):
            # The state that shows a control, and then the action on it.
            tree, action = states[index]["accessibility_tree"], states[index + 1]["action"] or ""
            bids = re.findall(pattern.replace("BID", r"\[(\w+)\]"), tree)
            if any(f"'{bid}'" in action for bid in bids):
                found.append(index)
                start = index + 1
                break
        else:
            return []
    return found


def normal(text: str) -> str:
    """A text as the benchmark compares phrases."""
    text = re.sub(r"[-_,;]", " ", text.lower())
    return " ".join(re.sub(r"[^\w\s]", "", text).split())


def says(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase as whole words, both normalised."""
    return re.search(rf"\b{re.escape(normal(phrase))}\b", normal(text)) is not None


def on_screen(tree: str) -> str:
    """The lines of a tree in the viewport: marked visible, or text next to a node that is."""
    lines = tree.splitlines()
    depth = [len(line) - len(line.lstrip("\t")) for line in lines]
    has_bid = [re.match(r"\t*\[\w+\]", line) is not None for line in lines]

    def neighbour(i: int, step: int) -> bool:
        """Whether the next node of the page before or after a text, at its depth or above, is visible."""
        j = i + step
        while 0 <= j < len(lines) and (depth[j] > depth[i] or not has_bid[j]):
            j += step
        return 0 <= j < len(lines) and ", visible" in lines[j]

    kept = [
        line
        for i, line in enumerate(lines)
        if (", visible" in line if has_bid[i] else neighbour(i, -1) or neighbour(i, 1))
    ]
    return "\n".join(kept)

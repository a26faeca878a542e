"""The embedded note writer: a procedure note and a hint note from one trajectory, by fixed rules.

The procedure lists the annotated actions in order; the hints come from the thoughts, from actions done
twice, from what was refused and from the outcome. Nothing is said that the input does not say.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lmev2.llm.embedded.text import DENIALS, quoted, terms, words

_FIELD = re.compile(r"^(Goal|Outcome|Start|URL|Thought|Next action): ?(.*)$", re.M)
_ACTION = re.compile(r"([a-z_]+)\((.*?)\)\s*(?:#\s*(.*))?$", re.S)
_ARGUMENT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d+(?:\.\d+)?")
_GLYPH = re.compile(r"\\u[ef][0-9a-f]{3} ?|[\ue000-\uf8ff] ?")  # icons, as characters or escaped
_SURPRISE = re.compile(
    r"\b(?:here|instead|replaces?|called|named|must|only|need(?:s|ed)?|required|compulsory|first|same|error|refus\w+"
    r"|reject\w+|disabled|hidden|missing|wrong|again|below|under|unless|because|so|but|although)\b",
    re.I,
)
_MOST_STEPS, _MOST_HINTS = 30, 12
_VERBS = {
    "click": "Click",
    "dblclick": "Double-click",
    "fill": "Fill in",
    "type": "Fill in",
    "select_option": "Choose",
    "check": "Tick",
    "uncheck": "Untick",
    "press": "Press",
    "hover": "Point at",
    "clear": "Clear",
    "upload_file": "Upload to",
    "drag_and_drop": "Drag",
}
_SILENT = frozenset({"noop", "scroll", "wait"})


@dataclass(slots=True)
class Step:
    """What one state of the trajectory says."""

    url: str = ""
    thought: str = ""
    action: str = ""


def write_notes(parts: Sequence[str]) -> str:
    """Return both notes as JSON with the keys ``procedure_note`` and ``hint_note``.

    Each note has a ``title``, a ``description`` and a ``content`` (a bullet list).

    Args:
        parts: The text parts of the prompt: the trajectory's head, one part per state, instructions.
    """
    text = "\n".join(parts)
    body = text.split("<trajectory>", 1)[1].rsplit("</trajectory>", 1)[0]
    head, *blocks = re.split(r"^State \d+\b.*$", body, flags=re.M)
    about = dict(_FIELD.findall(head))
    goal = about.get("Goal", "").strip() or "(no goal given)"
    outcome = about.get("Outcome", "").strip() or "unknown"
    steps = []
    for block in blocks:
        fields = {key: value.strip() for key, value in _FIELD.findall(block)}
        steps.append(Step(fields.get("URL", ""), fields.get("Thought", ""), fields.get("Next action", "")))
    procedure = [line for line in (describe(step.action) for step in steps) if line]
    place = about.get("Start", "").strip()
    notes = {
        "procedure_note": {
            "title": f"Steps: {goal}",
            "description": f"What was done, in order, in a run that ended as {outcome}"
            + (f", from {place}." if place else "."),
            "content": bullets(_without_repeats(procedure)[:_MOST_STEPS] or ["No action was recorded."]),
        },
        "hint_note": {
            "title": f"Hints: {goal}",
            "description": f"What the run showed about the environment; it ended as {outcome}.",
            "content": bullets(_hints(steps, procedure, outcome)[:_MOST_HINTS]),
        },
    }
    return json.dumps(notes, ensure_ascii=False)


def bullets(lines: Sequence[str]) -> str:
    """Join lines into a bullet list."""
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)


def describe(action: str) -> str:
    """Say in words what an annotated action does; empty for waiting, scrolling and the like.

    >>> describe("fill('61', 'lamp')  # textbox 'Search'")
    "Fill in textbox 'Search': 'lamp'"
    """
    match = _ACTION.match(action.strip())
    if not match:
        return action.strip()
    name, arguments = match[1], _ARGUMENT.findall(match[2])
    element = _GLYPH.sub("", (match[3] or "").strip())
    if name in _SILENT:
        return ""
    if name == "goto":
        return f"Open {arguments[0].strip(chr(39) + chr(34))}" if arguments else "Open an address"
    if name in ("send_msg_to_user", "report_infeasible"):
        said = match[2].strip()
        return f"{'Answer' if name == 'send_msg_to_user' else 'Report as infeasible'}: {said}"
    verb = _VERBS.get(name)
    if verb is None:
        return action.strip()
    target = element or f"element {arguments[0] if arguments else ''}".strip()
    given = ", ".join(arguments[1:])
    return f"{verb} {target}" + (f": {given}" if given else "")


def _without_repeats(lines: list[str]) -> list[str]:
    return [line for i, line in enumerate(lines) if i == 0 or line != lines[i - 1]]


def _hints(steps: Sequence[Step], procedure: Sequence[str], outcome: str) -> list[str]:
    """Return the telling thoughts (that name things, deny or compare), repeats, and the outcome."""
    thoughts = list(dict.fromkeys(step.thought for step in steps if step.thought))
    ranked = sorted(range(len(thoughts)), key=lambda i: -_telling(thoughts[i]))
    kept = sorted(ranked[: _MOST_HINTS - 4])
    hints = [thoughts[i] for i in kept]
    done = [line for line in procedure if not line.startswith(("Answer", "Report"))]
    twice = list(dict.fromkeys(line for line in done if done.count(line) > 1))
    hints += [f"Done {done.count(line)} times: {line}" for line in twice[:2]]
    hints += [line for line in procedure if line.startswith(("Answer", "Report"))][-1:]
    stays = [b for a, b in pairwise(steps) if a.url == b.url and a.action.startswith("click(")]
    if outcome.startswith("fail") and stays:
        hints.append(f"The run ended as failure; it was still at {steps[-1].url}.")
    else:
        hints.append(f"The run ended as {outcome}.")
    return hints


def _telling(thought: str) -> float:
    denies = any(word in DENIALS for word in words(thought))
    return 2 * len(quoted(thought)) + 2 * denies + len(_SURPRISE.findall(thought)) + len(terms(thought)) / 20

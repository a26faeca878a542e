"""The note pool: a procedure note and a hint note per trajectory, written by the controller model.

It reads the whole trajectory (goal, outcome, start url; per state url, thought, next action and
screenshot), thinking on; an unusable reply gets one repair call without thinking, then a
template that is marked as such.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from lmev2.asking import ask_with_repair, json_object, plain_text
from lmev2.journal import request_key
from lmev2.llm.door import Door, Message
from lmev2.llm.reply import usage_columns
from lmev2.prompts import Prompts
from lmev2.trajectory import Trajectory

KINDS = ("procedure", "hint")
FIELDS = ("title", "description", "content")


async def write_notes(door: Door, trajectory: Trajectory, prompts: Prompts) -> list[dict[str, Any]]:
    """The two rows of `insert/notes.parquet` for one trajectory, procedure note first."""
    asked = await ask_with_repair(
        partial(door.chat, "controller"),
        note_messages(trajectory, prompts),
        parse_notes,
        prompts.fill("notes.repair"),
    )
    notes = asked.value or template_notes(trajectory)
    rows = []
    for kind in KINDS:
        note = {"trajectory_id": trajectory.id, "kind": kind, **notes[kind], "status": str(asked.status)}
        # One call wrote both notes: its cost is booked on the first row only.
        usage = usage_columns(asked.replies if kind == KINDS[0] else [])
        shared = {
            "model": asked.replies[-1].model,
            "request": asked.replies[-1].request,
            "prompt_sha256": prompts.sha256,
        }
        rows.append(
            {"entry_id": f"{trajectory.id}/{kind}", **note, "digest": request_key(note), **usage, **shared}
        )
    return rows


def note_messages(trajectory: Trajectory, prompts: Prompts) -> list[Message]:
    """The request for a trajectory's notes."""
    actions = trajectory.annotated_actions
    head = (
        f"Goal: {trajectory.goal}\nOutcome: {trajectory.outcome or 'unknown'}\nStart: {trajectory.start_url}"
    )
    parts: list[dict[str, Any]] = [{"type": "text", "text": f"<trajectory>\n{head}"}]
    for position, state in enumerate(trajectory.states):
        lines = [f"State {state.index}", f"URL: {state.url}"]
        if state.thought:
            lines.append(f"Thought: {state.thought}")
        if position + 1 < len(actions) and actions[position + 1]:
            lines.append(f"Next action: {actions[position + 1]}")
        parts.append({"type": "text", "text": "\n".join(lines)})
        if state.screenshot:
            parts.append(state.screenshot.part())
    parts.append({"type": "text", "text": "</trajectory>\n\n" + prompts.fill("notes.user")})
    return [{"role": "system", "content": prompts.fill("notes.system")}, {"role": "user", "content": parts}]


def parse_notes(text: str) -> dict[str, dict[str, str]] | None:
    """The two notes of a reply, or None where one is missing or empty.

    Accepted besides the plain object: code fences, text around it, and bullet lists as JSON arrays.
    """
    found = json_object(text) or {}
    notes = {}
    for kind in KINDS:
        note = found.get(f"{kind}_note")
        if not isinstance(note, Mapping):
            return None
        notes[kind] = {field: plain_text(note.get(field)) for field in FIELDS}
        if not notes[kind]["title"] or not notes[kind]["content"]:
            return None
    return notes


def template_notes(trajectory: Trajectory) -> dict[str, dict[str, str]]:
    """Notes by rule, for a trajectory whose notes no model could write."""
    actions = trajectory.annotated_actions
    steps = "\n".join(f"- {action}" for action in actions if action) or "- no action was taken"
    outcome = trajectory.outcome or "unknown"
    return {
        "procedure": {
            "title": trajectory.goal,
            "description": f"Actions of one run (outcome: {outcome}).",
            "content": steps,
        },
        "hint": {
            "title": f"Outcome of a run: {trajectory.goal}",
            "description": f"The run ended with the outcome {outcome}.",
            "content": f"- The run began at {trajectory.start_url} and took {len(trajectory.states)} states.",
        },
    }


def note_text(note: Mapping[str, Any]) -> str:
    """What is embedded of a note: title, description and content."""
    return "\n".join(note[field] for field in FIELDS if note[field])

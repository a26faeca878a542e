"""The note pool: a procedure note and a hint note per trajectory, written by the controller model.

FACTS, section 5: from the whole trajectory (goal, outcome, start url; per state url, thought, next
action and screenshot), thinking on; an unusable reply gets one repair call without thinking, then a
template that is marked as such.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lmev2.journal import request_key
from lmev2.llm.door import Door, Message
from lmev2.llm.replies import json_object
from lmev2.llm.reply import Reply, usage_columns
from lmev2.prompts import Prompts
from lmev2.records import EntryStatus, Status
from lmev2.trajectory import Trajectory

KINDS = ("procedure", "hint")
FIELDS = ("title", "description", "content")


async def write_notes(door: Door, trajectory: Trajectory, prompts: Prompts) -> list[dict[str, Any]]:
    """The two rows of `insert/notes.parquet` for one trajectory, procedure note first."""
    messages = note_messages(trajectory, prompts)
    replies = [await door.chat("controller", messages)]
    notes, status = parse_notes(replies[-1]), EntryStatus.OK
    if notes is None:
        replies.append(
            await door.chat(
                "controller", repair_messages(messages, replies[-1], prompts), sampling={"thinking": False}
            )
        )
        notes, status = parse_notes(replies[-1]), EntryStatus.REPAIRED
    if notes is None:
        notes, status = template_notes(trajectory), EntryStatus.TEMPLATE
    rows = []
    for kind in KINDS:
        note = {"trajectory_id": trajectory.id, "kind": kind, **notes[kind], "status": str(status)}
        # One call wrote both notes: its cost is booked on the first row only.
        usage = usage_columns(replies if kind == KINDS[0] else [])
        shared = {"model": replies[-1].model, "request": replies[-1].request}
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


def repair_messages(messages: Sequence[Message], reply: Reply, prompts: Prompts) -> list[Message]:
    """The one further request after a reply that could not be used."""
    return [
        *messages,
        {"role": "assistant", "content": reply.text},
        {"role": "user", "content": prompts.fill("notes.repair")},
    ]


def parse_notes(reply: Reply) -> dict[str, dict[str, str]] | None:
    """The two notes of a reply, or None where one is missing or empty.

    Accepted besides the plain object: code fences, text around it, and bullet lists as JSON arrays.
    """
    found = json_object(reply.text) if reply.status == Status.OK else None
    if found is None:
        return None
    notes = {}
    for kind in KINDS:
        note = found.get(f"{kind}_note")
        if not isinstance(note, Mapping):
            return None
        notes[kind] = {field: _text(note.get(field)) for field in FIELDS}
        if not notes[kind]["title"] or not notes[kind]["content"]:
            return None
    return notes


def _text(value: Any) -> str:
    if isinstance(value, list):
        lines = [
            entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False) for entry in value
        ]
        bare = [re.sub(r"^[-*•]\s+", "", line.strip()) for line in lines]
        return "\n".join(f"- {line}" for line in bare if line)
    return value.strip() if isinstance(value, str) else ""


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
    """What is embedded of a note: title, description and content (FACTS, section 5)."""
    return "\n".join(note[field] for field in FIELDS if note[field])

"""The event pool: what changed between each pair of neighbouring states, told by the controller model.

It reads goal, outcome, the whole annotated trace of actions, the position in the run and both states
with their screenshots, without thinking. Where the model gives no reply (the trees do not
fit it) it is asked again with shorter trees; an unusable reply gets one repair call, then a template
that is marked as such. A run of one state has no events.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from lmev2.accessibility import page_title
from lmev2.asking import ask_with_repair, json_object, plain_text
from lmev2.journal import request_key
from lmev2.llm.door import Door, Message
from lmev2.llm.reply import usage_columns
from lmev2.prompts import Prompts
from lmev2.trajectory import State, Trajectory

SHORT_TREE = 12_000  # characters
SAMPLING = {"thinking": False}

Event = dict[str, str]


async def write_event(door: Door, trajectory: Trajectory, post: int, prompts: Prompts) -> dict[str, Any]:
    """The row of `insert/events.parquet` for the step from state `post` - 1 to state `post`."""
    asked = await ask_with_repair(
        partial(door.chat, "controller"),
        event_messages(trajectory, post, prompts),
        parse_event,
        prompts.fill("events.repair"),
        sampling=SAMPLING,
        shorter=event_messages(trajectory, post, prompts, most=SHORT_TREE),
    )
    event = {
        "trajectory_id": trajectory.id,
        "pre_state": post - 1,
        "post_state": post,
        **(asked.value or template_event(trajectory, post)),
        "status": str(asked.status),
        "trees_cut": asked.shortened,
    }
    return {
        "entry_id": f"{trajectory.id}/{post - 1}-{post}",
        **event,
        "digest": request_key(event),
        "prompt_sha256": prompts.sha256,
        **usage_columns(asked.replies),
    }


def event_messages(
    trajectory: Trajectory, post: int, prompts: Prompts, most: int | None = None
) -> list[Message]:
    """The request for one event.

    Args:
        trajectory: the run.
        post: the state after the step.
        prompts: `events.system` and `events.user`.
        most: longest tree in characters, None for whole trees.
    """
    actions = trajectory.annotated_actions
    head = [
        f"Goal: {trajectory.goal}",
        f"Outcome: {trajectory.outcome or 'unknown'}",
        f"Start: {trajectory.start_url}",
        "Actions of the whole run (number: the state that the action led to):",
        *(trajectory.numbered_actions or ["none"]),
        f"Step {post} of {len(trajectory.states) - 1}, from state {post - 1} to state {post}",
        f"Action of this step: {actions[post] or 'none was recorded'}",
    ]
    parts: list[dict[str, Any]] = [{"type": "text", "text": "<step>\n" + "\n".join(head)}]
    for name, number in (("before", post - 1), ("after", post)):
        state = trajectory.states[number]
        parts.append({"type": "text", "text": _state_text(name, state, actions[number], most)})
        if state.screenshot:
            parts.append(state.screenshot.part())
    parts.append({"type": "text", "text": "</step>\n\n" + prompts.fill("events.user")})
    return [{"role": "system", "content": prompts.fill("events.system")}, {"role": "user", "content": parts}]


def _state_text(name: str, state: State, action: str | None, most: int | None) -> str:
    lines = [f"<{name}>", f"State {state.index}", f"URL: {state.url}"]
    if state.thought:
        lines.append(f"Thought: {state.thought}")
    if action:
        lines.append(f"Action that led here: {action}")
    return "\n".join([*lines, "Tree:", state.tree[:most] or "(no tree was recorded)", f"</{name}>"])


def parse_event(text: str) -> Event | None:
    """Overview and transition of a reply, or None where one is missing or empty."""
    found = json_object(text) or {}
    event = {
        "overview": plain_text(found.get("overview")),
        "transition": plain_text(found.get("state_transition")),
    }
    return event if all(event.values()) else None


def template_event(trajectory: Trajectory, post: int) -> Event:
    """An event by rule, for a step that no model could describe."""
    before, after = trajectory.states[post - 1 : post + 1]
    action = trajectory.annotated_actions[post] or "no recorded action"
    return {
        "overview": f"Step {post} of {len(trajectory.states) - 1} of the run: {trajectory.goal}",
        "transition": f"{action}: from {_page(before)} to {_page(after)}.",
    }


def _page(state: State) -> str:
    return f"the page '{page_title(state.tree)}' ({state.url})"


def event_text(event: Mapping[str, Any]) -> str:
    """What is embedded of an event: overview and transition."""
    return f"{event['overview']}\n{event['transition']}"

"""The steps of a run as the states of a trajectory.

A step holds what the agent saw and the action that it then took; the benchmark keeps an action with the
state that it led to. So everything that an agent did moves to the next state.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from lmev2.ingest.agentlab.actions import split_action
from lmev2.ingest.agentlab.axtree import render_tree
from lmev2.ingest.agentlab.notes import Note
from lmev2.ingest.agentlab.unpickle import Array, RefusedNameError, UnpickleError, field, load
from lmev2.ingest.defects import Place

_STEP = re.compile(r"step_(0|[1-9][0-9]*)\.pkl\.gz")


@dataclass(frozen=True)
class Step:
    """One step as it was recorded.

    Attributes:
        number: as in its file's name.
        observation: None where there is none.
        action: what the agent did then, None after the last step.
        thought: why.
    """

    number: int
    observation: Any
    action: Any
    thought: str | None


def step_files(folder: Path) -> dict[int, Path]:
    """The step files of a run by number, in order."""
    found = {int(match[1]): path for path in folder.iterdir() if (match := _STEP.fullmatch(path.name))}
    return dict(sorted(found.items()))


def read_steps(
    folder: Path, place: Place, modules: Collection[str], *, complete: bool, notes: Counter[Note]
) -> list[Step]:
    """Read a run's steps in order; what is wrong with them is filed at `place`.

    Args:
        folder: the run's.
        place: of the run; its file is the run's folder.
        modules: as in `unpickle.load`.
        complete: whether the run came to its end; if not, its last step may have been cut in writing.
        notes: where counts are kept.
    """
    files = step_files(folder)
    for before, number in pairwise([-1, *files]):
        if number > before + 1:
            last = f" to step_{number - 1}.pkl.gz are" if number > before + 2 else " is"
            place.add(
                f"step_{before + 1}.pkl.gz{last} missing", "copy the whole run, or put _ before its name"
            )
    for path in sorted(folder.glob("step_*.pkl.gz")):
        if not _STEP.fullmatch(path.name):
            place.add(f"{path.name} is no step_N.pkl.gz", "name it by its step's number, or remove it")
    steps = []
    for number, path in files.items():
        try:
            step = load(path, modules)
        except UnpickleError as error:
            was_cut = not complete and number == max(files) and not isinstance(error, RefusedNameError)
            if was_cut:
                notes[Note.STEPS_UNREADABLE] += 1
            else:
                place.add(*unreadable(path.name, error))
            continue
        action, thought = _reply(step, notes)
        steps.append(Step(number, field(step, "obs"), action, thought))
    return steps


def unreadable(name: str, error: UnpickleError) -> tuple[str, str]:
    """Message and remedy for a file that is not read."""
    remedy = (
        "if it is a class of your own agent, name its module in dataset.agentlab.modules: nothing of it is "
        "ever run; else do not trust this file"
        if isinstance(error, RefusedNameError)
        else "copy the file again, or put _ before the name of the run's folder to leave it out"
    )
    return f"{name} is not read: {error}", remedy


def states_of(
    steps: list[Step], folder: Path, dataset: Path, notes: Counter[Note]
) -> Iterator[dict[str, Any]]:
    """The states in the released layout; `notes` is filled."""
    led: tuple[Any, str | None] = None, None  # the action that leads to the next state, and its thought
    index = 0
    for step in steps:
        if step.observation is None:
            notes[Note.STEPS_WITHOUT_OBSERVATION] += 1
            if step.action is None:
                continue  # the action before it led to the next state that was seen
            notes[Note.ACTIONS_WITHOUT_STATE] += led[0] is not None
        else:
            if index == 0 and led[0] is not None:  # state 0 has none, by definition
                notes[Note.ACTIONS_WITHOUT_STATE] += 1
                led = None, None
            yield {
                "state_index": index,
                "step": step.number,
                "url": _url(step.observation, notes),
                "action": led[0],
                "thought": led[1],
                "accessibility_tree": _tree(step.observation, notes),
                "screenshot": _screenshot(folder, step.number, dataset, notes),
            }
            index += 1
        led = step.action, step.thought
    notes[Note.ACTIONS_WITHOUT_STATE] += led[0] is not None


def _reply(step: Any, notes: Counter[Note]) -> tuple[Any, str | None]:
    """The step's action and the thoughts on it."""
    action, think = field(step, "action"), field(field(step, "agent_info"), "think")
    prose = None
    if isinstance(action, str):
        action, prose = split_action(raw := action)
        notes[Note.ACTIONS_SPLIT] += action is not None and action != raw.strip()
    thoughts = [text.strip() for text in (think, prose) if isinstance(text, str) and text.strip()]
    return action, "\n\n".join(dict.fromkeys(thoughts)) or None


def _url(observation: Any, notes: Counter[Note]) -> Any:
    url = field(observation, "url")
    if url:
        return url
    # Demo agents have no such key: the address is that of the tab in front.
    tabs, active = field(observation, "open_pages_urls"), field(observation, "active_page_index")
    places = active.values if isinstance(active, Array) else [active]
    if not isinstance(tabs, list | tuple) or len(places) != 1 or places[0] not in range(len(tabs)):
        return url
    notes[Note.URLS_FROM_TABS] += 1
    return tabs[int(places[0])]


def _tree(observation: Any, notes: Counter[Note]) -> Any:
    text = field(observation, "axtree_txt")
    if text is not None:
        return text
    if (tree := field(observation, "axtree_object")) is not None:
        try:
            text = render_tree(tree, field(observation, "extra_element_properties"))
        except (AttributeError, IndexError, KeyError, TypeError):
            notes[Note.TREES_MISSING] += 1  # no tree as the browser writes them
            return ""
        notes[Note.TREES_RENDERED] += 1
        return text
    notes[Note.TREES_MISSING] += 1
    return ""


def _screenshot(folder: Path, number: int, dataset: Path, notes: Counter[Note]) -> str | None:
    for suffix in ("png", "jpg"):
        path = folder / f"screenshot_step_{number}.{suffix}"
        if path.is_file():
            return path.relative_to(dataset).as_posix()
    notes[Note.SCREENSHOTS_MISSING] += 1
    return None

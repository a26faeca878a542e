"""What is worth telling of a run that was read: counted, never silent."""

from enum import StrEnum


class Note(StrEnum):
    """A count kept for each run; the value is its column in the table of runs."""

    STEPS_WITHOUT_OBSERVATION = "steps_without_observation"
    STEPS_UNREADABLE = "steps_unreadable"
    STEPS_NOT_SAVED = "steps_not_saved"
    ACTIONS_WITHOUT_STATE = "actions_without_state"
    ACTIONS_SPLIT = "actions_split"
    URLS_FROM_TABS = "urls_from_tabs"
    TREES_RENDERED = "trees_rendered"
    TREES_MISSING = "trees_missing"
    SCREENSHOTS_MISSING = "screenshots_missing"
    GOAL_FROM_CHAT = "goal_from_chat"
    GOAL_IMAGES = "goal_images"
    GOAL_MISSING = "goal_missing"


MEANING = {
    Note.STEPS_WITHOUT_OBSERVATION: "steps without observation: they give no state",
    Note.STEPS_UNREADABLE: "last steps of incomplete runs that were cut while they were written: left out",
    Note.STEPS_NOT_SAVED: "steps that the summary counts and that have no file",
    Note.ACTIONS_WITHOUT_STATE: "actions that led to no recorded state: left out",
    Note.ACTIONS_SPLIT: "actions that were prose with fenced code: split into thought and action",
    Note.URLS_FROM_TABS: "states without an address of their own: that of the active tab",
    Note.TREES_RENDERED: "states with the tree as an object only: written as text here",
    Note.TREES_MISSING: "states without any tree: kept with an empty one",
    Note.SCREENSHOTS_MISSING: "states without screenshot",
    Note.GOAL_FROM_CHAT: "goals that are in the chat only",
    Note.GOAL_IMAGES: "images in goals: left out, a goal is text",
    Note.GOAL_MISSING: "runs without a goal: kept with an empty one",
}

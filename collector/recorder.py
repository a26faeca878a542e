"""Drives a live BrowserGym environment with a policy and writes the run down.

The same policies run under BrowserGym's own loop, see `collector.experiments`.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oxipng
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.env import BrowserEnv
from browsergym.core.task import AbstractBrowserTask
from browsergym.utils.obs import IGNORED_AXTREE_ROLES, flatten_axtree_to_str
from PIL import Image

from collector.acts import Job, View
from collector.browser import VIEWPORT, use_system_chromium

ACTIONS = HighLevelActionSet(subsets=["chat", "infeas", "bid", "nav"], strict=False, multiaction=False)

# Recent Chromium also reports the text boxes inside each StaticText; they only repeat it.
_IGNORED_ROLES = [*IGNORED_AXTREE_ROLES, "InlineTextBox"]


def tree_text(observation: dict[str, Any]) -> str:
    """The tree with marks for what is visible and clickable, as AgentLab's generic agent reads it."""
    return flatten_axtree_to_str(
        observation["axtree_object"],
        extra_properties=observation["extra_element_properties"],
        with_visible=True,
        with_clickable=True,
        filter_visible_only=False,
        ignored_roles=_IGNORED_ROLES,
    )


class SiteTask(AbstractBrowserTask):
    """Opens a page of a local site, signed in, and lets the policy act until it stops."""

    @classmethod
    def get_task_id(cls) -> str:
        """The name under which BrowserGym knows it."""
        return "localsite"

    def __init__(
        self, seed: int, start_url: str, goal: str, login: Callable[[Any], None] | None = None
    ) -> None:
        super().__init__(seed)
        self.start_url, self.goal, self.login = start_url, goal, login
        self.viewport, self.slow_mo, self.timeout = dict(VIEWPORT), 0, 8000
        self.locale, self.timezone_id = "en-GB", "UTC"

    def setup(self, page: Any) -> tuple[str, dict[str, Any]]:
        """Sign in and open the page."""
        if self.login is not None:
            self.login(page)
        page.goto(self.start_url)
        return self.goal, {}

    def teardown(self) -> None:
        """Nothing to do."""

    def validate(self, page: Any, chat_messages: Any) -> tuple[float, bool, str, dict[str, Any]]:
        """No reward: policies know their outcome."""
        return 0.0, False, "", {}


def open_site(start_url: str, goal: str, login: Any, delay: float) -> BrowserEnv:
    """A BrowserGym environment on a page of a local site."""
    use_system_chromium()
    return BrowserEnv(
        SiteTask,
        {"start_url": start_url, "goal": goal, "login": login},
        action_mapping=ACTIONS.to_python_code,
        pre_observation_delay=delay,
    )


def record(job: Job, folder: Path) -> dict[str, Any]:
    """Run a job's policy; its trajectory in the released layout, screenshots under `folder`.

    Raises:
        PolicyError: the policy does not fit the page.
    """
    environment = open_site(job.start_url, job.goal, job.login, job.delay)
    states: list[dict[str, Any]] = []

    def note(observation: dict[str, Any], action: str | None, thought: str | None) -> View:
        view = View(tree_text(observation), observation["url"], observation["last_action_error"])
        step = len(states)
        states.append(
            {
                "state_index": step,
                "step": step,
                "url": view.url,
                "action": action,
                "thought": thought,
                "accessibility_tree": view.tree,
                "screenshot": _screenshot(observation["screenshot"], job, step, folder),
            }
        )
        return view

    try:
        observation, _ = environment.reset(seed=0)
        view = note(observation, None, None)
        policy = job.policy()
        act = next(policy, None)
        while act is not None and len(states) <= job.max_steps:
            action = act.build(view)
            observation, _, terminated, truncated, _ = environment.step(action)
            view = note(observation, action, act.thought)
            if terminated or truncated:
                break
            try:
                act = policy.send(view)
            except StopIteration:
                act = None
    finally:
        environment.close()
    return {
        "id": job.id,
        "domain": job.domain,
        "environment": job.environment,
        "goal": job.goal,
        "outcome": job.outcome,
        "start_url": job.start_url,
        "states": states,
    }


def _screenshot(pixels: Any, job: Job, step: int, folder: Path) -> str:
    """Write a screenshot in few colours; its path inside `folder`."""
    path = f"screenshots/{job.id}/{step}.png"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(pixels).quantize(
        job.colours, method=Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE
    )
    data = io.BytesIO()
    image.save(data, "PNG", optimize=True)
    small = oxipng.optimize_from_memory(data.getvalue(), level=2, filter=[oxipng.RowFilter.NoOp])
    (folder / path).write_bytes(small)
    return path

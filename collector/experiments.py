"""Runs policies under BrowserGym's own loop, which gives result folders like those of any of its agents.

They are what `dataset.source: agentlab` reads.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import browsergym.experiments.loop as loop
from browsergym.core.registration import register_task
from browsergym.experiments.agent import Agent
from browsergym.experiments.loop import AbstractAgentArgs, EnvArgs, ExpArgs
from browsergym.utils.obs import flatten_dom_to_str, prune_html

from collector.acts import Job, View
from collector.browser import use_system_chromium
from collector.recorder import ACTIONS, SiteTask, tree_text
from collector.registry import load_jobs


def _job(key: str) -> Job:
    return next(job for job in load_jobs() if job.key == key)


class KeyedTask(SiteTask):
    """The task of a job, found by its key, so that the pickled arguments stay plain data."""

    def __init__(self, seed: int, key: str) -> None:
        job = _job(key)
        super().__init__(seed, job.start_url, job.goal, job.login)


class PolicyAgent(Agent):
    """An agent that does what a policy says."""

    action_set = ACTIONS

    def __init__(self, key: str) -> None:
        self.policy, self.started = _job(key).policy(), False

    def obs_preprocessor(self, obs: dict[str, Any]) -> dict[str, Any]:
        """Flatten what the browser gives, as AgentLab's generic agent does."""
        text = flatten_dom_to_str(obs["dom_object"])
        kept = {key: value for key, value in obs.items() if key not in ("dom_object", "axtree_object")}
        return {**kept, "axtree_txt": tree_text(obs), "dom_txt": text, "pruned_html": prune_html(text)}

    def get_action(self, obs: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """The policy's next act; None when it has come to its end."""
        view = View(obs["axtree_txt"], obs["url"], obs["last_action_error"])
        try:
            act = self.policy.send(view) if self.started else next(self.policy)
        except StopIteration:
            return None, {"think": "The task is finished."}
        self.started = True
        return act.build(view), {"think": act.thought}


@dataclass
class PolicyAgentArgs(AbstractAgentArgs):
    """Names the policy of an agent."""

    agent_name: str = "ScriptedPolicy"
    key: str = ""

    def make_agent(self) -> Agent:
        """The agent."""
        return PolicyAgent(self.key)


def run_experiment(job: Job, folder: Path) -> Path:
    """Run a job under the loop; its result folder, inside `folder`.

    Raises:
        RuntimeError: the loop recorded an error.
    """
    use_system_chromium()
    # The loop counts tokens with a tokenizer that it would download; words are counted here instead.
    loop.count_tokens = lambda text, model="": len(text.split())
    loop.count_messages_token = lambda messages, model="": sum(len(str(m).split()) for m in messages)
    register_task("localsite", KeyedTask)
    experiment = ExpArgs(
        agent_args=PolicyAgentArgs(key=job.key),
        env_args=EnvArgs(
            task_name="localsite", task_seed=0, max_steps=20, headless=True, task_kwargs={"key": job.key}
        ),
        exp_name=f"ScriptedPolicy_on_{job.key.replace('/', '_')}",
    )
    folder.mkdir(parents=True, exist_ok=True)
    experiment.prepare(folder)
    experiment.run()
    if experiment.err_msg:
        raise RuntimeError(f"{job.key}: {experiment.err_msg}")
    return folder / Path(experiment.exp_dir).name

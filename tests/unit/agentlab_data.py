"""Experiment results as AgentLab and BrowserGym write them, made without either."""

import gzip
import json
import pickle
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
from dataset_factory import png

LOOP = "browsergym.experiments.loop"


_MODULES: dict[str, ModuleType] = {}


@cache
def _class(module: str, name: str) -> type:
    parts = module.split(".")
    for end in range(1, len(parts) + 1):  # pickle imports a module by way of its parents
        path = ".".join(parts[:end])
        _MODULES.setdefault(path, ModuleType(path))
    cls = type(name, (), {"__module__": module})
    setattr(_MODULES[module], name, cls)
    return cls


def instance(module: str, name: str, **fields: Any) -> Any:
    """An object of the class `module.name`, which exists as long as `dumps` runs."""
    value = _class(module, name)()
    vars(value).update(fields)
    return value


def dumps(value: Any, protocol: int = 4) -> bytes:
    """Pickle a value that may hold objects of `instance`."""
    with patch.dict(sys.modules, _MODULES):
        return pickle.dumps(value, protocol)


def observation(number: int, **fields: Any) -> dict[str, Any]:
    """What a generic agent sees at a step; None takes a field away."""
    whole = {
        "url": f"http://app.example/{number}",
        "goal": "Buy the lamp.",
        "goal_object": None,
        "chat_messages": [
            {"role": "assistant", "message": "Hi! What can I do for you?"},
            {"role": "user", "message": "Buy the lamp, said the chat."},
        ],
        "axtree_txt": f"RootWebArea 'Page {number}'\n\t[1{number}] button 'Next'",
        "open_pages_urls": ["http://app.example/other", f"http://app.example/tab/{number}"],
        "active_page_index": np.array([1]),
        "last_action_error": "",
        **fields,
    }
    return {key: value for key, value in whole.items() if value is not None}


def step(number: int, action: str | None, obs: Any = ..., think: str | None = None, **fields: Any) -> Any:
    """A StepInfo; its agent saw `obs` (by default a page) and then took `action`."""
    return instance(
        LOOP,
        "StepInfo",
        step=number,
        obs=observation(number) if obs is ... else obs,
        reward=np.float64(0.0),
        action=action,
        agent_info={"think": think, "stats": {"tokens": np.int64(5)}},
        **fields,
    )


def write_run(
    folder: Path,
    steps: Iterable[Any] | None = None,
    *,
    task: str = "shop.buy",
    summary: dict[str, Any] | bytes | Literal[False] | None = None,
    reward: float = 1.0,
    goal: Any = ({"type": "text", "text": "Buy the lamp."},),
    protocol: int = 4,
) -> Path:
    """Write the folder of a run.

    Args:
        folder: to be made.
        steps: by default two clicks and a step without action.
        task: name of its task.
        summary: what its summary holds beyond the usual; bytes are the whole file; False: no file.
        reward: cumulative.
        goal: its goal_object; None: no file.
        protocol: of its pickles.
    """
    if steps is None:
        steps = [step(0, "click('10')", think="To the next."), step(1, "click('11')"), step(2, None)]
    steps = list(steps)
    folder.mkdir(parents=True)
    arguments = instance("agentlab.experiments.loop", "ExpArgs")
    arguments.env_args = instance(LOOP, "EnvArgs", task_name=task, task_seed=3)
    arguments.agent_args = instance("agentlab.agents.generic_agent", "GenericAgentArgs", flags=None)
    (folder / "exp_args.pkl").write_bytes(dumps(arguments, protocol))
    for value in steps:
        path = folder / f"step_{value.step}.pkl.gz"
        path.write_bytes(gzip.compress(dumps(value, protocol)))
        (folder / f"screenshot_step_{value.step}.png").write_bytes(png(value.step))
    if goal is not None:
        (folder / "goal_object.pkl.gz").write_bytes(gzip.compress(pickle.dumps(goal)))
    if isinstance(summary, bytes):
        (folder / "summary_info.json").write_bytes(summary)
    elif summary is not False:
        whole = {"n_steps": len(steps) - 1, "cum_reward": reward, "err_msg": None, **(summary or {})}
        (folder / "summary_info.json").write_text(json.dumps(whole))
    return folder

"""The config's `models.agent` as an AgentSpec, and the agent behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmev2.agent.inside import searcher
from lmev2.agent.interface import Agent, AgentSetupError, AgentSpec
from lmev2.agent.sandbox import Sandbox
from lmev2.llm.address import address
from lmev2.llm.models import OPENAI
from lmev2.provenance import code_digest

FOLDER = Path(__file__).parent
# provider -> (module, isolation unless the config says otherwise, version likewise)
PROVIDERS = {
    "embedded": ("embedded.py", "none", ""),
    "codex": ("codex.py", "bubblewrap", "0.117.0"),  # the paper's; another version is another agent
    "openai_agents": ("openai_agents.py", "bubblewrap", ""),
    "command": ("command.py", "bubblewrap", ""),
}
# What starts and bounds an agent, but decides nothing of what it finds.
CARRIERS = (
    *("llm", "money", "journal.py", "prompts", "provenance.py", "records.py", "store.py", "errors.py"),
    *("agent/sandbox.py", "agent/proxy.py", "agent/interface.py", "agent/inside/launcher.py"),
)


def agent_spec(config: Mapping[str, Any]) -> AgentSpec:
    """The agent that a resolved config names.

    Raises:
        ValueError: the embedded provider has no such program.
    """
    section = config["models"]["agent"]
    provider = section["provider"]
    module, isolation, version = PROVIDERS[provider]
    if provider == "embedded":
        if section["model"] != "searcher":
            raise ValueError(
                f"models.agent.model: no embedded agent {section['model']!r}; there is 'searcher'"
            )
        code = code_digest(FOLDER / module, searcher.__file__, leave_out=CARRIERS)
    else:
        code = code_digest(FOLDER / module, leave_out=CARRIERS)
    return AgentSpec(
        provider=provider,
        model=section["model"],
        version=section["version"] or version,
        isolation=section["isolation"] or isolation,
        code=code,
        command=tuple(section["command"]),
        # Like the other models'; a command may need none.
        base_url=section["base_url"] or (OPENAI if provider in ("codex", "openai_agents") else None),
        api_key_env=section["api_key_env"],
        prices=config["prices"].get(section["model"], {}),
        disk_mb=section["limits"]["disk_mb"],
    )


def make_agent(spec: AgentSpec, hidden: Sequence[Path] = ()) -> Agent:
    """The agent, ready to run.

    Args:
        spec: which one.
        hidden: folders that no sandbox may show, such as the project's.

    Raises:
        AgentSetupError: something that it needs is not installed or not set.
    """
    sandbox = Sandbox(spec.isolation, disk_mb=spec.disk_mb, hidden=[Path.home(), *hidden])
    sandbox.check()
    if spec.provider == "embedded":
        from lmev2.agent.embedded import Searcher as Provider
    elif spec.provider == "codex":
        from lmev2.agent.codex import Codex as Provider
    elif spec.provider == "command":
        from lmev2.agent.command import Command as Provider
    elif spec.provider == "openai_agents":
        from lmev2.agent.openai_agents import OpenAIAgents as Provider
    else:
        raise AgentSetupError(f"models.agent.provider: there is no {spec.provider!r}")
    return Provider(replace(spec, base_url=address(spec.base_url, "models.agent")), sandbox)

"""What every coding agent is given and gives back, whatever program or model is behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lmev2.errors import UserError
from lmev2.llm.faults import TransientError

OUTPUT_FILE = "memory_module_output.json"
EFFORTS = ("low", "medium", "high", "xhigh")
# Most bytes kept of what an attempt leaves behind.
MOST_OUTPUT, MOST_STDOUT, MOST_STDERR = 1_000_000, 4_000_000, 100_000


class AgentSetupError(UserError):
    """An agent cannot run on this machine as the config asks; the message says what to install or set."""


class AgentUnreachableError(TransientError):
    """The agent's model cannot be reached: not the agent's fault, so nothing is settled for the question."""


class AgentFailedError(Exception):
    """No attempt gave a usable output: final for this question (status `agent_failed`)."""


@dataclass(frozen=True)
class Task:
    """What one attempt is to do.

    `turns` bounds the calls of the model where the agent's loop is ours (Codex has no such limit).
    """

    prompt: str
    effort: str
    timeout_s: float
    turns: int


@dataclass(frozen=True)
class Attempt:
    """What one attempt left behind.

    Attributes:
        exit_code: of the agent's process; None when it was killed at its time limit.
        seconds: wall time.
        stdout: the event stream (`lmev2.agent.events`), cut at MOST_STDOUT bytes.
        line_seconds: when each line of stdout had come, counted from the start; empty if nobody looked.
        stderr: likewise, cut at MOST_STDERR bytes.
        output: bytes of memory_module_output.json, None without one.
        fault: why there is no output; "" if there is one.
        unreachable: the last fault of the model's endpoint, "" if it answered.
        model_calls: calls of the model, where they can be counted.
    """

    exit_code: int | None
    seconds: float
    stdout: str = ""
    stderr: str = ""
    output: bytes | None = None
    fault: str = ""
    unreachable: str = ""
    model_calls: int = 0
    line_seconds: tuple[float, ...] = ()


@dataclass(frozen=True)
class AgentSpec:
    """The agent of the config (`models.agent`), split like a model: `identity` is what changes results.

    Attributes:
        provider: "embedded", "codex", "openai_agents" or "command".
        isolation: "bubblewrap" or "none".
        code: digest of the code that runs it.
        command: the program; for "codex" where it is installed.
    """

    provider: str
    model: str
    version: str
    isolation: str
    code: str = ""
    command: tuple[str, ...] = ()
    base_url: str | None = None
    api_key_env: str | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    disk_mb: int = 256

    @property
    def name(self) -> str:
        """As tables and figures name it; an agent that ran unprotected says so."""
        note = " (no isolation)" if self.isolation == "none" and self.provider != "embedded" else ""
        return f"{self.provider}:{self.model}{note}"

    def identity(self) -> dict[str, Any]:
        """What an answer of this agent depends on."""
        identity = {"provider": self.provider, "model": self.model, "isolation": self.isolation}
        identity["code"] = self.code
        if self.provider == "command":
            identity["command"] = list(self.command)
        return {**identity, "version": self.version} if self.version else identity


class Agent(Protocol):
    """A coding agent: looks for evidence in a prepared folder and writes memory_module_output.json there."""

    spec: AgentSpec

    async def run(self, workspace: Path, task: Task) -> Attempt:
        """One attempt in the folder `workspace` (see `lmev2.agent.workspace`)."""

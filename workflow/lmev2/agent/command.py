"""Any executable as an agent: it is started in the question's folder and writes memory_module_output.json.

It finds the task as any agent does, and in its environment:

- LMEV2_PROMPT, LMEV2_EFFORT: what Codex is told on its command line
- OPENAI_BASE_URL: where it reaches its model, if `models.agent.base_url` names one; no key is needed

In the sandbox it has no other network, and its own shell commands have the same one: they too can reach
the model, never the key. Its stdout may be an event stream (`lmev2.agent.events`).
"""

import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from lmev2.agent.interface import AgentSetupError, AgentSpec, Attempt, Task
from lmev2.agent.proxy import ModelProxy
from lmev2.agent.sandbox import Program, Sandbox


class Command:
    """Runs `models.agent.command`."""

    def __init__(self, spec: AgentSpec, sandbox: Sandbox) -> None:
        self.spec = spec
        self._sandbox = sandbox
        if not spec.command:
            raise AgentSetupError("models.agent.command: missing; the words of the agent's command")
        found = shutil.which(spec.command[0])
        if found is None:
            raise AgentSetupError(f"models.agent.command: there is no program {spec.command[0]!r}")
        program = Path(found).resolve()
        files = [program, *(Path(word).resolve() for word in spec.command[1:] if Path(word).is_file())]
        self._words = [str(program), *(_absolute(word) for word in spec.command[1:])]
        self._mounts = {str(file): str(file) for file in files if not file.is_relative_to("/usr")}
        if spec.base_url:
            ModelProxy(spec.base_url, spec.api_key_env)

    async def run(self, workspace: Path, task: Task) -> Attempt:
        """One run of the program."""
        environment = {"LMEV2_PROMPT": task.prompt, "LMEV2_EFFORT": task.effort}
        with (
            ModelProxy(self.spec.base_url, self.spec.api_key_env) if self.spec.base_url else nullcontext()
        ) as proxy:
            if proxy:
                environment["OPENAI_BASE_URL"] = "http://127.0.0.1:@MODEL_PORT@/v1"
                environment["OPENAI_API_KEY"] = "none-needed"
            program = Program(self._words, environment, self._mounts, proxy.socket if proxy else None)
            attempt = await self._sandbox.run(workspace, program, timeout_s=task.timeout_s)
            if not proxy:
                return attempt
            return replace(attempt, unreachable=proxy.fault, model_calls=proxy.calls)


def _absolute(word: str) -> str:
    return str(Path(word).resolve()) if Path(word).is_file() else word

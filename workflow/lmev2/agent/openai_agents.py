"""Any OpenAI-compatible model as an agent: OpenAI's Agents SDK with one tool, a shell in the sandbox.

The loop runs here and holds the key; only the shell commands run in the sandbox, which has no network at
all. The SDK is the one of the benchmark's later AgentRunbook-C v2 and speaks to any chat-completions
server; it is an extra of this package, as only this provider needs it: pip install 'lmev2[agents]'.
"""

import asyncio
import json
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lmev2.agent.events import DURATION
from lmev2.agent.interface import AgentSetupError, AgentSpec, Attempt, Task
from lmev2.agent.sandbox import Sandbox, Shell

_COMMAND_S, _MOST_COMMAND_S = 30.0, 120.0
_MOST_BYTES = 30_000  # of one command's output, for the model


class OpenAIAgents:
    """Runs the SDK's loop once per attempt."""

    def __init__(self, spec: AgentSpec, sandbox: Sandbox) -> None:
        self.spec = spec
        self._sandbox = sandbox
        if find_spec("agents") is None:
            raise AgentSetupError("models.agent: the Agents SDK is missing: pip install 'lmev2[agents]'")
        if spec.api_key_env and not os.environ.get(spec.api_key_env):
            raise AgentSetupError(
                f"models.agent.api_key_env: the environment variable {spec.api_key_env} is not set"
            )

    async def run(self, workspace: Path, task: Task) -> Attempt:
        """One conversation, whose commands are told as Codex tells its own."""
        import agents
        import openai

        agents.set_tracing_disabled(True)  # it would send every step to OpenAI
        key = os.environ[self.spec.api_key_env] if self.spec.api_key_env else "none-needed"
        events = _Events()
        used, counter = _counter()
        code, fault, unreachable = 0, "", ""
        began = time.perf_counter()
        async with (
            openai.AsyncOpenAI(base_url=self.spec.base_url, api_key=key, max_retries=3) as client,
            self._sandbox.shell(workspace) as shell,
        ):
            agent = agents.Agent(
                name="memory",
                model=agents.OpenAIChatCompletionsModel(model=self.spec.model, openai_client=client),
                model_settings=agents.ModelSettings(reasoning={"effort": task.effort}, include_usage=True),
                tools=[_shell_tool(shell, events)],
            )
            running = agents.Runner.run(agent, task.prompt, max_turns=task.turns, hooks=counter)
            try:
                result = await asyncio.wait_for(running, task.timeout_s)
                events.message(str(result.final_output or ""))
            except TimeoutError:
                code, fault = None, f"out of time after {task.timeout_s:g} s"
            except agents.MaxTurnsExceeded:
                events.error(f"{task.turns} turns were not enough")
            except agents.AgentsException as error:
                code = 1
                events.error(f"{type(error).__name__}: {error}")
            except (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError) as error:
                code, unreachable = 1, f"{type(error).__name__}: {error}"
                events.error(unreachable)
            except openai.APIStatusError as error:
                code = 1
                # Refused for the key or the address: no fault of this question.
                unreachable = f"HTTP {error.status_code}" if error.status_code in (401, 403, 404) else ""
                events.error(f"HTTP {error.status_code}: {error.message}")
            seconds = time.perf_counter() - began
            output, no_output, stderr = None, "", ""
            if code is not None:
                output, no_output, stderr = await shell.close()
        events.usage(used.input_tokens, used.output_tokens)
        return Attempt(
            code,
            seconds,
            events.text,
            stderr,
            output,
            fault or no_output,
            unreachable,
            model_calls=used.requests,
        )


class _Events:
    """An event stream in the form of Codex's."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def command(self, command: str, reply: dict[str, Any], seconds: float) -> None:
        item = {"type": "command_execution", "command": command, "aggregated_output": reply["output"]}
        item["exit_code"] = reply["exit_code"]
        self._add({"type": "item.completed", "item": item, DURATION: round(seconds, 3)})

    def message(self, text: str) -> None:
        self._add({"type": "item.completed", "item": {"type": "agent_message", "text": text}})

    def usage(self, input_tokens: int, output_tokens: int) -> None:
        usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        self._add({"type": "turn.completed", "usage": usage})

    def error(self, message: str) -> None:
        self._add({"type": "error", "message": message})

    def _add(self, event: dict[str, Any]) -> None:
        self._lines.append(json.dumps(event))

    @property
    def text(self) -> str:
        return "\n".join(self._lines)


def _counter() -> tuple[Any, Any]:
    """What the model has used, and the hooks that count it: a conversation that is cut short costs too."""
    import agents

    used = agents.Usage()

    class Counter(agents.RunHooks):
        async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
            used.add(response.usage)

    return used, Counter()


def _shell_tool(shell: Shell, events: _Events) -> Any:
    import agents

    lock = asyncio.Lock()  # a model may ask for several commands at once; the sandbox has one shell

    @agents.function_tool(name_override="shell")
    async def run_shell(command: str, timeout_s: float = _COMMAND_S) -> str:
        """Run one shell command in the working folder and return its output and exit code.

        Args:
            command: the command, for /bin/sh.
            timeout_s: seconds after which it is ended.
        """
        async with lock:
            began = time.perf_counter()
            reply = await shell.run(
                command, timeout_s=min(max(timeout_s, 1.0), _MOST_COMMAND_S), most_bytes=_MOST_BYTES
            )
            seconds = time.perf_counter() - began
        events.command(command, reply, seconds)
        code = "out of time" if reply["exit_code"] is None else f"exit code {reply['exit_code']}"
        cut = f"\n[{reply['cut']} bytes left out]" if reply["cut"] else ""
        return f"{reply['output']}{cut}\n[{code}]"

    return run_shell

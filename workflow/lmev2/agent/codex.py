"""The Codex CLI as an agent: in bubblewrap outside, in Codex's own `workspace-write` sandbox inside.

Codex's own sandbox cuts its shell commands off the network, bubblewrap hides the machine from both. Codex
itself reaches its model through `lmev2.agent.proxy`, so that the key is nowhere in the sandbox.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lmev2.agent.interface import AgentSetupError, AgentSpec, Attempt, Task
from lmev2.agent.proxy import ModelProxy
from lmev2.agent.sandbox import Program, Sandbox

# Features that would call elsewhere; without a network they only cost seconds.
_OFF = ("plugins", "apps", "multi_agent")


class Codex:
    """Runs `codex exec` once per attempt."""

    def __init__(self, spec: AgentSpec, sandbox: Sandbox) -> None:
        self.spec = spec
        self._sandbox = sandbox
        self._program, self._mounts = _installed(spec, isolated=sandbox.isolated)
        ModelProxy(spec.base_url, spec.api_key_env)  # refuses here what it could only refuse in each query

    async def run(self, workspace: Path, task: Task) -> Attempt:
        """One session; its event stream is the attempt's stdout."""
        with ModelProxy(self.spec.base_url, self.spec.api_key_env) as proxy:
            program = Program(
                [*self._program, *self._arguments(task)], mounts=self._mounts, model_socket=proxy.socket
            )
            attempt = await self._sandbox.run(workspace, program, timeout_s=task.timeout_s)
            return replace(attempt, unreachable=proxy.fault, model_calls=proxy.calls)

    def _arguments(self, task: Task) -> list[str]:
        provider = (
            '{name="lmev2",base_url="http://127.0.0.1:@MODEL_PORT@/v1",wire_api="responses",'
            "request_max_retries=3,stream_max_retries=3}"
        )
        mode = (
            ["--sandbox", "workspace-write"]
            if self._sandbox.isolated
            else ["--dangerously-bypass-approvals-and-sandbox"]
        )
        settings = {
            "model_provider": '"lmev2"',
            "model_providers.lmev2": provider,
            "model_reasoning_effort": json.dumps(task.effort),
            # Without it the effort is dropped in silence for models that Codex does not know.
            "model_supports_reasoning_summaries": "true",
            "web_search": '"disabled"',
            # Without a network its last report waits 5 s for a name, which would count as latency.
            "analytics.enabled": "false",
            # Not even the proxy's port is for its shell commands.
            "sandbox_workspace_write.network_access": "false",
        }
        words = ["exec", "--skip-git-repo-check", *mode, "--json", "-m", self.spec.model]
        words += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        words += [word for name in _OFF for word in ("--disable", name)]
        return [*words, task.prompt]


def _installed(spec: AgentSpec, *, isolated: bool) -> tuple[Sequence[str], Mapping[str, str]]:
    """Codex's words and what the sandbox must show for them.

    Raises:
        AgentSetupError: it is not installed, or another version is.
    """
    name = spec.command[0] if spec.command else "codex"
    found = shutil.which(name)
    if found is None:
        raise AgentSetupError(
            f"models.agent: there is no Codex at {name!r}: npm install -g @openai/codex@{spec.version}, or "
            "name its place in models.agent.command"
        )
    done = subprocess.run(
        [found, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    version = done.stdout.strip().rpartition(" ")[2]
    if version != spec.version:
        raise AgentSetupError(
            f"models.agent: {found} is Codex {version or 'of no known version'}, the config asks for "
            f"{spec.version}: npm install -g @openai/codex@{spec.version}, or set models.agent.version"
        )
    binary = _native(Path(found).resolve()).resolve()
    if not isolated:
        return [str(binary)], {}
    if binary.parent.name == "codex" and binary.parent.parent.joinpath("path").is_dir():
        return ["/opt/codex/codex/codex"], {str(binary.parent.parent): "/opt/codex"}
    return ["/opt/codex"], {str(binary): "/opt/codex"}


def _native(script: Path) -> Path:
    """The program behind npm's start script, so that no node is needed in the sandbox."""
    if script.suffix != ".js":
        return script
    package = script.parents[1]  # @openai/codex; its platform package lies beside or below it
    patterns = ("../codex-*/", "node_modules/@openai/codex-*/", "")
    found = [path for part in patterns for path in sorted(package.glob(f"{part}vendor/*/codex/codex"))]
    if not found:
        raise AgentSetupError(
            f"models.agent: the platform package of {script} is missing: install Codex again"
        )
    return found[0]

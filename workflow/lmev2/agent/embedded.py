"""The embedded agent (`inside/searcher.py`), run as a process like any other; no model, no network."""

import sys
from pathlib import Path

from lmev2.agent.inside import searcher
from lmev2.agent.interface import AgentSpec, Attempt, Task
from lmev2.agent.sandbox import Program, Sandbox


class Searcher:
    """Runs the searcher. It is a trusted program of ours, so it is safe without isolation too."""

    def __init__(self, spec: AgentSpec, sandbox: Sandbox) -> None:
        self.spec = spec
        self._sandbox = sandbox

    async def run(self, workspace: Path, task: Task) -> Attempt:
        """One search."""
        place = "/run/searcher.py" if self._sandbox.isolated else searcher.__file__
        python = str(Path(sys.executable).resolve())
        program = Program(
            [python, "-I", "-S", place, task.effort], mounts={searcher.__file__: "/run/searcher.py"}
        )
        return await self._sandbox.run(workspace, program, timeout_s=task.timeout_s)

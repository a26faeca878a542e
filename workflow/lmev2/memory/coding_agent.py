"""Coding agents as memory: Codex, AgentRunbook-C and its ablations (paper, appendix C.3; docs/methods.md).

Trajectories are files; at query time an agent looks for the evidence in a folder of its own and writes down
where it is. Which agent does the work is the config's `models.agent`; this module decides what it finds in
the folder and what becomes of its answer.
"""

import json
from collections.abc import Mapping
from typing import Any

from lmev2.agent.events import kept_stream, read_stream
from lmev2.agent.interface import AgentFailedError, AgentUnreachableError, Attempt, Task
from lmev2.agent.output import Evidence, OutputError, parse_output
from lmev2.agent.workspace import HaystackFolder, instruction, workspace
from lmev2.memory.protocol import HaystackView, Item, Question, Services
from lmev2.memory.render import render_spans

_MOST_STDERR, _MOST_OUTPUT = 4_000, 20_000  # characters kept in the trace


class Codex:
    """The plain agent: the trajectories' files and a task, no help beyond that.

    Options:
        effort: reasoning effort: low, medium or xhigh (the paper's Table 2).
        timeout_s: seconds for one attempt (1,800 in the paper).
        turns: most calls of the model in one attempt, where the loop is ours (provider openai_agents).
        attempts: how often it may try in all until its output is usable (3 in the paper).
        output: "official" or "lenient": how strictly the output is read (`lmev2.agent.output`).
    """

    roles: tuple[str, ...] = ("agent",)
    prompts: tuple[str, ...] = ("agent_",)
    defaults: Mapping[str, Any] = {
        "effort": "xhigh",
        "timeout_s": 1800.0,
        "turns": 30,
        "attempts": 3,
        "output": "official",
    }
    instructions = "agent_plain"  # the template of INSTRUCTION.md
    manifests = helper = False

    def __init__(self, options: Mapping[str, Any], services: Services) -> None:
        self.options = {**self.defaults, **options}
        self.services = services
        holds = {"manifests": self.manifests, "helper": self.helper}
        self._instructions = instruction(services.prompts.fill(self.instructions), **holds)
        self._task = Task(
            prompt=services.prompts.fill("agent_prompt"),
            effort=self.options["effort"],
            timeout_s=self.options["timeout_s"],
            turns=self.options["turns"],
        )

    def attach(self, view: HaystackView) -> None:
        """Lay the haystack out as files, once for all its questions."""
        self.view = view
        rows = self.services.files.rows(view.trajectory_ids)
        self._n_states = {row["trajectory_id"]: row["n_states"] for row in rows}
        self._haystack = HaystackFolder(self.services.files.store, rows, manifests=self.manifests)

    def close(self) -> None:
        """Remove the haystack's folder; the trajectories' own files stay."""
        self._haystack.close()

    async def query(self, question: Question) -> list[Item]:
        """The agent's text, then the states that it points to; raises as `ask`."""
        evidence = await self.ask(self._haystack, question)
        self.services.trace(dropped=evidence.dropped, mended=evidence.mended)
        with self.services.timed("render_s"):
            ids = {span.trajectory_id for span in evidence.spans}
            trajectories = {id_: self.view.trajectory(id_) for id_ in ids}
            return render_spans(evidence.markdown, evidence.spans, trajectories)

    async def ask(self, haystack: HaystackFolder, question: Question) -> Any:
        """What `parse` makes of the first usable output of the agent over `haystack`.

        Raises:
            AgentFailedError: no attempt gave a usable output.
            AgentUnreachableError: the agent's model could not be reached in the last attempt.
        """
        attempts: list[dict[str, Any]] = []
        found, unreachable = None, ""
        while found is None and len(attempts) < self.options["attempts"]:
            with workspace(
                haystack, question.text, question.image, self._instructions, helper=self.helper
            ) as folder:
                attempt = await self.services.agent.run(folder, self._task)
            found, fault = self._found(attempt)
            unreachable = attempt.unreachable if found is None else ""
            attempts.append(_kept(attempt, fault))
            self.services.trace(
                attempts=attempts,
                effort=self._task.effort,
                agent=self.services.agent.spec.name,
                isolation=self.services.agent.spec.isolation,
            )
        if unreachable:
            raise AgentUnreachableError(f"the agent's model cannot be reached: {unreachable}")
        if found is None:
            reasons = "; ".join(f"{number}. {kept['fault']}" for number, kept in enumerate(attempts, 1))
            raise AgentFailedError(f"no usable output in {len(attempts)} attempts: {reasons}")
        return found

    def parse(self, output: bytes) -> Evidence:
        """The evidence in an output; an `OutputError` rejects the attempt."""
        return parse_output(output, self._n_states, self.options["output"])

    def _found(self, attempt: Attempt) -> tuple[Any, str]:
        if attempt.output is None:
            return None, attempt.fault or "no output"
        try:
            return self.parse(attempt.output), ""
        except OutputError as error:
            return None, str(error)


class AgentRunbookC(Codex):
    """The agent with a workflow document, manifests of the haystack and a helper script.

    Options: those of `Codex`, and
        workflow: the workflow document; without it plain instructions.
        manifests: the two summaries; without them every sentence about them is gone too.
        helper: the script; likewise.
    """

    defaults: Mapping[str, Any] = {**Codex.defaults, "workflow": True, "manifests": True, "helper": True}

    def __init__(self, options: Mapping[str, Any], services: Services) -> None:
        chosen = {**self.defaults, **options}
        self.manifests, self.helper = chosen["manifests"], chosen["helper"]
        self.instructions = "agent_workflow" if chosen["workflow"] else "agent_plain"
        super().__init__(options, services)


def _kept(attempt: Attempt, fault: str) -> dict[str, Any]:
    """What is stored of an attempt with its row, bounded in size."""
    stream = read_stream(attempt.stdout)
    output = (attempt.output or b"").decode("utf-8", "replace")
    kept = {
        "fault": fault,
        "exit_code": attempt.exit_code,
        "seconds": round(attempt.seconds, 3),
        "error": stream.error,
        "last_message": stream.last_message[:_MOST_STDERR],
        "events": kept_stream(attempt.stdout, attempt.line_seconds),
        "stderr": attempt.stderr[-_MOST_STDERR:],
        "output": output[:_MOST_OUTPUT],
    }
    # JSON can hold half a surrogate pair, which no file could.
    return json.loads(json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace"))

"""A pilot study: a coding agent answers itself, from the files of the answer trajectories (paper, Figure 4).

Like the other pilot studies it reads the evidence labels and is asked the non-abstention questions only.
"""

from collections.abc import Mapping
from typing import Any

from lmev2.agent.output import parse_answer
from lmev2.agent.workspace import HaystackFolder
from lmev2.memory.coding_agent import Codex
from lmev2.memory.oracle import choose_evidence
from lmev2.memory.oracle_questions import TABLE, OracleQuestion
from lmev2.memory.protocol import HaystackView, Item


class OracleFilesAgent(Codex):
    """The agent finds the trajectories of `OracleTrajectories` as files, and its answer is scored.

    Options: those of `Codex` but for `output`, which is always read strictly.
    """

    labels = True
    answers = True  # the one item of the context is the response: the reader is not asked
    instructions = "oracle_answer"
    defaults: Mapping[str, Any] = {key: value for key, value in Codex.defaults.items() if key != "output"}

    @classmethod
    def needs(cls, options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """The agent, its prompts, and the labels."""
        prompts = ("agent_prompt", cls.instructions)
        return {"roles": cls.roles, "prompts": prompts, "private_tables": (TABLE,)}

    def attach(self, view: HaystackView) -> None:
        """Take the haystack; files are laid out for each question."""
        self.view = view

    def close(self) -> None:
        """Nothing is left after a query."""

    async def query(self, question: OracleQuestion) -> list[Item]:
        """The agent's answer; raises as `ask`."""
        chosen = choose_evidence(question.hops, self.view.trajectory_ids)
        files = self.services.files
        folder = HaystackFolder(files.store, files.rows(list(chosen)), manifests=False)
        try:
            return [Item("text", text=await self.ask(folder, question), source="answer")]
        finally:
            folder.close()

    def parse(self, output: bytes) -> str:
        """The answer in an output; an `OutputError` rejects the attempt."""
        return parse_answer(output)

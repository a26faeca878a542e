"""One haystack of a tier: the answers, fillers, and the order (paper, appendix A.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmev2.haystack.draws import shuffled
from lmev2.haystack.evidence import Domain, Group
from lmev2.haystack.fillers import fill, support_levels


@dataclass(frozen=True)
class Tier:
    """How haystacks of a tier are made.

    Attributes:
        name: of the tier.
        size: trajectories in a haystack.
        least: fewest that will do where the pool has no more; `size` by default.
        shared: one haystack for all questions of a domain, or one for each.
        seed: of draws.
    """

    name: str
    size: int
    least: int
    shared: bool
    seed: int

    @classmethod
    def of(cls, name: str, section: Mapping[str, Any], seed: int) -> "Tier":
        """The tier that a section `haystack.tiers.<name>` of the config describes."""
        least = section["size"] if section["least"] is None else section["least"]
        return cls(name, section["size"], least, section["shared"], seed)

    @property
    def keys(self) -> str:
        """What to lower in the config where there are too few trajectories."""
        return f"haystack.tiers.{self.name}.size, or set its least"

    def shared_fault(self, domain: Domain, core: Sequence[int]) -> str | None:
        """Why the questions of a domain cannot share a haystack."""
        questions = f"question {domain.groups[0].anchor!r} and all others of domain {domain.name!r}"
        if len(core) > self.size:
            return (
                f"tier {self.name!r}, {questions}: their answer core has {len(core)} trajectories, "
                f"{len(core) - self.size} more than the haystack; raise haystack.tiers.{self.name}.size, "
                "or set its shared to false"
            )
        if len(domain.ids) < self.least:
            return (
                f"tier {self.name!r}, {questions}: the pool has {len(domain.ids)} trajectories, "
                f"{self.least - len(domain.ids)} too few for {self.least}; add trajectories, or lower "
                f"{self.keys}"
            )
        return None

    def own_fault(self, domain: Domain, group: Group, answers: Sequence[int]) -> str | None:
        """Why a question cannot have a haystack of its own."""
        question = f"question {group.anchor!r}"
        if len(answers) > self.size:
            return (
                f"tier {self.name!r}, {question}: its answer takes {len(answers)} trajectories, "
                f"{len(answers) - self.size} more than the haystack; raise haystack.tiers.{self.name}.size"
            )
        others = len(domain.ids) - len(group.evidence)
        if (have := len(answers) + others) < self.least:
            return (
                f"tier {self.name!r}, {question}: {len(answers)} answer trajectories and the {others} of "
                f"domain {domain.name!r} without its answer are {have}, {self.least - have} too few for "
                f"{self.least}; add trajectories without its answer, or lower {self.keys}"
            )
        return None

    def shared_haystack(self, domain: Domain, core: Sequence[int]) -> list[str]:
        """The core and fillers of little answer support, for all questions of the domain."""
        members = fill(domain, core, self.size, (), support_levels(domain), self._name(domain))
        return shuffled((domain.ids[member] for member in members), "order", self._name(domain))

    def own_haystack(
        self, domain: Domain, group: Group, answers: Sequence[int], rank: np.ndarray
    ) -> list[str]:
        """The selected answer trajectories of a question, and fillers that do not hold its answer.

        Args:
            domain: the pool.
            group: the question and those that share its haystack.
            answers: their selected answer trajectories.
            rank: (trajectories,) as in `fill`.
        """
        name = f"{self._name(domain)} {group.anchor}"
        members = fill(domain, answers, self.size, group.evidence, rank, name)
        return shuffled((domain.ids[member] for member in members), "order", name)

    def _name(self, domain: Domain) -> str:
        return f"{self.seed} {self.name} {domain.name}"

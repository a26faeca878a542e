"""The problem of the answer core: which trajectories, so that every hop has one that holds its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmev2.haystack.draws import draw
from lmev2.haystack.evidence import Domain

_UNIT = 1000  # costs are whole numbers, so that equal means equal
_TIES = 2**14


@dataclass(frozen=True)
class Cover:
    """Trajectories to choose from, compared by size, then cost, then ties.

    Attributes:
        serves: (hops, trajectories), whether a trajectory holds a hop's evidence.
        cost: (trajectories,) of choosing each, whole numbers.
        outcomes: (trajectories,) 1 success, -1 failure, 0 other.
        imbalance: cost of each success without failure, or the reverse.
        ties: (trajectories,) whole numbers by which equal choices are told apart.
    """

    serves: np.ndarray
    cost: np.ndarray
    outcomes: np.ndarray
    imbalance: int
    ties: np.ndarray

    @cached_property
    def numbers(self) -> np.ndarray:
        """`serves` as 0 and 1."""
        return self.serves.astype(float)

    def value(self, members: list[int]) -> tuple[int, int, int]:
        """Size, cost and ties of a choice: less is better, the first that differs decides."""
        uneven = abs(int(self.outcomes[members].sum()))
        cost = int(self.cost[members].sum()) + self.imbalance * uneven
        return len(members), cost, int(self.ties[members].sum())

    def covers(self, members: list[int]) -> bool:
        """Whether every hop has a member that holds its evidence."""
        return bool(self.serves[:, members].any(axis=1).all())

    def within(self, hops: np.ndarray, members: list[int]) -> "Cover":
        """The problem of some hops alone, to be served by `members`; balance does not count."""
        return Cover(
            self.serves[np.ix_(hops, members)],
            self.cost[members],
            self.outcomes[members],
            0,
            self.ties[members],
        )


def cover_of(domain: Domain, preferences: Mapping[str, float], seed: int) -> Cover:
    """The problem of a domain, with the paper's preferences as costs (appendix A.4).

    A trajectory is the cheaper the more (question, hop) pairs it serves (`reach`) and the fewer other
    trajectories serve them (`scarcity`: each pair counts 1 / its candidates), both as shares of the
    domain's largest; each success without a failure, or the reverse, costs `balance`.
    """
    serves = domain.serves
    reach = serves.sum(axis=0)
    scarcity = (serves / np.maximum(serves.sum(axis=1, keepdims=True), 1)).sum(axis=0)
    gain = sum(
        preferences[name] * values / max(values.max(initial=0), 1e-9)
        for name, values in (("reach", reach), ("scarcity", scarcity))
    )
    return Cover(
        serves=serves,
        cost=-np.rint(_UNIT * gain).astype(int),
        outcomes=domain.outcomes,
        imbalance=round(_UNIT * preferences["balance"]),
        ties=np.array([int(_TIES * draw(seed, "tie", domain.name, id_)) for id_ in domain.ids], int),
    )

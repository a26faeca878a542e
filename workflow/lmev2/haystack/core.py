"""The minimal answer core as a mixed-integer programme (paper, appendix A.4; docs/haystacks.md).

Fewest trajectories first; among those the least cost; among those the least ties, which makes the
choice the only one, whatever way the solver takes. Work is bounded by nodes of the search tree, never by
time, so the result does not depend on the machine.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from lmev2.haystack.cover import Cover, cover_of
from lmev2.haystack.evidence import Domain
from lmev2.haystack.heuristic import search

# All objectives are whole numbers, so a bound may be raised to the next one, but for the solver's tolerance.
_TOLERANCE = 0.01
# Status 4 is scipy's for what it has no number for, a reached node limit among it.
_OPTIMAL, _LIMIT, _OTHER = 0, 1, 4


@dataclass(frozen=True)
class Core:
    """An answer core and what is known of it.

    Attributes:
        members: the trajectories, as places in the domain's ids, ascending.
        least: no core has fewer members.
        cost: of the preferences (`Cover.value`).
        least_cost: no core of this size costs less; None where the solver gave no bound.
        heuristic: size of the core that the paper's search finds by itself.
    """

    members: list[int]
    least: int
    cost: int
    least_cost: int | None
    heuristic: int

    @property
    def is_smallest(self) -> bool:
        """Whether its size is proven to be the least."""
        return len(self.members) == self.least

    @property
    def is_optimal(self) -> bool:
        """Whether size and preferences are both proven to be the best."""
        return self.is_smallest and self.cost == self.least_cost

    @property
    def gap(self) -> float:
        """How far the size may lie above the least, as a share of the size."""
        return (len(self.members) - self.least) / max(len(self.members), 1)


def solve_core(domain: Domain, options: Mapping[str, Any], seed: int) -> tuple[Core, dict[str, list[int]]]:
    """The core of a domain, and of it the answer trajectories of each group of questions, by anchor.

    Args:
        domain: its evidence.
        options: the config's `haystack.core`: node_limit, restarts, preferences.
        seed: of ties and restarts.
    """
    cover = cover_of(domain, options["preferences"], seed)
    limit = options["node_limit"]
    core = best_core(cover, search(cover, options["restarts"], f"{seed} {domain.name}"), limit)
    selected = {}
    first = 0
    for group in domain.groups:  # whose hops follow each other in `domain.hops`
        rows = np.arange(first, first + len(group.hops))
        chosen = fewest(cover.within(rows, core.members), limit)
        selected[group.anchor] = [core.members[i] for i in chosen]
        first += len(group.hops)
    return core, selected


def fewest(cover: Cover, node_limit: int) -> list[int]:
    """The fewest trajectories that serve the hops of a group; nearly always one serves them all."""
    alone = np.flatnonzero(cover.serves.all(axis=0))
    if alone.size:
        return [min(map(int, alone), key=lambda member: cover.value([member]))]
    return best_core(cover, search(cover, 0, ""), node_limit).members


def best_core(cover: Cover, heuristic: list[int], node_limit: int) -> Core:
    """The better of what the programme finds within `node_limit` nodes and `heuristic`.

    The programme is solved three times: for the size, with that size for the cost, and where both are
    proven, with that cost for the ties.
    """
    hops, trajectories = cover.serves.shape
    # Columns: one a trajectory, and the surplus of successes or failures.
    served = LinearConstraint(sparse.csr_array(np.c_[cover.serves, np.zeros(hops)].astype(float)), lb=1)
    balanced = LinearConstraint(
        np.c_[np.stack([cover.outcomes, -cover.outcomes]), [-1, -1]].astype(float), ub=0
    )
    ones, cost, ties = (
        np.r_[np.ones(trajectories), 0],
        np.r_[cover.cost, cover.imbalance],
        np.r_[cover.ties, 0],
    )

    members, bound = _minimise(cover, ones, [served], node_limit)
    best = _better(cover, heuristic, members)
    least = min(len(best), max(bound if bound is not None else 0, bool(hops)))

    of_size = LinearConstraint(ones, len(best), len(best))
    members, least_cost = _minimise(cover, cost, [served, balanced, of_size], node_limit)
    best = _better(cover, best, members)
    if least == len(best) and least_cost == cover.value(best)[1]:
        of_cost = LinearConstraint(cost, ub=least_cost + 0.5)
        members, _ = _minimise(cover, ties, [served, balanced, of_size, of_cost], node_limit)
        best = _better(cover, best, members)
    return Core(best, least, cover.value(best)[1], least_cost, len(heuristic))


def _better(cover: Cover, one: list[int], other: list[int] | None) -> list[int]:
    return one if other is None else min(one, other, key=lambda members: (cover.value(members), members))


def _minimise(
    cover: Cover, objective: np.ndarray, constraints: Sequence[LinearConstraint], node_limit: int
) -> tuple[list[int] | None, int | None]:
    """The best trajectories found, if any, and the bound that no others can go below, if there is one."""
    options = {"node_limit": node_limit, "mip_rel_gap": 0.0, "threads": 1}
    trajectories = cover.serves.shape[1]
    with warnings.catch_warnings():
        # scipy warns that it knows no `threads`; it hands it on, so that the number of cores plays no part.
        warnings.filterwarnings("ignore", "Unrecognized options detected", RuntimeWarning)
        result = milp(
            objective,
            integrality=np.ones(trajectories + 1),
            bounds=Bounds(0, np.r_[np.ones(trajectories), trajectories]),
            constraints=constraints,
            options=options,
        )
    if result.status not in (_OPTIMAL, _LIMIT, _OTHER):  # every hop has a candidate, so there is a solution
        raise AssertionError(f"the solver says: {result.message}")
    bound = result.mip_dual_bound
    least = math.ceil(bound - _TOLERANCE) if bound is not None and math.isfinite(bound) else None
    if result.x is None:
        return None, least
    members = [int(member) for member in np.flatnonzero(result.x[:trajectories] > 0.5)]
    return (members if cover.covers(members) else None), least

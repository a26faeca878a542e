"""The paper's way to the answer core: greedy start, local search, restarts (appendix A.4)."""

import random
from itertools import combinations

import numpy as np

from lmev2.haystack.cover import Cover

_NOISE = 0.3  # how far a restart bends what a trajectory is worth


def search(cover: Cover, restarts: int, seed: object) -> list[int]:
    """The best choice of a plain greedy start and `restarts` bent ones, each improved by local search.

    Args:
        cover: the problem; it must have a solution.
        restarts: further starts.
        seed: the same seed finds the same choice.
    """
    chance = random.Random(f"{seed}")  # only random(), whose numbers Python promises to keep
    found = []
    for start in range(restarts + 1):
        bend = [1 + _NOISE * (chance.random() if start else 0) for _ in cover.cost]
        found.append(improve(cover, greedy(cover, np.array(bend))))
    return min(found, key=lambda members: (cover.value(members), members))


def greedy(cover: Cover, bend: np.ndarray) -> list[int]:
    """Take what serves most of what is open, hops with few candidates counting more, until all is served."""
    weight = 1 + 1 / cover.serves.sum(axis=1)
    members: list[int] = []
    while weight.any():
        gain = weight @ cover.numbers * bend
        best = np.flatnonzero(gain >= gain.max() * (1 - 1e-12))
        members.append(int(best[np.argmin(cover.ties[best])]))
        weight[cover.serves[:, members[-1]]] = 0
    return sorted(members)


def improve(cover: Cover, members: list[int]) -> list[int]:
    """Make a choice better, one step at a time, until no step does.

    Steps: leave out one; put one in the place of two; put another in the place of one.
    """
    while (better := _step(cover, members)) is not None:
        members = sorted(better)
    return members


def _step(cover: Cover, members: list[int]) -> list[int] | None:
    """The better choice that one step leads to; None if there is none."""
    chosen = cover.serves[:, members]
    times = chosen.sum(axis=1)
    alone = chosen & (times == 1)[:, None]
    needed = alone.sum(axis=0)
    if (needed == 0).any():
        spare = min(np.flatnonzero(needed == 0), key=lambda i: (-cover.cost[members[i]], members[i]))
        return [member for i, member in enumerate(members) if i != spare]
    # Whether a trajectory serves all that only this member serves, of shape (members, trajectories).
    replaces = alone.T.astype(float) @ cover.numbers == needed[:, None]
    replaces[:, members] = False
    for new in np.flatnonzero(replaces.sum(axis=0) >= 2):
        for pair in combinations(np.flatnonzero(replaces[:, new]), 2):
            both = chosen[:, pair].all(axis=1) & (times == 2)
            if cover.serves[both, new].all():
                return [int(new), *(member for i, member in enumerate(members) if i not in pair)]
    gone, new = np.nonzero(replaces)
    if not len(new):
        return None
    old = np.array(members)[gone]
    surplus = cover.outcomes[members].sum()
    uneven = abs(surplus - cover.outcomes[old] + cover.outcomes[new]) - abs(surplus)
    cheaper = cover.cost[new] - cover.cost[old] + cover.imbalance * uneven
    ties = cover.ties[new] - cover.ties[old]
    best = np.lexsort((new, old, ties, cheaper))[0]
    if (cheaper[best], ties[best]) >= (0, 0):
        return None
    return [int(new[best]), *(member for member in members if member != old[best])]

"""Fillers: the trajectories around the answers (paper, appendix A.4; docs/haystacks.md).

They come in turns. A turn goes to the outcome that the haystack has less of, there to the family that it
has least of, and there to the trajectory that misleads least: little answer support and, where asked for,
a goal unlike those of the core. Among equals longer runs are drawn more often, in proportion to their length.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from scipy import sparse

from lmev2.haystack.draws import draw
from lmev2.haystack.evidence import Domain

_WORD = re.compile(r"\w+")


def fill(
    domain: Domain,
    members: Sequence[int],
    size: int,
    excluded: Collection[int],
    rank: np.ndarray,
    seed: object,
) -> list[int]:
    """`members` and fillers up to `size`, or as many as there are.

    Args:
        domain: the pool.
        members: trajectories that are in.
        size: how many to have in the end.
        excluded: trajectories that may not come in.
        rank: (trajectories,) whole numbers, the less the rather taken.
        seed: of the draws.

    Returns:
        the members, then the fillers in the order of their turns.
    """
    taken = list(members)
    queues = _queues(domain, {*members, *excluded}, rank, seed)
    count = Counter(domain.families[member] for member in members)
    surplus = int(domain.outcomes[taken].sum()) if taken else 0
    heaps: dict[int, list[tuple[int, tuple[float, ...], str]]] = {}
    for (outcome, family), queue in queues.items():
        heaps.setdefault(outcome, []).append((count[family], queue[-1][0], family))
    for heap in heaps.values():
        heapq.heapify(heap)
    while len(taken) < size and heaps:
        for heap in heaps.values():
            while heap[0][0] < count[heap[0][2]]:  # the family has got one of another outcome since
                _, key, family = heap[0]
                heapq.heapreplace(heap, (count[family], key, family))
        # Neither success nor failure tilts nothing; what is in surplus comes when all else is out.
        level = [outcome for outcome in heaps if outcome * surplus <= 0] or list(heaps)
        outcome = min(level, key=lambda outcome: heaps[outcome][0])
        _, _, family = heapq.heappop(heaps[outcome])
        queue = queues[outcome, family]
        taken.append(queue.pop()[1])
        count[family] += 1
        surplus += outcome
        if queue:
            heapq.heappush(heaps[outcome], (count[family], queue[-1][0], family))
        elif not heaps[outcome]:
            del heaps[outcome]
    return taken


def _queues(
    domain: Domain, without: Collection[int], rank: np.ndarray, seed: object
) -> dict[tuple[int, str], list[tuple[tuple[float, ...], int]]]:
    """(outcome, family) -> its trajectories with their keys, the next to be taken last."""
    queues: dict[tuple[int, str], list[tuple[tuple[float, ...], int]]] = {}
    for place, id_ in enumerate(domain.ids):
        if place not in without:
            # The least of -log(u)/w is each trajectory's with probability in proportion to its w.
            delay = -math.log(1 - draw(seed, id_)) / max(int(domain.lengths[place]), 1)
            key = (int(rank[place]), delay, place)
            queues.setdefault((int(domain.outcomes[place]), domain.families[place]), []).append((key, place))
    for queue in queues.values():
        queue.sort(reverse=True)
    return queues


def support_levels(domain: Domain) -> np.ndarray:
    """Answer support in coarse levels: 0 for none, 1 for one question, 2 for 2 or 3, 3 for 4 to 7, ..."""
    return np.array([int(n).bit_length() for n in domain.support], int)


def overlap_levels(domain: Domain, core: Sequence[int]) -> np.ndarray:
    """How much each goal overlaps with the nearest goal of the core, in tenths.

    Overlap is the share of common words among all words of the two goals (Jaccard).
    """
    words = [set(_WORD.findall(goal.lower())) for goal in domain.goals]
    index = {word: i for i, word in enumerate(sorted(set().union(*words)))}
    rows = np.repeat(np.arange(len(words)), [len(found) for found in words])
    columns = [index[word] for found in words for word in found]
    has = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(words), len(index)))
    common = (has @ has[list(core)].T).toarray()
    n = np.array([len(found) for found in words])
    union = n[:, None] + n[list(core)][None, :] - common
    return (10 * (common / np.maximum(union, 1)).max(axis=1, initial=0)).astype(int)

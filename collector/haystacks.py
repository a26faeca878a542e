"""Haystacks of a recorded dataset: a plain greedy draw, good enough for a small one.

The pipeline can assemble better ones from the evidence labels (`haystack.mode: assemble`).
"""

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

SMALL, MEDIUM, SEED = 20, 36, 20261130

Evidence = dict[str, list[dict[str, list[int]]]]  # question key -> per hop trajectory id -> state indexes


def small_haystack(
    domain: str, outcomes: dict[str, str], questions: list[dict[str, Any]], evidence: Evidence
) -> tuple[list[str], int]:
    """A domain's shared haystack, and how many of it are there for the answers."""
    core = _cover(set(hits) for question in questions for hits in evidence[question["key"]])
    draw = random.Random(f"{SEED}/small/{domain}")
    rest = sorted(set(outcomes) - set(core))
    draw.shuffle(rest)
    chosen = _fill(core, rest, outcomes, SMALL)
    draw.shuffle(chosen)
    return chosen, len(core)


def medium_haystack(
    question: dict[str, Any], outcomes: dict[str, str], questions: list[dict[str, Any]], evidence: Evidence
) -> list[str]:
    """A question's own haystack; runs with other evidence on it stay out as long as enough are left."""
    draw = random.Random(f"{SEED}/medium/{question['key']}")
    # Questions that share it bring their evidence along.
    sharing = [other["key"] for other in questions if other["anchor"] == question["key"]]
    hops = [set(hits) for key in (question["key"], *sharing) for hits in evidence[key]]
    bearing = set().union(*hops)
    core = _cover(hops, draw)
    rest = sorted(set(outcomes) - bearing)
    draw.shuffle(rest)
    chosen = _fill(core, rest, outcomes, MEDIUM)
    # Evidence that is nearly everywhere leaves too few: top up with the runs that show it least.
    load = Counter(dict.fromkeys(bearing - set(chosen), 0))
    for hits in evidence[question["key"]]:
        load.update({id_: len(states) for id_, states in hits.items() if id_ in load})
    chosen += sorted(load, key=lambda id_: (load[id_], id_))[: max(0, MEDIUM - len(chosen))]
    draw.shuffle(chosen)
    return chosen


def _cover(hops: Iterable[set[str]], draw: random.Random | None = None) -> list[str]:
    """Few trajectories that have a member in each hop; of equally good ones the first, or one drawn."""
    todo, core = [hop for hop in hops if hop], []
    while todo:
        gain = Counter(id_ for hop in todo for id_ in hop)
        best = sorted(id_ for id_, n in gain.items() if n == max(gain.values()))
        core.append(draw.choice(best) if draw else best[0])
        todo = [hop for hop in todo if core[-1] not in hop]
    return core


def _fill(core: list[str], rest: list[str], outcomes: dict[str, str], size: int) -> list[str]:
    """Add from `rest` in turn what brings success and failure towards one to one."""
    chosen, rest = list(core), list(rest)
    while rest and len(chosen) < size:
        count = Counter(outcomes[id_] for id_ in chosen)
        wanted = "success" if count["success"] <= count["failure"] else "failure"
        pick = next((id_ for id_ in rest if outcomes[id_] == wanted), rest[0])
        rest.remove(pick)
        chosen.append(pick)
    return chosen

"""The input of haystack assembly: per domain its trajectories, and questions with the evidence they need."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lmev2.haystack.faults import AssemblyError, named
from lmev2.stats.families import families_of

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Hop:
    """One piece of evidence that a question needs.

    Attributes:
        question_id: the question.
        hop: name of the hop.
        candidates: the trajectories that hold it, as places in `Domain.ids`, ascending.
    """

    question_id: str
    hop: str
    candidates: tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """Questions that share their haystacks: an anchor, and all that name it, directly or by others.

    Attributes:
        anchor: id of the question that names no anchor.
        questions: ids of all of them, the anchor's first.
        hops: the evidence of all of them.
    """

    anchor: str
    questions: tuple[str, ...]
    hops: tuple[Hop, ...]

    @cached_property
    def evidence(self) -> frozenset[int]:
        """Every trajectory that holds evidence for any of the questions."""
        return frozenset(candidate for hop in self.hops for candidate in hop.candidates)


@dataclass(frozen=True)
class Domain:
    """What haystacks of one domain are made from; trajectories are places in `ids`, which is sorted.

    Attributes:
        name: the domain.
        ids: trajectory ids.
        families: their task families.
        goals: their goals.
        outcomes: 1 success, -1 failure, 0 any other.
        lengths: their numbers of states.
        groups: by anchor's id.
    """

    name: str
    ids: tuple[str, ...]
    families: tuple[str, ...]
    goals: tuple[str, ...]
    outcomes: np.ndarray
    lengths: np.ndarray
    groups: tuple[Group, ...]

    @cached_property
    def hops(self) -> tuple[Hop, ...]:
        """The evidence that the questions of the domain need."""
        return tuple(hop for group in self.groups for hop in group.hops)

    @cached_property
    def serves(self) -> np.ndarray:
        """Whether a trajectory holds a hop's evidence, of shape (hops, trajectories)."""
        serves = np.zeros((len(self.hops), len(self.ids)), bool)
        for row, hop in zip(serves, self.hops, strict=True):
            row[list(hop.candidates)] = True
        return serves

    @cached_property
    def support(self) -> np.ndarray:
        """For how many questions each trajectory holds evidence."""
        questions: dict[str, set[int]] = defaultdict(set)
        for hop in self.hops:
            questions[hop.question_id].update(hop.candidates)
        return np.bincount([t for found in questions.values() for t in found], minlength=len(self.ids))


def read_domains(
    questions: Sequence[Row], coverage: Sequence[Row], trajectories: Sequence[Row]
) -> list[Domain]:
    """Check that every question's evidence can be had, and sort it by domain.

    Args:
        questions: rows of the `questions` table.
        coverage: rows of the `coverage` table.
        trajectories: rows of the `trajectories` table.

    Raises:
        AssemblyError: with all faults: questions without evidence and anchor, hops that no trajectory of
            the domain serves, anchors that are not there or lead in a circle.
    """
    faults: list[str] = []
    domains = {row["question_id"]: row["domain"] for row in questions}
    anchors, candidates = _labels(coverage, domains)
    roots = _roots(domains, anchors, candidates, faults)
    families = families_of(trajectories)
    found = []
    for name in sorted(set(domains.values())):
        pool = sorted(
            (row for row in trajectories if row["domain"] == name), key=lambda row: row["trajectory_id"]
        )
        place = {row["trajectory_id"]: i for i, row in enumerate(pool)}
        hops: dict[str, list[Hop]] = defaultdict(list)
        for (question_id, hop), named_ones in sorted(candidates.items()):
            if domains[question_id] == name:
                within = tuple(sorted(place[id_] for id_ in named_ones if id_ in place))
                if not within:
                    faults.append(_uncoverable(question_id, hop, named_ones, name))
                hops[question_id].append(Hop(question_id, hop, within))
        members: dict[str, list[str]] = defaultdict(list)
        for question_id, root in sorted(roots.items()):
            if domains[question_id] == name:
                members[root].append(question_id)
        groups = []
        for root, ids in sorted(members.items()):
            ids = sorted(ids, key=lambda id_: (id_ != root, id_))
            groups.append(Group(root, tuple(ids), tuple(hop for id_ in ids for hop in hops[id_])))
        signs = {"success": 1, "failure": -1}
        found.append(
            Domain(
                name=name,
                ids=tuple(row["trajectory_id"] for row in pool),
                families=tuple(families[row["trajectory_id"]] for row in pool),
                goals=tuple(row["goal"] for row in pool),
                outcomes=np.array([signs.get(row["outcome"], 0) for row in pool], int),
                lengths=np.array([row["n_states"] for row in pool], int),
                groups=tuple(groups),
            )
        )
    if faults:
        raise AssemblyError(faults)
    return found


def _labels(
    coverage: Sequence[Row], domains: Mapping[str, str]
) -> tuple[dict[str, str], dict[tuple[str, str], set[str]]]:
    """Question -> its anchor, and (question, hop) -> the trajectories that hold it."""
    anchors, candidates = {}, {}
    for row in coverage:
        question_id = row["question_id"]
        if question_id not in domains:
            continue  # a label of no question asks for nothing
        if row["anchor_question_id"] is not None:
            anchors[question_id] = row["anchor_question_id"]
        if row["hop"] is not None:
            ids = candidates.setdefault((question_id, row["hop"]), set())
            if row["trajectory_id"] is not None:
                ids.add(row["trajectory_id"])
    return anchors, candidates


def _roots(
    domains: Mapping[str, str],
    anchors: Mapping[str, str],
    candidates: Mapping[tuple[str, str], set[str]],
    faults: list[str],
) -> dict[str, str]:
    """Question -> the last of its chain of anchors, where it is sound; files what is wrong elsewhere."""
    labelled = {question_id for question_id, _ in candidates}
    roots = {}
    for question_id in sorted(domains):
        chain = [question_id]
        while (anchor := anchors.get(chain[-1])) is not None and anchor in domains and anchor not in chain:
            chain.append(anchor)
        if anchor in chain:
            circle = " → ".join([*chain[chain.index(anchor) :], anchor])
            faults.append(
                f"question {question_id!r}: its anchors lead in a circle ({circle}); "
                "the last of a chain should have evidence of its own and no anchor"
            )
        elif anchor is not None:
            faults.append(
                f"question {chain[-1]!r}: its anchor {anchor!r} is no question of the dataset; "
                "name another anchor, or give the question evidence of its own (coverage.jsonl)"
            )
        elif chain[-1] not in labelled:
            faults.append(
                f"question {chain[-1]!r}: it has no evidence and no anchor; add its hops, or the question "
                "whose haystack it shares, to coverage.jsonl"
            )
        elif domains[chain[-1]] != domains[question_id]:
            faults.append(
                f"question {question_id!r} of domain {domains[question_id]!r}: its anchor {chain[-1]!r} is "
                f"of domain {domains[chain[-1]]!r}; a haystack holds trajectories of one domain only"
            )
        else:
            roots[question_id] = chain[-1]
    return roots


def _uncoverable(question_id: str, hop: str, candidates: set[str], domain: str) -> str:
    if not candidates:
        return (
            f"question {question_id!r}, hop {hop!r}: no trajectory holds its evidence; name at least one in "
            "coverage.jsonl, or remove the hop"
        )
    return (
        f"question {question_id!r}, hop {hop!r}: none of the trajectories that hold its evidence is in the "
        f"pool of domain {domain!r} ({named(candidates)}); add one of them, or another that holds it"
    )

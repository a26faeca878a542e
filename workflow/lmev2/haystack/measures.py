"""What haystacks hold: sizes, answers, outcomes, families (the paper's Figure 3)."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lmev2.stats.families import families_of
from lmev2.stats.retrieval import read_evidence
from lmev2.stats.scores import connect
from lmev2.store import read_rows, read_table

ALL = ""  # stands for all domains


def measure_haystacks(
    questions: str | Path,
    trajectories: str | Path,
    states: str | Path,
    coverage: str | Path,
    haystacks: Mapping[str, str | Path],
    *,
    by_domain: bool = False,
) -> list[dict[str, Any]]:
    """What the haystacks of each tier hold, as figures over the questions.

    Args:
        questions: the `questions` file.
        trajectories: the `trajectories` file.
        states: the `states` file.
        coverage: the `coverage` file.
        haystacks: tier -> file of the schema `haystack`.
        by_domain: also for each domain by itself.

    Returns:
        one row per tier, domain ("" for all) and measure (trajectories, states, tokens, families, share of
        successes, answer trajectories), over the questions: `mean`, `least`, `most`, `questions` (those that
        have the measure) and `values`. The share of successes is that among successes and failures; answer
        trajectories are known of questions with evidence labels.
    """
    sizes = _sizes(states)
    rows = read_rows(trajectories)
    outcomes = {row["trajectory_id"]: row["outcome"] for row in rows}
    families = families_of(rows)
    evidence = {id_: found.trajectories() for id_, found in read_evidence(coverage).items()}
    domains: dict[str, list[str]] = defaultdict(list)
    for row in read_rows(questions, ["question_id", "domain"]):
        domains[ALL].append(row["question_id"])
        if by_domain:
            domains[row["domain"]].append(row["question_id"])
    measured = []
    for tier, path in haystacks.items():
        members: dict[str, list[str]] = defaultdict(list)
        for row in read_rows(path, ["question_id", "trajectory_id"]):
            members[row["question_id"]].append(row["trajectory_id"])
        each = {
            id_: {
                "trajectories": len(members[id_]),
                "states": sum(sizes[t]["states"] for t in members[id_] if t in sizes),
                "tokens": sum(sizes[t]["tokens"] for t in members[id_] if t in sizes),
                "families": len({families[t] for t in members[id_]}),
                "share of successes": _success([outcomes[t] for t in members[id_]]),
                "answer trajectories": len(evidence[id_] & set(members[id_])) if id_ in evidence else None,
            }
            for id_ in domains[ALL]
        }
        for domain in sorted(domains):
            for measure in each[domains[domain][0]]:
                values = [each[id_][measure] for id_ in domains[domain] if each[id_][measure] is not None]
                if values:
                    measured.append(
                        {
                            **{"tier": tier, "domain": domain, "measure": measure},
                            **{"mean": float(np.mean(values)), "least": min(values), "most": max(values)},
                            **{"questions": len(values), "values": values},
                        }
                    )
    return measured


def _sizes(states: str | Path) -> dict[str, dict[str, int]]:
    """Trajectory -> its number of states and of tokens of their trees."""
    sql = """
        SELECT trajectory_id, count(*) AS states, sum(tree_tokens)::BIGINT AS tokens
        FROM states GROUP BY trajectory_id
    """
    with connect(states=read_table(states, ["trajectory_id", "tree_tokens"])) as db:
        return {row["trajectory_id"]: row for row in db.sql(sql).to_arrow_table().to_pylist()}


def _success(outcomes: list[str | None]) -> float | None:
    """Share of successes among successes and failures; None without either."""
    known = [outcome == "success" for outcome in outcomes if outcome in ("success", "failure")]
    return sum(known) / len(known) if known else None

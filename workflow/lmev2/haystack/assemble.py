"""All haystacks of all tiers, from the evidence to the files (paper, appendix A.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmev2.haystack.core import Core, solve_core
from lmev2.haystack.evidence import Domain, Row, read_domains
from lmev2.haystack.faults import AssemblyError
from lmev2.haystack.fillers import overlap_levels, support_levels
from lmev2.haystack.tables import write_tier
from lmev2.haystack.tiers import Tier
from lmev2.store import canonical_json, read_rows, write_json, write_table, write_text

Selected = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Assembly:
    """All that was assembled.

    Attributes:
        tiers: tier -> question id -> trajectory ids in order; questions as in the `questions` table.
        selected: rows of the schema `haystack_core`.
        cores: one entry per domain with what is known of its core.
    """

    tiers: dict[str, dict[str, list[str]]]
    selected: list[dict[str, str]]
    cores: list[dict[str, Any]]


def assemble(
    questions: Sequence[Row], coverage: Sequence[Row], trajectories: Sequence[Row], options: Mapping[str, Any]
) -> Assembly:
    """Make the haystacks of all tiers.

    Args:
        questions: rows of the `questions` table.
        coverage: rows of the `coverage` table.
        trajectories: rows of the `trajectories` table.
        options: the config's `haystack` section: seed, tiers, core.

    Raises:
        AssemblyError: evidence is missing, or a tier asks for more trajectories than there are.
    """
    tiers = [Tier.of(name, section, options["seed"]) for name, section in options["tiers"].items()]
    found: dict[str, dict[str, list[str]]] = {tier.name: {} for tier in tiers}
    selected_rows, cores, faults = [], [], []
    for domain in read_domains(questions, coverage, trajectories):
        core, selected = solve_core(domain, options["core"], options["seed"])
        cores.append(_describe(domain, core))
        selected_rows += _selected_rows(domain, selected)
        for tier in tiers:
            tier_faults = _faults(domain, tier, core, selected)
            faults += tier_faults
            haystacks = {} if tier_faults else _haystacks(domain, tier, core, selected)
            for group in domain.groups:
                found[tier.name] |= dict.fromkeys(group.questions, haystacks.get(group.anchor, []))
    if faults:
        raise AssemblyError(faults)
    order = [row["question_id"] for row in questions]
    in_order = {tier: {id_: haystacks[id_] for id_ in order} for tier, haystacks in found.items()}
    return Assembly(in_order, selected_rows, cores)


def assemble_haystacks(
    questions: str | Path,
    coverage: str | Path,
    trajectories: str | Path,
    options: Mapping[str, Any],
    *,
    tables: Mapping[str, str | Path],
    labels: Mapping[str, str | Path],
    official: Mapping[str, str | Path],
    selected: str | Path,
    cores: str | Path,
) -> Assembly:
    """Make the haystacks of all tiers and write them.

    Args:
        questions: the `questions` file.
        coverage: the `coverage` file.
        trajectories: the `trajectories` file.
        options: as in `assemble`.
        tables: tier -> file of the schema `haystack`.
        labels: tier -> file of the schema `haystack_labels`.
        official: tier -> file in the official form, `{question id: [trajectory id, ...]}`.
        selected: file of the schema `haystack_core`.
        cores: JSON file with what is known of each domain's core.

    Raises:
        AssemblyError: as in `assemble`; nothing was written.
    """
    evidence = read_rows(coverage)
    made = assemble(read_rows(questions), evidence, read_rows(trajectories), options)
    for tier, haystacks in made.tiers.items():
        write_tier(haystacks, evidence, tables[tier], labels[tier])
        write_text(canonical_json(haystacks) + "\n", official[tier])
    write_table("haystack_core", made.selected, selected)
    write_json({"domains": made.cores}, cores)
    return made


def _faults(domain: Domain, tier: Tier, core: Core, selected: Selected) -> list[str]:
    if tier.shared:
        faults = [tier.shared_fault(domain, core.members)]
    else:
        faults = [tier.own_fault(domain, group, selected[group.anchor]) for group in domain.groups]
    return [fault for fault in faults if fault]


def _haystacks(domain: Domain, tier: Tier, core: Core, selected: Selected) -> dict[str, list[str]]:
    """The haystacks of a domain by anchor."""
    if tier.shared:
        return dict.fromkeys(selected, tier.shared_haystack(domain, core.members))
    rank = support_levels(domain) + overlap_levels(domain, core.members)
    return {
        group.anchor: tier.own_haystack(domain, group, selected[group.anchor], rank)
        for group in domain.groups
    }


def _selected_rows(domain: Domain, selected: Selected) -> list[dict[str, str]]:
    return [
        {
            "question_id": hop.question_id,
            "hop": hop.hop,
            "trajectory_id": next(domain.ids[t] for t in selected[group.anchor] if t in hop.candidates),
        }
        for group in domain.groups
        for hop in group.hops
    ]


def _describe(domain: Domain, core: Core) -> dict[str, Any]:
    outcomes = domain.outcomes[core.members]
    return {
        "domain": domain.name,
        "trajectories": len(domain.ids),
        "questions": sum(len(group.questions) for group in domain.groups),
        "hops": len(domain.hops),
        "size": len(core.members),
        "lower_bound": core.least,
        "gap": core.gap,
        "smallest": core.is_smallest,
        "cost": core.cost,
        "cost_lower_bound": core.least_cost,
        "optimal": core.is_optimal,
        "heuristic_size": core.heuristic,
        "successes": int((outcomes == 1).sum()),
        "failures": int((outcomes == -1).sum()),
        "families": len({domain.families[member] for member in core.members}),
        "members": [domain.ids[member] for member in core.members],
    }

"""What holds for every assembled haystack, whatever the evidence."""

import json
from collections import defaultdict

import pytest
from dataset_factory import make_dataset
from haystack_data import datasets, labels, options, question, tier, trajectory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmev2.haystack.assemble import assemble, assemble_haystacks
from lmev2.haystack.evidence import read_domains
from lmev2.haystack.fillers import fill, overlap_levels, support_levels
from lmev2.ingest.dataset import ingest_dataset, validate_dataset
from lmev2.records import SCHEMAS
from lmev2.store import read_rows, read_table

RANDOM = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def evidence_of(coverage):
    """Question -> hop -> trajectories, and question -> anchor."""
    hops, anchors = defaultdict(lambda: defaultdict(set)), {}
    for row in coverage:
        anchors[row["question_id"]] = row["anchor_question_id"]
        if row["trajectory_id"] is not None:
            hops[row["question_id"]][row["hop"]].add(row["trajectory_id"])
    return hops, anchors


def root(question_id, anchors):
    while anchors[question_id] is not None:
        question_id = anchors[question_id]
    return question_id


@RANDOM
@given(datasets(), st.integers(0, 3), st.integers(0, 5), st.integers(0, 5))
def test_invariants(data, seed, less, fewer):
    questions, coverage, trajectories = data
    pools = defaultdict(set)
    for row in trajectories:
        pools[row["domain"]].add(row["trajectory_id"])
    most_hops = len({(row["question_id"], row["hop"]) for row in coverage})
    smallest = min(map(len, pools.values()))
    small = max(min(most_hops, smallest), smallest - less)
    medium = max(min(most_hops, smallest), smallest - fewer)
    how = options(seed, small=tier(small, True), medium=tier(medium, False, least=1))
    made = assemble(questions, coverage, trajectories, how)
    hops, anchors = evidence_of(coverage)
    domains = {row["question_id"]: row["domain"] for row in questions}
    groups = defaultdict(list)
    for id_ in domains:
        groups[root(id_, anchors)].append(id_)
    chosen = defaultdict(set)
    for row in made.selected:
        assert row["trajectory_id"] in hops[row["question_id"]][row["hop"]]
        chosen[row["question_id"]].add(row["trajectory_id"])
    for name, haystacks in made.tiers.items():
        assert list(haystacks) == list(domains)
        for id_, members in haystacks.items():
            assert len(members) == len(set(members))  # no duplicates
            assert set(members) <= pools[domains[id_]]  # same domain
            assert all(holders & set(members) for holders in hops[id_].values())  # every hop covered
            assert members == haystacks[root(id_, anchors)]  # anchors equal
            assert chosen[id_] <= set(members)  # the answers are the same in both tiers
            if name == "small":
                assert len(members) == small
    assert len({(domains[id_], tuple(members)) for id_, members in made.tiers["small"].items()}) == len(pools)
    for anchor, ids in groups.items():
        members = set(made.tiers["medium"][anchor])
        answers = set().union(*(chosen[id_] for id_ in ids))
        evidence = set().union(*(holders for id_ in ids for holders in hops[id_].values()))
        assert members & evidence == answers  # no extra answer trajectory
        assert len(members) == min(medium, len(answers) + len(pools[domains[anchor]] - evidence))
    again = assemble(questions[::-1], coverage[::-1], trajectories[::-1], how)
    assert again.tiers == made.tiers  # same seed, same haystacks, whatever the order of the files
    assert again.cores == made.cores


def large():
    """24 trajectories and four questions, one of them anchored."""
    pool = [
        trajectory(f"t{i:02}", outcome=("success", "failure")[i % 2], family=f"f{i % 5}") for i in range(24)
    ]
    coverage = [
        *labels("q1", ["t00", "t01"], ["t02", "t05"]),
        *labels("q2", ["t02", "t03"]),
        *labels("q3", ["t07"]),
        *labels("q4", anchor="q3"),
    ]
    return [question(f"q{i}") for i in range(1, 5)], coverage, pool


def test_another_seed_gives_another_order_and_other_fillers():
    how = {"small": tier(12, True), "medium": tier(10, False)}
    one, other = (assemble(*large(), options(seed, **how)) for seed in (0, 1))
    for name in how:
        assert one.tiers[name] != other.tiers[name]
    assert [set(h) for h in one.tiers["medium"].values()] != [set(h) for h in other.tiers["medium"].values()]
    first, second = (one.tiers["medium"][id_] for id_ in ("q1", "q2"))
    # An order for each question.
    common = set(first) & set(second)
    assert [t for t in first if t in common] != [t for t in second if t in common]


def test_any_tiers_of_any_sizes():
    made = assemble(*large(), options(tiny=tier(3, False), all_of_it=tier(24, True)))
    assert {len(members) for members in made.tiers["tiny"].values()} == {3}
    assert {len(members) for members in made.tiers["all_of_it"].values()} == {24}


def test_fillers_level_outcomes_and_families():
    (domain,) = read_domains(*large())
    members = fill(domain, [0, 2], 12, (), support_levels(domain), "seed")
    assert members[:2] == [0, 2]  # two successes ...
    assert domain.outcomes[members].sum() == 0  # ... and in the end as many failures
    families = [domain.families[member] for member in members]
    counts = [families.count(f"f{i}") for i in range(5)]
    assert max(counts) - min(counts) <= 1


def test_an_outcome_that_is_out_is_made_up_by_the_other():
    pool = [trajectory("t0", outcome="failure"), *(trajectory(f"t{i}") for i in range(1, 6))]
    (domain,) = read_domains([question("q")], labels("q", ["t1"]), pool)
    assert sorted(fill(domain, [1], 6, (), support_levels(domain), "")) == [0, 1, 2, 3, 4, 5]


def test_fillers_of_little_support_and_strange_goals_come_first():
    goals = {"t0": "find the lamp", "t1": "find the lamp", "t2": "file a report", "t3": "find the red lamp"}
    pool = [trajectory(id_, goal=goal, family="f") for id_, goal in goals.items()]
    coverage = [*labels("q0", ["t0"]), *labels("q1", ["t0", "t2"])]
    (domain,) = read_domains([question("q0"), question("q1")], coverage, pool)
    assert support_levels(domain).tolist() == [2, 0, 1, 0]
    assert overlap_levels(domain, [0]).tolist() == [10, 10, 0, 7]
    rank = support_levels(domain) + overlap_levels(domain, [0])
    assert fill(domain, [0], 4, (), rank, "") == [0, 2, 3, 1]


def test_longer_runs_are_preferred_weakly():
    pool = [trajectory("t0"), *(trajectory(f"t{i}", n_states=30 if i > 5 else 10) for i in range(1, 11))]
    for row in pool:
        row["family"] = "f"
    (domain,) = read_domains([question("q")], labels("q", ["t0"]), pool)
    firsts = [fill(domain, [0], 2, (), support_levels(domain), seed)[1] for seed in range(400)]
    long = sum(domain.lengths[first] == 30 for first in firsts)
    assert 0.68 < long / 400 < 0.82  # 3 of 4: in proportion to length


def test_files(tmp_path, monkeypatch):
    """The official form of assembled haystacks is a sound dataset, and the tables say the same."""
    monkeypatch.chdir(tmp_path)
    dataset = make_dataset(tmp_path / "data", lambda content: content.haystacks.clear())
    ingest_dataset(dataset, [], tmp_path / "in")  # needs no haystack files
    tiers = ("small", "medium")
    names = {part: {tier: tmp_path / f"out/{tier}.{part}" for tier in tiers} for part in ("tables", "labels")}
    assemble_haystacks(
        *(tmp_path / "in" / f"{table}.parquet" for table in ("questions", "coverage", "trajectories")),
        options(small=tier(3, True), medium=tier(3, False, least=2)),
        **names,
        official={tier: dataset / "haystacks" / f"lme_v2_{tier}.json" for tier in tiers},
        selected=tmp_path / "out/core",
        cores=tmp_path / "out/core.json",
    )
    assert validate_dataset(dataset, tiers)[1] == []
    for name in tiers:
        official = json.loads((dataset / "haystacks" / f"lme_v2_{name}.json").read_text())
        rows, roles = read_rows(names["tables"][name]), read_rows(names["labels"][name])
        for question_id, members in official.items():
            assert [row["trajectory_id"] for row in rows if row["question_id"] == question_id] == members
        answers = {
            rows[i]["trajectory_id"]
            for i, role in enumerate(roles)
            if role["role"] == "answer" and role["question_id"] == "q1"
        }
        assert answers == {"t1"}
        assert read_table(names["tables"][name]).schema.equals(SCHEMAS["haystack"])  # ids alone, no roles
    assert json.loads((tmp_path / "out/core.json").read_text())["domains"][0]["optimal"] is True


def test_a_limit_reached_changes_no_invariant(monkeypatch):
    """Without a solution of the programme the paper's search stands in."""
    monkeypatch.setattr("lmev2.haystack.core._minimise", lambda *_: (None, None))
    made = assemble(*large(), options(small=tier(6, True)))
    (core,) = made.cores
    assert core["heuristic_size"] == core["size"] >= core["lower_bound"] == 1
    assert not core["optimal"] and core["gap"] == pytest.approx(1 - 1 / core["size"])
    for row in made.selected:
        assert row["trajectory_id"] in made.tiers["small"][row["question_id"]]

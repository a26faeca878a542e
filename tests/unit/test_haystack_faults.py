"""What cannot be assembled is said all at once, with the question and what is missing."""

import pytest
from haystack_data import labels, options, question, tier, trajectory

from lmev2.haystack.assemble import assemble
from lmev2.haystack.faults import AssemblyError

POOL = [trajectory(f"t{i}") for i in range(6)] + [trajectory("d0", "desk")]


def faults(questions, coverage, **tiers):
    how = options(**(tiers or {"small": tier(2, True)}))
    with pytest.raises(AssemblyError) as caught:
        assemble(questions, coverage, POOL, how)
    assert f"{len(caught.value.faults)} fault" in str(caught.value)
    return caught.value.faults


CASES = {
    "no label at all": ([], "question 'q': it has no evidence and no anchor"),
    "no hops and no anchor": (labels("q"), "question 'q': it has no evidence and no anchor"),
    "hop without candidates": (labels("q", ["t0"], []), "question 'q', hop '1': no trajectory holds its evi"),
    "hop outside the pool": (
        labels("q", ["x1", "x0"]),
        "none of the trajectories that hold its evidence is in",
    ),
    "hop of another domain": (labels("q", ["d0"]), "the pool of domain 'web' ('d0')"),
    "anchor that is no question": (labels("q", anchor="gone"), "its anchor 'gone' is no question"),
    "anchor of its own": (labels("q", anchor="q"), "anchors lead in a circle (q → q)"),
}


@pytest.mark.parametrize("case", CASES)
def test_evidence(case):
    coverage, expected = CASES[case]
    (fault,) = faults([question("q")], coverage)
    assert "question 'q'" in fault and expected in fault


def test_a_circle_of_anchors_and_what_leads_into_it():
    coverage = [*labels("a", anchor="b"), *labels("b", anchor="c"), *labels("c", anchor="b")]
    found = faults([question("a"), question("b"), question("c")], coverage)
    assert [fault.split(":")[0] for fault in found] == ["question 'a'", "question 'b'", "question 'c'"]
    assert all("b → c → b" in fault or "c → b → c" in fault for fault in found)


def test_an_anchor_without_evidence_is_named_once():
    coverage = [*labels("a", anchor="b"), *labels("b", anchor="c"), *labels("c")]
    (fault,) = faults([question("a"), question("b"), question("c")], coverage)
    assert "question 'c': it has no evidence and no anchor" in fault


def test_an_anchor_of_another_domain():
    (fault,) = faults(
        [question("a"), question("b", "desk")], [*labels("a", anchor="b"), *labels("b", ["d0"])]
    )
    assert "question 'a' of domain 'web': its anchor 'b' is of domain 'desk'" in fault


def test_all_faults_at_once():
    coverage = [*labels("q1", ["x"]), *labels("q2", anchor="gone"), *labels("q4", ["t0"])]
    found = faults([question(f"q{i}") for i in range(1, 5)], coverage)
    assert len(found) == 3
    assert all(any(f"'q{i}'" in fault for fault in found) for i in (1, 2, 3))


def test_pool_too_small():
    coverage = [*labels("q1", ["t0"], ["t1"]), *labels("q2", ["t2", "t3", "t4"])]
    questions = [question("q1"), question("q2")]
    tiers = {
        "core_too_large": tier(2, True),
        "too_few": tier(7, True),
        "answer_too_large": tier(1, False),
        "own_too_few": tier(5, False),
        "fits": tier(4, False),
    }
    assert [fault.split(":")[0] for fault in faults(questions, coverage, **tiers)] == [
        "tier 'core_too_large', question 'q1' and all others of domain 'web'",
        "tier 'too_few', question 'q1' and all others of domain 'web'",
        "tier 'answer_too_large', question 'q1'",
        "tier 'own_too_few', question 'q2'",
    ]
    text = "\n".join(faults(questions, coverage, **tiers))
    assert "the pool has 6 trajectories, 1 too few for 7" in text
    assert "1 answer trajectories and the 3 of domain 'web' without its answer are 4, 1 too few for 5" in text


def test_least_lets_a_haystack_be_smaller():
    made = assemble([question("q")], labels("q", ["t2", "t3", "t4"]), POOL, options(own=tier(5, False, 4)))
    assert len(made.tiers["own"]["q"]) == 4

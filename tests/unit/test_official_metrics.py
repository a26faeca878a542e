"""Aggregates of official runs: what always holds of them, and of two domains together."""

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.official.metrics import aggregate, overview
from lmev2.official.run_folder import (
    ABSTENTION,
    ANSWERABLE,
    BREAKDOWN_FIELDS,
    CATEGORIES,
    OVERALL_FIELDS,
    OVERVIEW_FIELDS,
    SECONDS_FIELDS,
)

SECTIONS = ("non_abstention_by_category", "abstention_by_category", "combined_abstention_by_category")


@st.composite
def a_record(draw):
    kind = draw(st.sampled_from(sorted(CATEGORIES)))
    unknown = draw(st.booleans())
    score = 0 if unknown else draw(st.integers(0, 1))
    return {
        "category": CATEGORIES[kind],
        "is_abstention_problem": kind.endswith("-abs"),
        "is_unknown": unknown,
        "score": float(score),
        "score_bool": bool(score),
        "memory_query_duration_seconds": draw(st.floats(0, 500)),
        "memory_post_query_duration_seconds": 0.0,
        "memory_context_original_token_count": draw(st.integers(0, 10**6)),
        "memory_context_token_count": draw(st.integers(0, 10**5)),
        "memory_context_was_truncated": draw(st.booleans()),
        "usage": {
            "prompt_tokens": draw(st.integers(0, 10**6)),
            "completion_tokens": draw(st.integers(0, 10**4)),
        },
    }


many = st.lists(a_record(), min_size=1, max_size=30)


@settings(deadline=None, max_examples=30)
@given(many)
def test_shares_sum_to_one_and_counts_to_all(rows):
    found = aggregate(rows)
    assert tuple(found["overall"]) == OVERALL_FIELDS
    groups = [group for section in SECTIONS for group in found[section].values()]
    for group in [*groups, found["abstention_overall"]]:
        assert tuple(group) == BREAKDOWN_FIELDS
        shares = [group[key] for key in BREAKDOWN_FIELDS[1:]]
        if group["count"]:
            assert math.isclose(sum(shares), 1) and all(0 <= share <= 1 for share in shares)
        else:
            assert shares == [None] * 3
    split = [found["non_abstention_by_category"], found["abstention_by_category"]]
    assert sum(group["count"] for section in split for group in section.values()) == len(rows)
    # Scores are 0 or 1, so accuracy is the share of right answers over all groups.
    right = sum(
        group["count"] * (group["pct_correct"] or 0) for section in split for group in section.values()
    )
    assert math.isclose(found["overall"]["overall_full_set"], right / len(rows), abs_tol=1e-9)
    for name, group in found["combined_abstention_by_category"].items():
        twins = [section.get(key) for section, key in zip(split, (name, f"{name}-abs"), strict=True)]
        assert group["count"] == sum(twin["count"] for twin in twins)


@settings(deadline=None, max_examples=30)
@given(many)
def test_seconds_are_ordered_and_tokens_add_up(rows):
    found = aggregate(rows)
    seconds = found["memory_query"]
    assert tuple(seconds) == SECONDS_FIELDS
    assert seconds["p50_seconds"] <= seconds["p95_seconds"] <= seconds["max_seconds"]
    durations = [row["memory_query_duration_seconds"] for row in rows]
    assert {seconds["p50_seconds"], seconds["p95_seconds"]} <= set(durations)
    assert math.isclose(seconds["avg_seconds"], statistics.fmean(durations), abs_tol=1e-9)
    tokens = found["tokens"]
    assert tokens["total_tokens"] == tokens["prompt_tokens"] + tokens["completion_tokens"]
    assert math.isclose(tokens["avg_total_tokens"] * len(rows), tokens["total_tokens"], abs_tol=1e-6)


@settings(deadline=None, max_examples=30)
@given(many, many)
def test_two_domains_together_are_all_their_records(web, enterprise):
    found = overview({"web": aggregate(web), "enterprise": aggregate(enterprise)})
    both = aggregate([*web, *enterprise])
    assert tuple(found) == OVERVIEW_FIELDS
    expected = [
        both["overall"]["overall_full_set"],
        both["non_abstention_by_category"]["gotchas"]["pct_correct"],
        *(
            both["combined_abstention_by_category"][k]["pct_correct"]
            for k in ("static", "dynamic", "procedure")
        ),
        both["memory_query"]["avg_seconds"],
    ]
    for mine, theirs in zip(found.values(), expected, strict=True):
        assert mine is theirs if theirs is None else math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-12)


def test_every_question_type_has_one_category():
    assert sorted(CATEGORIES.values()) == sorted([*ANSWERABLE, *ABSTENTION])


def test_no_records_have_no_aggregate():
    with pytest.raises(ValueError, match="no records"):
        aggregate([])

"""The rule by which several slice queries share their results."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.memory.merge import RULES, kept_per_query, merge

ranked_lists = st.lists(st.lists(st.integers(0, 9), max_size=6, unique=True), max_size=7)


@pytest.mark.parametrize(
    ("rule", "kept"), [("code", [6, 3, 2, 2, 2, 2, 2]), ("paper", [2, 2, 2, 1, 1, 1, 0])]
)
def test_kept_per_query_by_number_of_queries(rule, kept):
    assert [kept_per_query(queries, 6, rule) for queries in range(1, 8)] == kept


def test_by_the_code_each_query_keeps_one_even_of_a_small_budget():
    assert [kept_per_query(queries, 2) for queries in (1, 2, 3)] == [2, 1, 1]


def test_five_queries_yield_ten_slices_by_the_code_and_five_by_the_paper():
    ranked = [[10 * query + place for place in range(6)] for query in range(5)]
    assert len(merge(ranked, lambda entry: entry)) == 10
    assert merge(ranked, lambda entry: entry, rule="paper") == [0, 10, 20, 30, 40]


def test_what_an_earlier_query_brought_makes_room_for_the_next_best():
    assert merge([[1, 2, 3, 4], [2, 1, 5, 6, 7], [5, 8, 9]], lambda entry: entry) == [1, 2, 5, 6, 8, 9]


@settings(deadline=None, max_examples=300)
@given(ranked_lists, st.sampled_from(RULES))
def test_merge_keeps_the_best_new_ones_of_each_query_in_order(ranked, rule):
    merged = merge(ranked, lambda entry: entry, rule=rule)
    assert len(merged) == len(set(merged))
    rest = list(merged)
    for results in ranked:
        most = kept_per_query(len(ranked), 6, rule)
        earlier = merged[: len(merged) - len(rest)]
        new = [entry for entry in results if entry not in earlier]
        assert rest[: len(new[:most])] == new[:most]
        del rest[: len(new[:most])]
    assert rest == []


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="code, paper"):
        kept_per_query(1, 6, "median")

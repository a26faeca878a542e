import asyncio

import pytest

from lmev2.llm.faults import EndpointError, TransientError
from lmev2.rows import ItemsFailedError, gather_rows


def gather(*outcomes, at_once=None):
    """Gather pieces that return or raise `outcomes`; also how many were done."""
    done = []

    async def piece(outcome, turn):
        for _ in range(turn):
            await asyncio.sleep(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    work = [lambda outcome=outcome, turn=turn: piece(outcome, turn) for turn, outcome in enumerate(outcomes)]
    try:
        return asyncio.run(gather_rows(work, lambda: done.append(1), at_once)), len(done)
    except Exception as error:
        return error, len(done)


@pytest.mark.parametrize("at_once", [None, 1, 2])
def test_rows_keep_the_order_of_the_work(at_once):
    assert gather("a", "b", "c", at_once=at_once) == (["a", "b", "c"], 3)


@pytest.mark.parametrize("at_once", [None, 1])
def test_a_failing_item_ends_no_other(at_once):
    error, done = gather(
        "a", TransientError("busy"), "c", TransientError("busy"), TransientError("torn"), "f", at_once=at_once
    )
    assert done == 3 and isinstance(error, ItemsFailedError)
    assert str(error).splitlines() == [
        "3 of 6 items failed; the others are kept, so run again:",
        "  2 × busy",
        "  1 × torn",
    ]


def test_what_concerns_all_ends_all_at_once():
    error, done = gather("a", TransientError("busy"), EndpointError("no key"), "d", "e")
    assert isinstance(error, EndpointError) and done == 1


def test_a_bug_is_no_failed_item():
    error, done = gather("a", ValueError("bug"), "c")
    assert isinstance(error, ValueError) and done == 1


def test_failures_within_a_failure_are_told_apart():
    inner = ItemsFailedError([TransientError("busy"), TransientError("torn")], 9)
    error, _ = gather("a", inner)
    assert [str(one) for one in error.errors] == ["busy", "torn"]


def test_many_reasons_are_not_all_listed():
    error, _ = gather(*(TransientError(f"reason {n}") for n in range(8)))
    assert "8 of 8" in str(error) and "and 3 other reasons" in str(error)

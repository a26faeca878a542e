import asyncio
import time

import pytest

from lmev2.llm.limits import Limits

FREE = {"concurrency": 8, "requests_per_minute": None, "tokens_per_minute": None}


async def go(limits, tokens, seconds=0.0):
    async with limits.admitted(tokens):
        await asyncio.sleep(seconds)


def timed(limits_of, *tokens, seconds=0.0):
    async def all_of_them():
        limits = limits_of()
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for count in tokens:
                group.create_task(go(limits, count, seconds))
        return time.perf_counter() - began

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("slots", "low"), [(None, 0.05), (8, 0.05), (2, 0.2), (1, 0.4)])
def test_slots(slots, low):
    assert low <= timed(lambda: Limits(FREE, slots), *[0] * 8, seconds=0.05) < low + 0.2


def test_requests_are_spaced_by_the_share_of_the_slots():
    limits = {**FREE, "requests_per_minute": 2400}
    assert 0.1 <= timed(lambda: Limits(limits), *[0] * 5) < 0.3  # forty a second
    assert 0.4 <= timed(lambda: Limits(limits, 2), *[0] * 5) < 0.7  # a quarter of it


def test_tokens_per_minute_with_a_request_larger_than_the_bucket():
    limits = {**FREE, "tokens_per_minute": 60_000}  # a thousand a second, six thousand at once
    assert timed(lambda: Limits(limits), 5_900) < 0.1
    assert 0.4 <= timed(lambda: Limits(limits), 6_500) < 0.8


@pytest.mark.parametrize(("used", "low", "high"), [(100, 0.0, 0.1), (900, 0.35, 0.8)])
def test_a_wrong_estimate_is_made_up_for(used, low, high):
    async def some():
        limits = Limits({**FREE, "tokens_per_minute": 60_000})
        await go(limits, 5_500)
        limits.settle(0, used)
        began = time.perf_counter()
        await go(limits, 0)
        return time.perf_counter() - began

    assert low <= asyncio.run(some()) < high

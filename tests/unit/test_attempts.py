import asyncio

import pytest

from lmev2.llm.attempts import attempt
from lmev2.llm.faults import EndpointError, RejectedError, TransientError
from lmev2.llm.limits import Limits

CONFIG = {"attempts": 3, "backoff_s": 0.01}
LIMITS = {"concurrency": 1, "requests_per_minute": None, "tokens_per_minute": None}


def trying(*outcomes, seconds=0.0, **changes):
    """Attempt calls that take `seconds` and end in turn as `outcomes` say."""
    left = list(outcomes)

    async def call():
        await asyncio.sleep(seconds)
        if isinstance(outcome := left.pop(0), Exception):
            raise outcome
        return outcome

    async def main():
        return await attempt(call, Limits(LIMITS), CONFIG | changes)

    try:
        return (*asyncio.run(main()), len(outcomes) - len(left))
    except Exception as error:
        return error, None, len(outcomes) - len(left)


def test_a_good_call_is_called_once():
    value, timing, calls = trying("yes", seconds=0.05)
    assert (value, calls, timing.attempts) == ("yes", 1, 1)
    assert timing.latency_s >= 0.05 and timing.retry_wait_s == pytest.approx(0, abs=0.01)


def test_failed_attempts_and_pauses_are_retry_wait():
    value, timing, calls = trying(TransientError("a"), TransientError("b", 0.3), "yes", seconds=0.05)
    assert (value, calls, timing.attempts) == ("yes", 3, 3)
    assert 0.05 <= timing.latency_s < 0.15
    assert timing.retry_wait_s >= 0.05 + 0.05 + 0.01 + 0.3


def test_attempts_are_bounded_and_the_last_error_is_told():
    error, _, calls = trying(*(TransientError(f"no {n}") for n in range(9)))
    assert calls == 3 and type(error) is TransientError and str(error) == "no 2 (tried 3 times)"


@pytest.mark.parametrize("error", [RejectedError("no"), EndpointError("no"), ValueError("a bug")])
def test_other_errors_are_not_tried_again(error):
    raised, _, calls = trying(error, "yes")
    assert raised is error and calls == 1


def test_no_waiting_for_tomorrow():
    error, _, calls = trying(TransientError("tomorrow", 3600.0), "yes")
    assert calls == 1 and "tried once" in str(error)

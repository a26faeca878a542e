"""One call, attempted until it succeeds or cannot; waiting is booked apart from working."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_exponential_jitter

from lmev2.llm.faults import TransientError
from lmev2.llm.limits import Limits

LONGEST_BACK_OFF_S = 60.0
# A server that asks for a longer wait than this has closed for the day: the item fails, a later run goes on.
LONGEST_RETRY_AFTER_S = 600.0

Value = TypeVar("Value")


@dataclass(frozen=True)
class Timing:
    """Where a call's time went, in seconds.

    `latency_s` is that of the attempt that succeeded, `queue_wait_s` all waiting for a slot and for the
    rates, `retry_wait_s` the attempts that failed and the pauses after them.
    """

    attempts: int
    latency_s: float
    queue_wait_s: float
    retry_wait_s: float


async def attempt(
    call: Callable[[], Awaitable[Value]], limits: Limits, config: Mapping[str, Any], *, tokens: int = 0
) -> tuple[Value, Timing]:
    """Call until it succeeds.

    Args:
        call: raises `TransientError` where it should be called again.
        limits: admits each attempt; the slot is free during the pauses.
        config: `attempts` and `backoff_s` of the role's limits.
        tokens: estimate of what an attempt takes.

    Raises:
        TransientError: the last one, when all attempts failed.
    """
    began, queued, done = time.perf_counter(), 0.0, 0
    first = config["backoff_s"]
    pause = wait_exponential_jitter(multiplier=first, jitter=first, max=LONGEST_BACK_OFF_S)

    def wait(state: RetryCallState) -> float:
        return max(pause(state), state.outcome.exception().retry_after or 0.0)

    try:
        async for trial in AsyncRetrying(
            stop=stop_after_attempt(config["attempts"]),
            wait=wait,
            retry=retry_if_exception(_worth_it),
            reraise=True,
        ):
            with trial:
                done += 1
                asked = time.perf_counter()
                async with limits.admitted(tokens):
                    started = time.perf_counter()
                    queued += started - asked
                    value = await call()
                    ended = time.perf_counter()
    except TransientError as error:
        times = "once" if done == 1 else f"{done} times"
        raise TransientError(f"{error} (tried {times})", error.retry_after) from None
    return value, Timing(done, ended - started, queued, started - began - queued)


def _worth_it(error: BaseException) -> bool:
    return isinstance(error, TransientError) and (error.retry_after or 0.0) <= LONGEST_RETRY_AFTER_S

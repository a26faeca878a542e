"""How fast one job may ask one endpoint.

`limits.concurrency`, `requests_per_minute` and `tokens_per_minute` of the config are totals over all jobs
that run at the same time. Snakemake grants each job some of the role's slots (`resources: <role>_slots`,
of which there are `concurrency`); the job's share of the rates is that of its slots:

    share = granted / concurrency

so that parallel jobs do not multiply a limit.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiolimiter import AsyncLimiter

# A bucket holds the tokens of this many seconds: what may go out at once after a pause.
BUCKET_SECONDS = 6.0


class Limits:
    """Admits the requests of one job to one endpoint; of use within one event loop.

    Args:
        limits: the role's `limits` of the config.
        slots: requests in flight that the job was granted; None: all.
    """

    def __init__(self, limits: Mapping[str, Any], slots: int | None = None) -> None:
        slots = slots or limits["concurrency"]
        share = min(1.0, slots / limits["concurrency"])
        self._slots = asyncio.Semaphore(slots)
        requests, tokens = limits["requests_per_minute"], limits["tokens_per_minute"]
        # One request at a time, evenly spaced: no minute ever sees more than the limit.
        self._requests = AsyncLimiter(1, 60 / (requests * share)) if requests else None
        self._tokens = AsyncLimiter(tokens * share * BUCKET_SECONDS / 60, BUCKET_SECONDS) if tokens else None
        self._owed = 0.0

    @asynccontextmanager
    async def admitted(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a slot and for the rates; hold the slot during the block.

        Args:
            tokens: what the request will take, by estimate; see `settle`.
        """
        async with self._slots:
            if self._requests:
                await self._requests.acquire()
            if self._tokens:
                rest, self._owed = max(0.0, tokens + self._owed), 0.0
                while rest > 0:
                    await self._tokens.acquire(part := min(rest, self._tokens.max_rate))
                    rest -= part
            yield

    def settle(self, estimated: int, used: int) -> None:
        """Make up for a wrong estimate with the next request."""
        if self._tokens:
            self._owed += used - estimated

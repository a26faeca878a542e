"""Rows of a stage, made side by side."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import Any

# What names one item of one arm in the query, read and judge tables.
ARM = ("question_id", "method", "operating_point", "tier", "repeat")


async def gather_rows(
    work: Sequence[Callable[[], Awaitable[Any]]],
    progress: Callable[[], None],
    at_once: int | None = None,
) -> list[Any]:
    """Do all pieces of `work` side by side, in order of the list, and keep that order.

    The door bounds how many model calls fly at a time. The first error ends the rest; what was
    journaled until then is kept.

    Args:
        work: the pieces.
        progress: called after each.
        at_once: begin at most so many, where a piece holds much memory while it waits for its call.
    """
    slots = asyncio.Semaphore(at_once) if at_once else nullcontext()

    async def one(piece: Callable[[], Awaitable[Any]]) -> Any:
        async with slots:
            row = await piece()
        progress()
        return row

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(piece)) for piece in work]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]

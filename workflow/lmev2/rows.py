"""Rows of a stage, made side by side."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from lmev2.llm.faults import ItemError

REASONS_SHOWN = 5


class ItemsFailedError(ItemError):
    """Some items came to nothing; all others are done and kept."""

    def __init__(self, errors: Iterable[ItemError], total: int) -> None:
        # What failed together is told apart, so that every reason counts once an item.
        self.errors = [
            inner
            for error in errors
            for inner in (error.errors if isinstance(error, ItemsFailedError) else [error])
        ]
        self.total = total
        reasons = Counter(map(str, self.errors)).most_common()
        lines = [f"  {count} × {reason}" for reason, count in reasons[:REASONS_SHOWN]]
        if len(reasons) > REASONS_SHOWN:
            lines.append(f"  and {len(reasons) - REASONS_SHOWN} other reasons")
        super().__init__(
            "\n".join(
                [f"{len(self.errors)} of {total} items failed; the others are kept, so run again:", *lines]
            )
        )


async def gather_rows(
    work: Sequence[Callable[[], Awaitable[Any]]],
    progress: Callable[[], None] | None = None,
    at_once: int | None = None,
) -> list[Any]:
    """Do all pieces of `work` side by side, begun in order of the list, and keep that order.

    The door bounds how many model calls fly at a time.

    Args:
        work: the pieces.
        progress: called after each.
        at_once: begin at most so many, where a piece holds much memory while it waits for its call.

    Raises:
        ItemsFailedError: some pieces raised an `ItemError`; raised once all others are done. Any other
            error ends the rest at once; what was journaled until then is kept.
    """
    slots = asyncio.Semaphore(at_once) if at_once else nullcontext()
    failed: list[ItemError] = []

    async def one(piece: Callable[[], Awaitable[Any]]) -> Any:
        try:
            async with slots:
                row = await piece()
        except ItemError as error:
            failed.append(error)
            return None
        if progress:
            progress()
        return row

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(piece)) for piece in work]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if failed:
        raise ItemsFailedError(failed, len(work))
    return [task.result() for task in tasks]

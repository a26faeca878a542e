"""states.parquet, written one row group a trajectory while the next one is read."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lmev2.records import SCHEMAS

# Long texts that never come twice: a dictionary of them is only in the way, and bounds say nothing.
_LONG_TEXTS = {"thought", "tree"}
# Trajectories that wait for the writer: so many that neither thread stands still when the other is held up.
_WAITING = 8


@contextmanager
def writing_states(path: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """Give a function that writes the states of one trajectory (rows of the schema `states`) to `path`.

    Compression is half the work of ingest and holds no lock, so that a thread does it. Few trajectories
    wait: memory stays bounded. What the thread raises comes out of a later call or of the end of the block.
    """
    schema = SCHEMAS["states"]
    short = [name for name in schema.names if name not in _LONG_TEXTS]
    pending: deque[Future[None]] = deque()
    with (
        pq.ParquetWriter(
            path, schema, compression="zstd", use_dictionary=short, write_statistics=short
        ) as writer,
        ThreadPoolExecutor(1) as thread,
    ):

        def write(states: list[dict[str, Any]]) -> None:
            writer.write_table(pa.Table.from_pylist(states, schema=schema), row_group_size=len(states))

        def write_later(states: list[dict[str, Any]]) -> None:
            if len(pending) == _WAITING:
                pending.popleft().result()
            pending.append(thread.submit(write, states))

        yield write_later
        for written in pending:
            written.result()

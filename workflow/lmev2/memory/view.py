"""A haystack as a view of shared artifacts: a selection of rows, never a rebuild."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lmev2.errors import UndeclaredError
from lmev2.memory.search import mean_of_best, row_scores, top_k
from lmev2.store import read_table
from lmev2.trajectory import Trajectories, Trajectory


class Pool:
    """All entries of one kind, over all trajectories, in the order of trajectories and states.

    Args:
        entries: `insert/{pool}.parquet`, with entry_id, trajectory_id and digest.
        embeddings: `insert/{pool}.embeddings.parquet`: per entry the rows of its vectors.
        vectors: `insert/{pool}.vectors.parquet`: the distinct vectors.
        best: of an entry's vectors, how many of the nearest make its score.
    """

    def __init__(self, entries: str | Path, embeddings: str | Path, vectors: str | Path, best: int) -> None:
        self.best = best
        self.entries = read_table(entries)
        embedded = read_table(embeddings)
        if embedded.column("entry_id") != self.entries.column("entry_id"):
            raise ValueError(
                f"{embeddings} does not hold the entries of {entries}: remove both and run again"
            )
        rows = embedded.column("vectors").combine_chunks()
        self._vector_rows = rows.values.to_numpy()
        self._starts = rows.offsets.to_numpy()
        self.vectors = _matrix(vectors)
        self._ranges = _ranges(self.entries.column("trajectory_id"))
        self._digests = self._digest_by_trajectory(embedded)

    def _digest_by_trajectory(self, embedded: pa.Table) -> dict[str, str]:
        entries = self.entries.column("digest").to_pylist()
        texts = embedded.column("digest").to_pylist()
        return {
            trajectory: hashlib.sha256("".join(entries[start:stop] + texts[start:stop]).encode()).hexdigest()
            for trajectory, (start, stop) in self._ranges.items()
        }

    def digest(self, trajectory_id: str) -> str:
        """Digest of the trajectory's entries and vectors; of nothing if it has no entry."""
        return self._digests.get(trajectory_id, "")

    def select(self, trajectory_ids: Sequence[str]) -> "PoolView":
        """The entries of a haystack, in haystack order."""
        empty = (0, 0)
        ranges = [np.arange(*self._ranges.get(trajectory, empty)) for trajectory in trajectory_ids]
        return PoolView(self, np.concatenate(ranges) if ranges else np.zeros(0, np.int64))

    def vector_rows(self, entry_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the entries' vectors, one after the other, and where each entry's begin [n + 1]."""
        counts = self._starts[entry_rows + 1] - self._starts[entry_rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        # Positions 0..total-1, shifted entry by entry to where its list lies in the pool.
        shift = np.repeat(self._starts[entry_rows] - starts[:-1], counts)
        return self._vector_rows[np.arange(starts[-1]) + shift], starts


@dataclass(frozen=True)
class Hit:
    """One entry found: its columns and its score."""

    entry: Mapping[str, Any]
    score: float


class PoolView:
    """The entries of one haystack in one pool."""

    def __init__(self, pool: Pool, rows: np.ndarray) -> None:
        self._pool = pool
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: str) -> list[Any]:
        """One column of the entries, in order of haystack position and state."""
        return self._pool.entries.column(name).take(pa.array(self._rows)).to_pylist()

    def entries(self) -> list[dict[str, Any]]:
        """The entries whole, in order of haystack position and state."""
        return self._pool.entries.take(pa.array(self._rows)).to_pylist()

    def where(self, column: str, value: Any) -> "PoolView":
        """Only the entries whose `column` has `value`."""
        values = self._pool.entries.column(column).take(pa.array(self._rows))
        return PoolView(self._pool, self._rows[pc.equal(values, value).to_numpy(zero_copy_only=False)])

    def search(self, query: np.ndarray, k: int) -> list[Hit]:
        """The `k` entries nearest to the unit vector `query` [d] by cosine, best first.

        Exact. Ties go to the earlier haystack position, then to the earlier state. Entries without a
        vector (an empty tree) are never found; with fewer than `k` entries all are returned.
        """
        distinct, positions, starts = self._vectors
        distinct_scores = row_scores(query, self._pool.vectors, distinct)
        scores = mean_of_best(distinct_scores[positions], starts, self._pool.best)
        best = top_k(scores, k)
        found = self._pool.entries.take(pa.array(self._rows[best])).to_pylist()
        return [Hit(entry, float(scores[row])) for entry, row in zip(found, best, strict=True)]

    @cached_property
    def _vectors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The view's distinct vectors (rows of the pool's matrix), which of them stands at each position,
        and where each entry's positions begin.
        """
        rows, starts = self._pool.vector_rows(self._rows)
        distinct, positions = np.unique(rows, return_inverse=True)
        return distinct, positions, starts


class HaystackView:
    """One haystack: its trajectories in order, and their entries in the shared pools."""

    def __init__(
        self, trajectory_ids: Sequence[str], trajectories: Trajectories, pools: Mapping[str, Pool]
    ) -> None:
        self.trajectory_ids = tuple(trajectory_ids)
        self._trajectories = trajectories
        self._pools = pools
        self._views: dict[str, PoolView] = {}

    def goal(self, trajectory_id: str) -> str:
        """The goal of one of its trajectories, without reading its states."""
        return self._trajectories.goal(trajectory_id)

    def page_titles(self, trajectory_id: str) -> tuple[str, ...]:
        """The page titles of the states of one of its trajectories, without reading their trees."""
        return self._trajectories.page_titles(trajectory_id)

    def trajectory(self, trajectory_id: str) -> Trajectory:
        """One trajectory of the haystack.

        Raises:
            KeyError: it is not in this haystack.
        """
        if trajectory_id not in self.trajectory_ids:
            raise KeyError(f"trajectory {trajectory_id!r} is not in this haystack")
        return self._trajectories[trajectory_id]

    def pool(self, name: str) -> PoolView:
        """The haystack's entries of one pool.

        Raises:
            UndeclaredError: the method's class does not name it in `pools`.
        """
        if name not in self._pools:
            raise UndeclaredError(
                f"the method reads the pool {name!r}, which its class does not name: add it to its `pools`"
            )
        if name not in self._views:
            self._views[name] = self._pools[name].select(self.trajectory_ids)
        return self._views[name]


def _ranges(trajectory_ids: pa.ChunkedArray) -> dict[str, tuple[int, int]]:
    """Trajectory -> [start, stop) of its rows, which lie together."""
    runs = pc.run_end_encode(trajectory_ids.combine_chunks(), run_end_type=pa.int64())
    stops = runs.run_ends.to_pylist()
    return dict(zip(runs.values.to_pylist(), zip([0, *stops], stops, strict=False), strict=True))


def _matrix(path: str | Path) -> np.ndarray:
    """The table of distinct vectors as float32 [m, d].

    Read in small batches into place: with whole columns the file, its Arrow copy and the matrix would be in
    memory at the same time (3 GiB instead of 1 for 52,500 vectors of 4,096 dimensions).
    """
    file = pq.ParquetFile(path, pre_buffer=False, buffer_size=2**20)
    dimensions = file.schema_arrow.field("vector").type.list_size
    matrix = np.empty((file.metadata.num_rows, dimensions), np.float32)
    start = 0
    for batch in file.iter_batches(batch_size=2048, columns=["vector"]):
        stop = start + len(batch)
        matrix[start:stop] = batch.column(0).flatten().to_numpy().reshape(len(batch), dimensions)
        start = stop
    return matrix

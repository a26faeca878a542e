"""How long the full-size slice pool takes to load, and a question's haystack to select and to search.

The released dataset has 52,500 states, so as many slices; Qwen3-Embedding-8B makes vectors of 4,096
dimensions. Vectors are random here: speed does not depend on what they hold. The table gives every time also
as a multiple of one plain matrix-vector product of numpy over the same haystack in the same run, so that
figures of two machines can be compared.

    python benchmarks/search_pool.py [--folder DIR] [--slices N] [--dimensions D] [--trajectories T]
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lmev2.memory.view import HaystackView, Pool

ROUNDS = 20
QUERIES = 5  # most slice queries of a controller
TOP = 6


def main() -> None:
    """Make the pool, if it is not there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, help="keep the pool here (860 MB) and use it again")
    parser.add_argument("--slices", type=int, default=52_500)
    parser.add_argument("--dimensions", type=int, default=4_096)
    parser.add_argument("--trajectories", type=int, default=1_870, help="in the pool")
    parser.add_argument("--haystack", type=int, default=500, help="trajectories of a haystack")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        paths = [folder / f"slices{suffix}.parquet" for suffix in ("", ".embeddings", ".vectors")]
        if not paths[-1].exists():
            folder.mkdir(parents=True, exist_ok=True)
            make_pool(paths, arguments.slices, arguments.dimensions, arguments.trajectories)
        measure(paths, arguments.haystack)


def make_pool(paths: list[Path], slices: int, dimensions: int, trajectories: int) -> None:
    """Write the three files of a slice pool with one random unit vector a slice."""
    random = np.random.default_rng(0)
    owners = [f"t{number:05d}" for number in np.sort(random.integers(0, trajectories, slices))]
    ids = [f"{owner}/{row}" for row, owner in enumerate(owners)]
    states = pa.array(range(slices), pa.int32())
    entries = {"entry_id": ids, "trajectory_id": owners, "digest": ids}
    entries |= dict.fromkeys(("first_state", "centre_state", "last_state"), states)
    pq.write_table(pa.table(entries), paths[0], compression="zstd")
    embedded = {
        "entry_id": ids,
        "trajectory_id": owners,
        "digest": ids,
        "vectors": [[row] for row in range(slices)],
    }
    pq.write_table(pa.table(embedded), paths[1], compression="zstd")
    matrix = random.standard_normal((slices, dimensions), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    column = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), dimensions)
    pq.write_table(pa.table({"vector": column}), paths[2], compression="zstd")


def measure(paths: list[Path], size: int) -> None:
    """Time loading, selecting and searching, and print the table."""
    began = time.perf_counter()
    pool = Pool(*paths, best=5)
    loading = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    slices, dimensions = pool.vectors.shape
    trajectories = sorted(set(pool.entries.column("trajectory_id").to_pylist()))
    random = np.random.default_rng(1)
    queries = random.standard_normal((ROUNDS, QUERIES, dimensions)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=-1, keepdims=True)
    haystacks = [random.permutation(trajectories)[:size].tolist() for _ in range(ROUNDS)]

    def view(number: int) -> HaystackView:
        return HaystackView(haystacks[number], {}, {"slices": pool})

    def one_query(number: int) -> None:
        view(number).pool("slices").search(queries[number, 0], TOP)

    def five_queries(number: int) -> None:
        selected = view(number).pool("slices")
        for query in queries[number]:
            selected.search(query, TOP)

    rows = [pool.select(haystack)._rows for haystack in haystacks]
    copied = np.ascontiguousarray(pool.vectors[rows[0]])
    works = {
        "matvec of the haystack, copied out before": lambda number: copied @ queries[number, 0],
        "copying it out, then the matvec": lambda number: pool.vectors[rows[number]] @ queries[number, 0],
        "select and search, one query": one_query,
        f"select and search, {QUERIES} queries": five_queries,
    }
    times = {name: seconds(work) for name, work in works.items()}
    plain = statistics.median(next(iter(times.values())))
    print(
        f"{slices:,} slices x {dimensions:,} dimensions, float32; "
        f"haystack: {size} trajectories, {len(copied):,} slices"
    )
    print(f"loading: {loading:.1f} s, peak memory {peak:.1f} GiB; {ROUNDS} haystacks\n")
    print("| | median, ms | best, ms | median, x matvec |\n| --- | ---: | ---: | ---: |")
    for name, each in times.items():
        middle = statistics.median(each)
        print(f"| {name} | {1000 * middle:.1f} | {1000 * min(each):.1f} | {middle / plain:.2f} |")


def seconds(work: Callable[[int], object]) -> list[float]:
    """Seconds of `work` in each round."""
    found = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        work(number)
        found.append(time.perf_counter() - began)
    return found


if __name__ == "__main__":
    main()

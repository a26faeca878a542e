"""Ingest, haystacks and the selection of a haystack on a dataset of the released size (make_released.py).

Each measurement is a process of its own, so that its peak memory is its own. Times also stand as multiples of
one plain pass, line by line with orjson, over trajectories.jsonl in the same run, which is what compares
between machines.

    python benchmarks/ingest_released.py [FOLDER] [--rounds N]
"""

import argparse
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orjson
import pyarrow.parquet as pq
from make_released import make_dataset

from lmev2.ingest.dataset import ingest_dataset, validate_dataset, write_haystack
from lmev2.store import read_rows
from lmev2.trajectory import Trajectories

TIERS = ("small", "medium")
SELECTIONS = 3  # selections that are timed together


class Took(NamedTuple):
    """Wall-clock and processor seconds, and peak memory in MiB."""

    wall: float
    cpu: float
    peak: float


def main() -> None:
    """Make the dataset, if it is not there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        help="keep the dataset and its tables here (1.5 GB), or use them again",
    )
    parser.add_argument("--rounds", type=int, default=3, help="of each pass over the whole file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        dataset, out = folder / "data", folder / "ingest"
        if not (dataset / "haystacks" / "lme_v2_medium.json").exists():
            make_dataset(dataset)
        measure(dataset, out, arguments.rounds)


def measure(dataset: Path, out: Path, rounds: int) -> None:
    """Run every piece of work and print what it took."""
    size = (dataset / "trajectories.jsonl").stat().st_size
    works: dict[str, Callable[[], object]] = {
        "plain parse (orjson, line by line)": lambda: parse(dataset),
        "data check": lambda: validate_dataset(dataset, TIERS),
        "ingest": lambda: ingest_dataset(dataset, TIERS, out),
    }
    # Round by round, so that a busy minute of the machine falls on all of them.
    rounds_of: dict[str, list[Took]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            rounds_of[name].append(apart(work))
    rows = {name: Took(*map(statistics.median, zip(*each, strict=True))) for name, each in rounds_of.items()}
    plain = next(iter(rows.values()))
    for tier in TIERS:
        rows[f"haystack, {tier}"] = apart(lambda tier=tier: haystack(dataset, out, tier))
    rows["scan of states.parquet, trees and all"] = apart(lambda: scan(out))
    for tier in TIERS:
        rows[f"selection of one haystack, {tier}"] = apart(lambda tier=tier: select(out, tier), SELECTIONS)
    n_states = pq.ParquetFile(out / "states.parquet").metadata.num_rows
    bytes_of = {path.name: path.stat().st_size for path in sorted(out.glob("*.parquet"))}
    other = sum(bytes_of.values()) - bytes_of["states.parquet"]
    print(
        f"trajectories.jsonl {size / 1e6:,.0f} MB, {n_states:,} states; median of {rounds} rounds; "
        f"states.parquet "
        f"{bytes_of['states.parquet'] / 1e6:,.0f} MB, all other tables {other / 1e6:,.1f} MB"
    )
    for tier in TIERS:
        read, whole = bytes_of_haystack(out, tier)
        print(f"row groups of one {tier} haystack: {read / 1e6:,.1f} of {whole / 1e6:,.1f} MB")
    print("\n| | seconds | x plain | processor seconds | x plain | peak memory, MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, took in rows.items():
        ratios = (
            f"{took.wall:.2f} | {took.wall / plain.wall:.2f} | {took.cpu:.2f} | {took.cpu / plain.cpu:.2f}"
        )
        print(f"| {name} | {ratios} | {took.peak:,.0f} |")


def apart(work: Callable[[], object], times: int = 1) -> Took:
    """What one turn of `work` takes in a process of its own."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(times):
            work()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        sender.send(Took(wall / times, cpu / times, peak))

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def parse(dataset: Path) -> None:
    """The plain pass."""
    with (dataset / "trajectories.jsonl").open("rb") as lines:
        for line in lines:
            orjson.loads(line)


def haystack(dataset: Path, out: Path, tier: str) -> None:
    """The haystack stage of a tier."""
    tables = (out / "questions.parquet", out / "coverage.parquet")
    write_haystack(dataset, tier, *tables, out / f"{tier}.parquet", out / f"{tier}.labels.parquet")


def scan(out: Path) -> None:
    """Read all states, a row group at a time."""
    file = pq.ParquetFile(out / "states.parquet")
    for group in range(file.num_row_groups):
        file.read_row_group(group).to_pylist()


def members(out: Path, tier: str) -> list[str]:
    """The haystack of the first question."""
    rows = read_rows(out / f"{tier}.parquet")
    return [row["trajectory_id"] for row in rows if row["question_id"] == rows[0]["question_id"]]


def select(out: Path, tier: str) -> None:
    """Open the tables and read all trajectories of one question's haystack."""
    trajectories = Trajectories(out / "trajectories.parquet", out / "states.parquet")
    for trajectory_id in members(out, tier):
        trajectories[trajectory_id]


def bytes_of_haystack(out: Path, tier: str) -> tuple[int, int]:
    """Compressed bytes of the row groups of one haystack, and of all."""
    metadata = pq.ParquetFile(out / "states.parquet").metadata
    ids = [row["trajectory_id"] for row in read_rows(out / "trajectories.parquet", ["trajectory_id"])]
    wanted = set(members(out, tier))
    sizes = {}
    for number, trajectory_id in enumerate(ids):
        group = metadata.row_group(number)
        sizes[trajectory_id] = sum(group.column(c).total_compressed_size for c in range(group.num_columns))
    return sum(size for trajectory_id, size in sizes.items() if trajectory_id in wanted), sum(sizes.values())


if __name__ == "__main__":
    main()

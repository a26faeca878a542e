"""A dataset folder in the official format, checked whole and turned into the ingest tables.

`validate_dataset` and `ingest_dataset` make the same one pass over all files and report every defect
together; the second also writes. Memory stays bounded by one trajectory, the ids, the questions and
the haystack files.
"""

import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmev2.haystack.tables import write_tier
from lmev2.ingest import questions
from lmev2.ingest.counts import Counts
from lmev2.ingest.coverage import read_coverage
from lmev2.ingest.defects import DatasetError, Defect, NoDatasetError, counted
from lmev2.ingest.haystacks import check_haystack, read_haystack
from lmev2.ingest.known import Known
from lmev2.ingest.questions import read_questions
from lmev2.ingest.screenshots import Image
from lmev2.ingest.source import Source, TrajectoriesFile
from lmev2.ingest.states_file import writing_states
from lmev2.ingest.trajectories import FAMILIES_FILE, read_families, read_trajectories
from lmev2.records import SCHEMAS
from lmev2.store import read_rows, replacing, write_table

Progress = Callable[[int], None]


@dataclass
class _Scan:
    """What one pass over a dataset gives apart from the states."""

    counts: Counts
    defects: list[Defect]
    questions: list[dict[str, Any]]
    images: dict[str, Image]
    trajectories: list[dict[str, Any]]
    coverage: list[dict[str, Any]]


def validate_dataset(
    dataset: str | Path,
    tiers: Iterable[str],
    *,
    progress: Progress | None = None,
    workers: int = 1,
    source: Source | None = None,
) -> tuple[Counts, list[Defect]]:
    """Check a dataset without writing anything.

    Args:
        dataset: folder in the official format (docs/benchmark.md).
        tiers: names of the haystack files to check, as in `haystacks/lme_v2_{tier}.json`.
        progress: called with the number of trajectories read so far, after each.
        workers: screenshots that are decoded at a time.
        source: where the trajectories come from; trajectories.jsonl if None.

    Returns:
        The counts, and all defects; empty if the dataset is sound. Counts are of the sound rows.

    Raises:
        NoDatasetError: there is no such folder.
    """
    scan = _scan(Path(dataset), tiers, lambda states: None, progress, workers, source)
    return scan.counts, scan.defects


def ingest_dataset(
    dataset: str | Path,
    tiers: Iterable[str],
    out: str | Path,
    *,
    progress: Progress | None = None,
    workers: int = 1,
    source: Source | None = None,
) -> Counts:
    """Check a dataset and write its tables, deterministically.

    Writes `questions`, `query_questions`, `trajectories`, `states` and `coverage` (`.parquet`, schemas in
    `records`) and the folder `question_images/` under `out`. `states` has one row group a trajectory,
    in the order of `trajectories`. The haystacks are checked here and written by `write_haystack`.

    Args:
        dataset: as in `validate_dataset`.
        tiers: as in `validate_dataset`.
        out: folder to write to; image paths in the tables begin with it, as given.
        progress: as in `validate_dataset`.
        workers: as in `validate_dataset`.
        source: as in `validate_dataset`; its reports are written to `out`, too.

    Raises:
        DatasetError: the dataset has defects; nothing was written.
        NoDatasetError: there is no such folder.
    """
    dataset, out = Path(dataset), Path(out)
    with replacing(out / "states.parquet") as temporary:
        with writing_states(temporary) as write_states:
            scan = _scan(dataset, tiers, write_states, progress, workers, source)
        if scan.defects:
            raise DatasetError(scan.defects, str(dataset))
        names = _copy_images(dataset, scan.images, out / "question_images")
        rows = [{**row, "image": names.get(row["image_sha256"])} for row in scan.questions]
        narrow = SCHEMAS["query_questions"].names
        write_table("questions", rows, out / "questions.parquet")
        write_table(
            "query_questions",
            [{name: row[name] for name in narrow} for row in rows],
            out / "query_questions.parquet",
        )
        write_table("trajectories", scan.trajectories, out / "trajectories.parquet")
        write_table("coverage", scan.coverage, out / "coverage.parquet")
        if source is not None:
            source.write_reports(out)
    return scan.counts


def write_haystack(
    dataset: str | Path,
    tier: str,
    questions_parquet: str | Path,
    coverage_parquet: str | Path,
    out_table: str | Path,
    out_labels: str | Path,
) -> None:
    """Write a tier's haystacks of an ingested dataset as a table, and the role of each member apart.

    Args:
        dataset: the dataset folder.
        tier: its haystack file is `haystacks/lme_v2_{tier}.json`.
        questions_parquet: the ingested questions; they give the order of the rows.
        coverage_parquet: the ingested evidence labels.
        out_table: file of the schema `haystack`.
        out_labels: file of the schema `haystack_labels`.

    Raises:
        DatasetError: the haystack file is unreadable or does not fit the questions.
    """
    defects: list[Defect] = []
    known = Known(questions.FILE)
    known.domains = {
        row["question_id"]: row["domain"] for row in read_rows(questions_parquet, ["question_id", "domain"])
    }
    known.complete = True
    haystacks = read_haystack(Path(dataset), tier, defects)
    if haystacks is not None:
        check_haystack(haystacks, tier, known, Known(TrajectoriesFile.file), defects)
    if defects:
        raise DatasetError(defects, str(dataset))
    in_order = {question_id: haystacks[question_id] for question_id in known.domains}
    write_tier(in_order, read_rows(coverage_parquet, ["question_id", "trajectory_id"]), out_table, out_labels)


def _scan(
    dataset: Path,
    tiers: Iterable[str],
    write_states: Callable[[list[dict[str, Any]]], None],
    progress: Progress | None,
    workers: int,
    source: Source | None,
) -> _Scan:
    if not dataset.is_dir():
        raise NoDatasetError(dataset)
    source = source or TrajectoriesFile()
    defects: list[Defect] = []
    counts = Counts()
    known_questions, known_trajectories = Known(questions.FILE), Known(source.file)
    question_rows, images = read_questions(dataset, known_questions, defects)
    counts.add_questions(question_rows)
    trajectory_rows = []
    tokens = {}
    families = read_families(dataset, defects)
    with ThreadPoolExecutor(workers) as pool:
        for trajectory in read_trajectories(dataset, families, known_trajectories, defects, pool.map, source):
            counts.add_trajectory(trajectory)
            write_states(trajectory.states)
            trajectory_rows.append(trajectory.row)
            tokens[trajectory.row["trajectory_id"]] = sum(state["tree_tokens"] for state in trajectory.states)
            if progress:
                progress(len(trajectory_rows))
    counts.notices += source.notices()
    unknown = sum(known_trajectories.lacks(trajectory_id) for trajectory_id in families)
    if unknown:
        counts.notices.append(f"{FAMILIES_FILE} names {counted(unknown, 'trajectory id')} that are not there")
    counts.families = len({row["family"] for row in trajectory_rows if row["family"] is not None})
    labels = read_coverage(dataset, known_questions, known_trajectories, defects)
    counts.labelled_questions = len({label["question_id"] for label in labels})
    for tier in tiers:
        haystacks = read_haystack(dataset, tier, defects)
        if haystacks is not None:
            check_haystack(haystacks, tier, known_questions, known_trajectories, defects)
            if not defects:
                counts.add_tier(tier, haystacks, tokens)
    return _Scan(counts, defects, question_rows, images, trajectory_rows, labels)


def _copy_images(dataset: Path, images: dict[str, Image], folder: Path) -> dict[str, str]:
    """Copy question images under names that tell nothing of the question; their paths by sha256."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for sha256, image in images.items():
        target = folder / f"{sha256}{image.suffix}"
        with replacing(target) as temporary:
            shutil.copyfile(dataset / image.path, temporary)
        paths[sha256] = target.as_posix()
    return paths

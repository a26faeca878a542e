"""A checker of packages, and of whatever else lies at a path; apart from what writes them."""

import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lmev2.errors import UserError
from lmev2.official.archive import unpack
from lmev2.official.check_run import check_run, load_json, load_records
from lmev2.official.run_folder import (
    DESCRIPTION,
    DOMAINS,
    HAYSTACK,
    METRIC_OVERVIEW,
    NAME,
    OVERVIEW,
    OVERVIEW_FIELDS,
    POINT_FILES,
    POINT_METADATA,
    POINTS,
    QUESTIONS,
    RECORDS,
    RUN_ARGS,
    RUN_FILES,
    UNFIT_FILE,
    UNFIT_KEY,
    agrees,
)


class CheckError(UserError):
    """What is to be checked is no run folder and no package."""


def check_path(path: Path) -> list[str]:
    """The problems of a run folder, a package folder or a package archive; none where it is sound.

    Raises:
        CheckError: it is none of them.
    """
    if path.is_file():
        with tempfile.TemporaryDirectory() as place:
            problems, folder = unpack(path, Path(place))
            problems = problems or check_package(folder)
            return [problem.replace(f"{place}/", f"{path}!") for problem in problems]
    if (path / OVERVIEW).is_file() or (path / POINTS).is_dir():
        return check_package(path)
    if not any((path / name).is_file() for name in RUN_FILES):
        raise CheckError(
            f"{path} is no run folder ({', '.join(RUN_FILES)}), no package folder ({OVERVIEW}, {POINTS}/) "
            "and no package archive (.tar.gz)"
        )
    return check_run(path)


def check_package(folder: Path) -> list[str]:
    """The problems of an unpacked package."""
    problems = [
        f"{path}: neither a file nor a folder; links are not allowed"
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or not (path.is_file() or path.is_dir())
    ]
    problems += [
        f"{path}: names are of letters, digits and . _ -"
        for path in sorted([folder, *folder.rglob("*")])
        if not NAME.fullmatch(path.name)
    ]
    for name in (OVERVIEW, DESCRIPTION):
        if not (folder / name).is_file():
            problems.append(f"{folder / name}: the file is missing")
    if not (folder / POINTS).is_dir() or not any((folder / POINTS).iterdir()):
        problems.append(f"{folder / POINTS}: there is no operating point")
    if problems:
        return problems
    overview = load_json(folder / OVERVIEW, dict, problems)
    root = {path.name for path in folder.iterdir()}
    code = sorted(root - {OVERVIEW, DESCRIPTION, POINTS, UNFIT_FILE})
    if code != [overview.get("code_file")]:
        problems.append(f"{folder}: there should be one code file, {overview.get('code_file')!r}, not {code}")
    if (folder / UNFIT_FILE).exists() or UNFIT_KEY in overview:
        problems.append(f"{folder}: it is marked as not for submission ({UNFIT_FILE})")
    if overview.get("submission_name") != folder.name:
        problems.append(f"{folder}: the folder's name is not submission_name")
    points = sorted((folder / POINTS).iterdir())
    listed = [entry.get("name") for entry in _listed(overview)]
    if sorted(map(str, listed)) != [point.name for point in points]:
        problems.append(f"{folder / OVERVIEW}: operating_points are {listed}, the folders are others")
    same: dict[str, dict[str, str]] = {}
    for point in points:
        problems += _point_problems(point, overview, same)
    for what, values in same.items():
        if len(set(values.values())) > 1:
            problems.append(f"{folder}: operating points differ in {what}: {', '.join(sorted(values))}")
    return problems


def _listed(overview: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The overview's operating points, as far as it has any."""
    points = overview.get(POINTS)
    return [entry for entry in points if isinstance(entry, dict)] if isinstance(points, list) else []


def _point_problems(
    point: Path, overview: Mapping[str, Any], same: dict[str, dict[str, str]]
) -> Iterator[str]:
    missing = [name for name in POINT_FILES if not (point / name).is_file()]
    if missing:
        yield f"{point}: lacks {', '.join(missing)}"
        return
    problems: list[str] = []
    metadata = load_json(point / POINT_METADATA, dict, problems)
    figures = load_json(point / METRIC_OVERVIEW, dict, problems)
    yield from problems
    for key, wanted in (
        ("operating_point_name", point.name),
        *((key, overview.get(key)) for key in ("submission_name", "method", "tier")),
    ):
        if metadata.get(key) != wanted:
            yield f"{point / POINT_METADATA}: {key} is {metadata.get(key)!r}, not {wanted!r}"
    for domain in DOMAINS:
        run = point / domain
        yield from (problems := check_run(run, domain, overview.get("tier")))
        if not problems:
            args = json.loads((run / RUN_ARGS).read_text(encoding="utf-8"))
            if args["method"] != overview.get("method"):
                yield f"{run}: the method is {args['method']!r}, not {overview.get('method')!r}"
        for what, name in ((f"{domain} questions", QUESTIONS), (f"{domain} haystacks", HAYSTACK)):
            if (run / name).is_file():
                same.setdefault(what, {})[point.name] = (run / name).read_text(encoding="utf-8")
    yield from _overview_problems(point, figures, overview)


def _overview_problems(point: Path, figures: Mapping[str, Any], overview: Mapping[str, Any]) -> Iterator[str]:
    frames = []
    for domain in DOMAINS:
        found: list[str] = []
        file = point / domain / RECORDS
        records = load_records(file, found) if file.is_file() else []
        if found or not records:
            return  # said already
        frames.append(pd.DataFrame(records))
    records = pd.concat(frames)
    right = records["score"].eq(1) & ~records["is_unknown"].astype(bool)
    ability = records["category"].str.removesuffix("-abs")
    shares = right.groupby(ability).mean()
    counted = [
        records["score"].mean(),
        *(shares.get(name, math.nan) for name in ("gotchas", "static", "dynamic", "procedure")),
        records["memory_query_duration_seconds"].mean(),
    ]
    for key, value in zip(OVERVIEW_FIELDS, counted, strict=True):
        if not agrees(stated := figures.get(key), None if pd.isna(value) else value):
            yield f"{point / METRIC_OVERVIEW}: {key} is {stated!r}; the records say {value}"
    for entry in _listed(overview):
        if entry.get("name") == point.name:
            for key in ("overall_full_set", "memory_query_avg_seconds"):
                if entry.get(key) != figures.get(key):
                    yield f"{point}: {key} differs between {OVERVIEW} and {METRIC_OVERVIEW}"

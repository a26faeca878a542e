"""The config's official runs as arms: found, named and grouped before anything is read in full."""

import re
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from lmev2.errors import UserError
from lmev2.official.run_folder import (
    DEFAULT_POINT,
    DOMAINS,
    METRICS,
    OVERVIEW,
    POINT_METADATA,
    POINTS,
    RECORDS,
    RUN_ARGS,
    TIERS,
    parse_json,
)

# In the place of a memory class, in the lists of methods.
OFFICIAL_RUN = "official run"
_LARGEST = 10**6  # bytes of run_args.json or of an operating point's metadata, which have a few hundred


class OfficialRunError(UserError):
    """An official run cannot be used; the message names file, line and id."""


@dataclass(frozen=True)
class ImportedRun:
    """A finished official run of one domain and tier.

    `place` is its folder, or the package archive that holds it in its folder `inside`; `reader` and
    `judge` are the models that it names.
    """

    domain: str
    tier: str
    place: str
    inside: str
    reader: str
    judge: str

    @property
    def files(self) -> list[str]:
        """The files on disk that an import depends on."""
        if self.inside:
            return [self.place]
        paths = (Path(self.place, name) for name in (RUN_ARGS, RECORDS, METRICS))
        return [str(path) for path in paths if path.is_file()]

    @property
    def params(self) -> dict[str, str]:
        """Plain values for a rule's params."""
        return {"domain": self.domain, "place": self.place, "inside": self.inside, "judge": self.judge}


@dataclass(frozen=True)
class ImportedArm:
    """An arm whose tables are read from official runs instead of being asked for."""

    id: str
    operating_point: str
    label: str
    family: str
    partial: bool
    runs: Mapping[str, tuple[ImportedRun, ...]]  # by tier

    @property
    def name(self) -> str:
        """`id` at the default operating point, else `id@point`."""
        return f"{self.id}@{self.operating_point}" if self.operating_point else self.id

    @property
    def models(self) -> dict[str, str]:
        """Reader and judge, as the runs name them."""
        run = next(iter(self.runs.values()))[0]
        return {"reader": run.reader, "judge": run.judge}

    def row(self) -> dict[str, Any]:
        """The arm as statistics and report need it (`Flow.methods`)."""
        return {
            "id": self.id,
            "operating_point": self.operating_point,
            "label": self.label,
            "family": self.family,
            "ablation_of": None,
            "labels": False,
            "answers": False,
            "class": OFFICIAL_RUN,
        }


def imported_arms(
    section: Mapping[str, Mapping[str, Any]],
    tiers: Collection[str],
    methods: Mapping[str, Mapping[str, Any]],
    faults: list[str],
) -> dict[str, ImportedArm]:
    """The arms of the config's `official_runs`, by name; what is wrong is added to `faults`.

    Args:
        section: the section, defaults filled in.
        tiers: the config's tiers.
        methods: the config's methods, whose ids and labels are taken.
        faults: one line a fault, each with its key.
    """
    arms: dict[str, ImportedArm] = {}
    labels: dict[str, str] = {}
    for id_, entry in section.items():
        place = f"official_runs.{id_}"
        if id_ in methods:
            faults.append(f"{place}: methods.{id_} has that id too; choose another")
        if (other := labels.setdefault(entry["label"], id_)) != id_:
            faults.append(f"{place}.label: {entry['label']!r} is official_runs.{other}'s label too")
        before = len(faults)
        points = _points(entry, place, faults)
        if len(faults) > before:
            continue
        note = f" ({OFFICIAL_RUN}{', in part' if entry['partial'] else ''})"
        for point, runs in points.items():
            grouped = _by_tier(runs, tiers, place, faults)
            if grouped:
                arm = ImportedArm(
                    id_, point, entry["label"] + note, entry["family"], entry["partial"], grouped
                )
                arms[arm.name] = arm
    return arms


def _points(entry: Mapping[str, Any], place: str, faults: list[str]) -> dict[str, list[ImportedRun]]:
    """Operating point -> its runs; the default one first."""
    points: dict[str, list[ImportedRun]] = defaultdict(list)
    for path in entry["runs"]:
        found = _find(Path(path), f"{place}.runs", faults)
        default = _default(found, entry["default_point"], f"{place}.default_point", faults)
        for name, runs in found.items():
            points["" if name in ("", default) else re.sub(r"[^a-z0-9_]", "_", name.lower())] += runs
    for point, more in entry["operating_points"].items():
        for path in more["runs"]:
            found = _find(Path(path), f"{place}.operating_points.{point}.runs", faults)
            if found.keys() - {""}:
                faults.append(
                    f"{place}.operating_points.{point}.runs: {path} is a package, which brings its own "
                    f"operating points; name it under {place}.runs"
                )
            points[point] += found.get("", [])
    return dict(sorted(points.items()))


def _default(found: Mapping[str, Any], wanted: str, place: str, faults: list[str]) -> str:
    """Which of a package's operating points is the method's default one."""
    names = [name for name in found if name]
    if len(names) < 2:
        return names[0] if names else ""
    choice = wanted or DEFAULT_POINT
    if choice not in names:
        faults.append(f"{place}: say which operating point Table 2 shows: {', '.join(sorted(names))}")
    return choice


def _by_tier(
    runs: list[ImportedRun], tiers: Collection[str], place: str, faults: list[str]
) -> dict[str, tuple[ImportedRun, ...]]:
    grouped: dict[str, dict[str, ImportedRun]] = defaultdict(dict)
    for run in runs:
        where = f"{run.place}{f' ({run.inside})' if run.inside else ''}"
        if run.tier not in tiers:
            faults.append(
                f"{place}: {where} is of the tier {run.tier!r}, which is not in `tiers`; add it there or "
                "leave the run out"
            )
        elif other := grouped[run.tier].get(run.domain):
            faults.append(
                f"{place}: {where} and {other.place} are both of {run.domain} {run.tier}; give each "
                "operating point its own entry"
            )
        else:
            grouped[run.tier][run.domain] = run
    if len(models := {(run.reader, run.judge) for run in runs}) > 1:
        listed = "; ".join(f"reader {reader}, judge {judge}" for reader, judge in sorted(models))
        faults.append(
            f"{place}: its runs have different models ({listed}); import them as methods of their own"
        )
    return {tier: tuple(found[domain] for domain in sorted(found)) for tier, found in sorted(grouped.items())}


def _find(path: Path, place: str, faults: list[str]) -> dict[str, list[ImportedRun]]:
    """Operating point ("" for a run folder) -> the runs at `path`."""
    try:
        if path.is_file():
            stat = path.stat()
            return _group(path, _archived(path, stat.st_mtime_ns, stat.st_size))
        if (path / OVERVIEW).is_file() or (path / POINTS).is_dir():
            texts = {
                file.relative_to(path).as_posix(): file.read_text(encoding="utf-8")
                for name in (RUN_ARGS, POINT_METADATA)
                for file in sorted(path.rglob(name))
            }
            return _group(path, texts)
        if not path.is_dir():
            raise OfficialRunError(f"there is neither a folder nor an archive {path}")
        for name in (RUN_ARGS, RECORDS):
            if not (path / name).is_file():
                raise OfficialRunError(f"{path} has no {name}: it is no finished official run")
        text = (path / RUN_ARGS).read_text(encoding="utf-8")
        return {"": [_run(path, "", text, path.resolve().name, {})]}
    except OfficialRunError as error:
        faults.append(f"{place}: {error}")
    except (tarfile.TarError, EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        faults.append(f"{place}: {path}: cannot be read: {error}; copy it again")
    return {}


@cache
def _archived(path: Path, _: int, __: int) -> dict[str, str]:
    """The small files of a package archive that say what is in it: name below its top folder -> text."""
    texts = {}
    with tarfile.open(path, "r:gz") as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            if name.name in (RUN_ARGS, POINT_METADATA) and member.isreg():
                if member.size > _LARGEST:
                    raise OfficialRunError(
                        f"{path}: {member.name} has {member.size:,} bytes; it is no such file"
                    )
                texts[member.name] = tar.extractfile(member).read().decode("utf-8")
    return texts


def _group(path: Path, texts: Mapping[str, str]) -> dict[str, list[ImportedRun]]:
    found: dict[str, list[ImportedRun]] = defaultdict(list)
    for name, text in sorted(texts.items()):
        file = PurePosixPath(name)
        if file.name == RUN_ARGS and len(file.parts) > 2:
            point = file.parents[1]  # …/operating_points/<point>/<domain>/run_args.json
            metadata = texts.get(str(point / POINT_METADATA))
            about = _object(metadata, f"{path}: {point / POINT_METADATA}") if metadata else {}
            inside, place = (str(file.parent), path) if path.is_file() else ("", path / file.parent)
            found[point.name].append(_run(place, inside, text, file.parent.name, about))
    if not found:
        raise OfficialRunError(f"{path} holds no {RUN_ARGS}: it is no package of the leaderboard")
    return dict(found)


def _run(place: Path, inside: str, text: str, folder: str, about: Mapping[str, Any]) -> ImportedRun:
    where = f"{place}{f': {inside}' if inside else ''}/{RUN_ARGS}"
    args = _object(text, where)
    named = re.fullmatch(rf".+_({'|'.join(DOMAINS)})_({'|'.join(TIERS)}|[a-z0-9_]+)", folder)
    values = {
        "domain": args.get("domain") or (named and named[1]) or (folder if folder in DOMAINS else None),
        # Early harness versions name neither method nor tier; the folder's name then does.
        "tier": args.get("tier") or about.get("tier") or (named and named[2]),
        "model": args.get("model"),
        "evaluator_model": args.get("evaluator_model"),
    }
    lacking = [key for key, value in values.items() if not (isinstance(value, str) and value)]
    if lacking:
        raise OfficialRunError(
            f"{where}: lacks {', '.join(lacking)}; add them, or name the folder <method>_<domain>_<tier>"
        )
    return ImportedRun(
        values["domain"], values["tier"], str(place), inside, values["model"], values["evaluator_model"]
    )


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except ValueError as error:
        raise OfficialRunError(f"{where}: cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise OfficialRunError(f"{where}: should be a JSON object")
    return value

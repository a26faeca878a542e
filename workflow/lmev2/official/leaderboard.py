"""The leaderboard's package: all operating points of one method in one tier, in one archive."""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.errors import UserError
from lmev2.official.archive import write_archive
from lmev2.official.check import check_package
from lmev2.official.export import ExportError, unfit_text
from lmev2.official.metrics import overview
from lmev2.official.refusals import UnfitError
from lmev2.official.run_folder import (
    DESCRIPTION,
    DOMAINS,
    METRIC_OVERVIEW,
    METRICS,
    NAME,
    OVERVIEW,
    POINT_METADATA,
    POINTS,
    QUESTIONS,
    RUN_ARGS,
    RUN_FILES,
    TIERS,
    UNFIT_FILE,
    UNFIT_KEY,
    write_ascii_json,
)
from lmev2.report.lafs import HIGHEST_S, LOWEST_S, lafs
from lmev2.report.operating_points import best_points
from lmev2.report.paper import reference_frontier

# The reference points, in the order of report/paper/frontier.csv.
REFERENCE = ("RAG: query -> slice + notes", "Codex", "AgentRunbook-R", "AgentRunbook-C")


class PackageError(UserError):
    """A part of the package that the user names cannot be used."""


def build_package(
    archive: Path,
    runs: Mapping[str, Mapping[str, Path]],
    *,
    method: str,
    tier: str,
    description: str,
    code_file: Path,
    allow_unfit: bool,
) -> dict[str, Any]:
    """Write the package, checked as the leaderboard's tools would, and return its overview.

    The same parts give the same bytes.

    Args:
        archive: the .tar.gz to write; its name without that is the submission's name.
        runs: operating point -> domain -> run folder.
        method: id of the method.
        tier: the tier.
        description: text of SYSTEM_DESCRIPTION.md.
        code_file: the one code file.
        allow_unfit: write a package that is not for the leaderboard too, marked.

    Raises:
        PackageError: a file cannot be used.
        UnfitError: it is not for the leaderboard; all reasons are named.
    """
    submission = archive.name.removesuffix(".tar.gz")
    if not NAME.fullmatch(code_file.name) or code_file.name in (DESCRIPTION, OVERVIEW, POINTS, UNFIT_FILE):
        raise PackageError(f"{code_file}: the code file's name should be of letters, digits and . _ -")
    if not code_file.is_file():
        raise PackageError(f"{code_file}: the code file is missing; the leaderboard takes one file")
    reasons = _reasons(runs)
    if not description.strip():
        reasons.append("the description is empty")
    if tier not in TIERS:
        reasons.append(f"the tier {tier!r} is none of the leaderboard's: {', '.join(TIERS)}")
    reasons = list(dict.fromkeys(reasons))
    if reasons and not allow_unfit:
        raise UnfitError(submission, reasons)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, submission)
        figures = {}
        for point, domains in sorted(runs.items()):
            figures[point] = _add_point(folder / POINTS / point, domains, submission, point, method, tier)
        (folder / DESCRIPTION).write_text(description, encoding="utf-8")
        shutil.copyfile(code_file, folder / code_file.name)
        about = {
            "submission_name": submission,
            "method": method,
            "tier": tier,
            "archive_name": archive.name,
            "system_description_file": DESCRIPTION,
            "code_file": code_file.name,
            "lafs": summarise_lafs(tier, figures),
            "operating_points": [_listed(point, values) for point, values in figures.items()],
            **({UNFIT_KEY: reasons} if reasons else {}),
        }
        write_ascii_json(about, folder / OVERVIEW)
        problems = check_package(folder)
        if problems and not reasons:
            raise ExportError("\n".join([f"{submission} does not pass the check:", *problems]))
        if reasons:
            (folder / UNFIT_FILE).write_text(unfit_text(submission, reasons), encoding="utf-8")
        write_archive(folder, archive)
    return about


def _reasons(runs: Mapping[str, Mapping[str, Path]]) -> list[str]:
    """Why the runs are not for submission, each naming its run."""
    return [
        f"{folder.name}: {reason}"
        for _, domains in sorted(runs.items())
        for folder in domains.values()
        for reason in _load(folder / RUN_ARGS).get(UNFIT_KEY, [])
    ]


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _add_point(
    folder: Path, domains: Mapping[str, Path], submission: str, point: str, method: str, tier: str
) -> dict[str, Any]:
    """Copy an operating point's two runs and write what is said of them together."""
    about, metrics = {}, {}
    for domain in DOMAINS:
        source = domains[domain]
        for name in RUN_FILES:
            (folder / domain / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, folder / domain / name)
        args, metrics[domain] = _load(source / RUN_ARGS), _load(source / METRICS)
        kinds = [row["question_type"] for row in _load(source / QUESTIONS)]
        about[domain] = {
            "source_run_dir": source.name,
            "domain": domain,
            "question_count": len(kinds),
            "question_type_counts": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
            "model": args["model"],
            "evaluator_model": args["evaluator_model"],
        }
    figures = overview(metrics)
    write_ascii_json(figures, folder / METRIC_OVERVIEW)
    write_ascii_json(
        {
            "submission_name": submission,
            "operating_point_name": point,
            "method": method,
            "tier": tier,
            "runs": about,
            "included_run_files": list(RUN_FILES),
        },
        folder / POINT_METADATA,
    )
    return figures


def _listed(point: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": point,
        "metric_overview_file": f"{POINTS}/{point}/{METRIC_OVERVIEW}",
        "overall_full_set": figures["overall_full_set"],
        "memory_query_avg_seconds": figures["memory_query_avg_seconds"],
        "lafs_accuracy_percentage_points": 100 * figures["overall_full_set"],
        "lafs_latency_seconds": figures["memory_query_avg_seconds"],
    }


def summarise_lafs(tier: str, figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """LAFS of the reference frontier, of it with our points, and the gain (docs/statistics.md).

    Args:
        tier: one without reference points has a reference of 0.
        figures: operating point -> its metric overview.
    """
    known = dict(zip(REFERENCE, reference_frontier(tier), strict=False))
    ours = {
        point: (values["overall_full_set"], values["memory_query_avg_seconds"])
        for point, values in figures.items()
    }
    reference, together = lafs(known.values()), lafs([*known.values(), *ours.values()])
    return {
        "tier": tier,
        "t_min_seconds": LOWEST_S,
        "t_max_seconds": HIGHEST_S,
        "floor_accuracy": 0.0,
        "accuracy_unit": "percentage_points",
        "reference_lafs": reference,
        "submission_lafs": together,
        "lafs_gain": max(0.0, together - reference),
        "reference_frontier": _frontier([*known.items()]),
        "submission_frontier": _frontier([*known.items(), *ours.items()]),
    }


def _frontier(points: Sequence[tuple[str, tuple[float, float]]]) -> list[dict[str, Any]]:
    best = set(best_points([operating for _, operating in points]))
    found = {}  # of points that agree in both the first one
    for name, (accuracy, latency) in points:
        if (latency, accuracy) in best:
            found.setdefault((latency, accuracy), name)
    return [
        {"name": name, "accuracy": round(100 * accuracy, 9), "latency_seconds": latency}
        for (latency, accuracy), name in sorted(found.items())
    ]

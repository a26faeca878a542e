"""The data check's report, as JSON and as Markdown."""

from collections.abc import Iterable, Mapping
from typing import Any

from lmev2.ingest.counts import Counts, TypeCounts
from lmev2.ingest.defects import Defect, render_defects
from lmev2.markdown import table


def report_json(dataset: str, tiers: Iterable[str], counts: Counts, defects: list[Defect]) -> dict[str, Any]:
    """Everything that the check found, as a JSON object."""
    return {
        "dataset": dataset,
        "tiers": list(tiers),
        "sound": not defects,
        "counts": counts.to_dict(),
        "defects": [defect.to_dict() for defect in defects],
    }


def report_text(dataset: str, counts: Counts, defects: list[Defect]) -> str:
    """The counts and the first defects, for a terminal."""
    return f"{counts.text()}\n\n{render_defects(defects, dataset) if defects else f'{dataset}: sound'}"


def report_md(dataset: str, counts: Counts, defects: list[Defect]) -> str:
    """The report for people: tables, notices and every defect."""
    parts = [
        f"# Data check of {dataset}",
        f"**{'Sound' if not defects else f'{len(defects):,} defects'}.** Tokens are approximate.",
        "## Questions",
        _types(counts.types),
        _counter("evaluator", "questions", counts.questions_by_evaluator),
        f"{counts.question_images:,} questions have an image, {counts.labelled_questions:,} evidence labels.",
        "## Trajectories",
        table(
            ("domain", "trajectories", "states", "tokens of trees", "screenshots", "missing"),
            [
                (domain, c.trajectories, c.states, c.tree_tokens, c.screenshots, c.states - c.screenshots)
                for domain, c in sorted(counts.domains.items())
            ],
        ),
        _counter("outcome", "trajectories", counts.outcomes),
        _counter("environment", "trajectories", counts.trajectories_by_environment),
        f"The longest tree has {counts.longest_tree:,} characters; {counts.empty_trees:,} are empty. After "
        f"state 0, {counts.null_actions:,} states have no action and {counts.null_thoughts:,} no thought.",
        _counter("screenshot missing, because the field or file is", "states", counts.missing_screenshots),
        "## Haystacks",
        table(
            ("tier", "questions", "distinct trajectories", "shortest", "longest", "mean tokens"),
            [
                (tier, c.questions, c.trajectories, c.shortest, c.longest, c.mean_tokens)
                for tier, c in counts.tiers.items()
            ],
        ),
    ]
    if counts.notices:
        parts += ["## Notices", "\n".join(f"- {notice}" for notice in counts.notices)]
    if defects:
        text = render_defects(defects, dataset, limit=len(defects))
        parts += ["## Defects", f"```\n{text}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _types(types: Mapping[str, TypeCounts]) -> str:
    domains = sorted({domain for counts in types.values() for domain in counts.by_domain})
    rows = [
        (kind, *(c.by_domain.get(domain, 0) for domain in domains), sum(c.by_domain.values()), c.images)
        for kind, c in sorted(types.items())
    ]
    if rows:
        rows.append(("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    return table(("question type", *domains, "all", "with image"), rows)


def _counter(what: str, of: str, counts: Mapping[str, int]) -> str:
    return table((what, of), sorted(counts.items()))

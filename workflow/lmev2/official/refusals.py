"""Why a run is not for the leaderboard: all reasons at once (docs/official.md).

Some the leaderboard's tools would find themselves (another reader, a question missing). The others they
would not: embedded models anywhere in the chain, labels seen, another dataset, contended latencies.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmev2.errors import UserError
from lmev2.official.run_folder import JUDGE, READER, TIERS
from lmev2.records import Status

CONTEXT_TOKENS = 200_000  # the benchmark's limit
# Queries at a time: coding agents ran three at a time in the paper, everything else alone.
IN_FLIGHT, AGENTS_IN_FLIGHT = 1, 3
_IDS_SHOWN = 5

Rows = Sequence[Mapping[str, Any]]


class UnfitError(UserError):
    """A run would not be accepted by the leaderboard, or should not be."""

    def __init__(self, what: str, reasons: Sequence[str]) -> None:
        listed = [f"  {number}. {reason}" for number, reason in enumerate(reasons, 1)]
        super().__init__(
            "\n".join(
                [
                    f"{what} is not for the leaderboard:",
                    *listed,
                    "  `official_export: {allow_unfit: true}` writes it all the same, marked as not for "
                    "submission.",
                ]
            )
        )


@dataclass(frozen=True)
class Run:
    """What is judged: one arm in one domain and tier.

    Attributes:
        arm: what the config says of it (`Flow.export`).
        tier: the tier.
        questions: the domain's rows of the `questions` table.
        stages: "query", "read", "judge" -> their rows of the domain's questions, all repeats.
        haystack: question -> its trajectories in order.
        digests: file of the dataset, by its path in it -> sha256 of what was ingested.
        haystack_file: content of the dataset's haystack file of the tier, None without one.
    """

    arm: Mapping[str, Any]
    tier: str
    questions: Rows
    stages: Mapping[str, Rows]
    haystack: Mapping[str, Sequence[str]]
    digests: Mapping[str, str]
    haystack_file: Mapping[str, Any] | None


def find_refusals(run: Run, released: Mapping[str, str]) -> list[str]:
    """All reasons why `run` is not for the leaderboard; none where it is."""
    return [
        *_of_models(run.arm),
        *_of_method(run.arm),
        *_of_data(run, released),
        *_of_rows(run),
        *_of_latency(run),
    ]


def _of_models(arm: Mapping[str, Any]) -> Iterator[str]:
    for role, model in sorted(arm["chain"].items()):
        if model["provider"] == "embedded":
            yield f"the {role} is an embedded model ({model['model']}); its numbers are of no language model"
    for role, wanted in (("reader", READER), ("judge", JUDGE)):
        name = arm["chain"][role]["model"]
        if wanted not in name.lower():
            yield f"the {role} is {name}; the leaderboard's is {wanted}"
    if arm["context_tokens"] > CONTEXT_TOKENS:
        yield (
            f"the reader gets up to {arm['context_tokens']:,} tokens of context; the benchmark's limit is "
            f"{CONTEXT_TOKENS:,}"
        )


def _of_method(arm: Mapping[str, Any]) -> Iterator[str]:
    if arm["labels"]:
        yield "it is a pilot study: it reads the evidence labels"
    elif not arm["leaderboard_safe"]:
        yield "it is in paper mode (`mode: paper`): it sees more of a question than its text and image"
    if arm["repeats"] > 1:
        yield f"each question is asked {arm['repeats']} times (`repeats`); the leaderboard takes one answer"


def _of_data(run: Run, released: Mapping[str, str]) -> Iterator[str]:
    if run.tier not in TIERS:
        yield f"the tier {run.tier!r} is none of the leaderboard's: {', '.join(TIERS)}"
    if run.arm["rewritten"]:
        yield "goals of the dataset are rewritten (`dataset.goal_rewrites`)"
    haystack = f"haystacks/lme_v2_{run.tier}.json"
    for name in ("questions.jsonl", "trajectories.jsonl", haystack):
        if name not in run.digests:
            yield f"the dataset's {name} was not read, so it cannot be told whether it is the released one"
        elif run.digests[name] != released.get(name):
            yield f"the dataset's {name} is not the released one (sha256 {run.digests[name][:16]}…)"
    file = run.haystack_file or {}
    other = [
        row["question_id"]
        for row in run.questions
        if list(run.haystack.get(row["question_id"], ())) != file.get(row["question_id"])
    ]
    if other:
        yield f"the haystacks of {_ids(other)} are not those of the dataset's {haystack}"


def _of_rows(run: Run) -> Iterator[str]:
    wanted = [row["question_id"] for row in run.questions]
    if not wanted:
        yield "the dataset has no question of this domain"
    for stage, rows in run.stages.items():
        counts = Counter(row["question_id"] for row in rows if row["repeat"] == 0)
        if missing := [id_ for id_ in wanted if id_ not in counts]:
            yield f"{stage}: {_ids(missing)} of {len(wanted)} questions are missing"
        if twice := [id_ for id_, count in counts.items() if count > 1]:
            yield f"{stage}: {_ids(twice)} are there more than once"
        failed = Counter(row["status"] for row in rows if row["status"] != Status.OK)
        if failed and stage == "judge":  # it carries on what failed before
            listed = ", ".join(f"{count} {status}" for status, count in sorted(failed.items()))
            yield f"not every question has an answer: {listed} (`retry_statuses` asks again)"


def _of_latency(run: Run) -> Iterator[str]:
    rows = run.stages["query"]
    at_once = AGENTS_IN_FLIGHT if run.arm["runs_agent"] else IN_FLIGHT
    # Shards may run side by side, each with its own queries in flight.
    shards, beside = run.arm["shards"], max((row["in_flight"] or 0 for row in rows), default=0)
    if shards > 1 and shards * beside > at_once:
        yield (
            f"its queries were asked in {shards} jobs (`shards`) of {beside} at a time, so up to "
            f"{shards * beside} ran side by side; the benchmark has {at_once}"
        )
    seconds = [row["latency_s"] for row in rows]
    if unknown := [row["question_id"] for row in rows if not _is_duration(row["latency_s"])]:
        yield f"{_ids(unknown)} have no latency"
    elif seconds and math.fsum(seconds) <= 0:
        yield "the mean query latency is 0; it should be more"
    contended = [row["question_id"] for row in rows if (row["in_flight"] or at_once + 1) > at_once]
    if contended:
        yield (
            f"the latencies of {_ids(contended)} were measured with more than {at_once} queries side by "
            f"side, or it is not known with how many; ask again with `concurrency: {at_once}` and an empty "
            "journal/query"
        )


def _is_duration(value: Any) -> bool:
    return value is not None and math.isfinite(value) and value >= 0


def _ids(ids: Sequence[str]) -> str:
    shown = ", ".join(sorted(ids)[:_IDS_SHOWN])
    more = len(ids) - _IDS_SHOWN
    return f"{len(ids)} ({shown}{f' and {more} more' if more > 0 else ''})"

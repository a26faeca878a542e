"""Aggregates of a run as the official harness writes them.

The `pct_…` figures are shares in [0, 1], whatever their name says, and sum to 1. A group without
questions has count 0 and nulls, as its shares are undefined. An answer UNKNOWN counts as unknown, never
as wrong.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lmev2.official.run_folder import ABSTENTION, ANSWERABLE, COMBINED, DOMAINS

Records = Sequence[Mapping[str, Any]]
Metrics = Mapping[str, Any]


def aggregate(records: Records) -> dict[str, Any]:
    """`aggregated_metrics.json` of the records of one run.

    Raises:
        ValueError: there are no records.
    """
    if not records:
        raise ValueError("there are no records")
    abstention = [record for record in records if record["is_abstention_problem"]]
    others = [record for record in records if not record["is_abstention_problem"]]

    def of(rows: Records, *categories: str) -> dict[str, Any]:
        return _breakdown([row for row in rows if row["category"] in categories])

    usage = {
        key: sum(record["usage"][key] for record in records) for key in ("prompt_tokens", "completion_tokens")
    }
    usage["total_tokens"] = sum(usage.values())
    return {
        "overall": {
            "overall_full_set": _mean(records, "score"),
            "overall_non_abstention_only": _mean(others, "score"),
            "overall_abstention_only": _mean(abstention, "score"),
            "count_all_questions": len(records),
            "count_non_abstention": len(others),
            "count_abstention": len(abstention),
        },
        "non_abstention_by_category": {name: of(others, name) for name in ANSWERABLE},
        "abstention_by_category": {name: of(abstention, name) for name in ABSTENTION},
        "combined_abstention_by_category": {name: of(records, *pair) for name, pair in COMBINED.items()},
        "abstention_overall": _breakdown(abstention),
        "tokens": {**usage, **{f"avg_{key}": total / len(records) for key, total in usage.items()}},
        "memory_context": {
            "avg_original_tokens": _mean(records, "memory_context_original_token_count"),
            "avg_final_tokens": _mean(records, "memory_context_token_count"),
            "num_truncated_sequences": sum(record["memory_context_was_truncated"] for record in records),
        },
        "memory_query": _seconds([record["memory_query_duration_seconds"] for record in records]),
        "memory_post_query": _seconds([record["memory_post_query_duration_seconds"] for record in records]),
    }


def overview(metrics: Mapping[str, Metrics]) -> dict[str, Any]:
    """`metric_overview.json` of an operating point: means over both domains, weighted by questions.

    Args:
        metrics: domain -> its aggregates.
    """
    both = [metrics[domain] for domain in DOMAINS]

    def combined(name: str) -> float | None:
        return _weighted([part["combined_abstention_by_category"][name] for part in both])

    questions = sum(part["overall"]["count_all_questions"] for part in both)
    scores = [(part["overall"]["overall_full_set"], part["overall"]["count_all_questions"]) for part in both]
    return {
        "overall_full_set": math.fsum(score * count for score, count in scores) / questions,
        "gotchas_accuracy": _weighted([part["non_abstention_by_category"]["gotchas"] for part in both]),
        "static_accuracy": combined("static"),
        "dynamic_accuracy": combined("dynamic"),
        "procedure_accuracy": combined("procedure"),
        "memory_query_avg_seconds": math.fsum(part["memory_query"]["total_seconds"] for part in both)
        / questions,
    }


def _mean(records: Records, key: str) -> float | None:
    return math.fsum(record[key] for record in records) / len(records) if records else None


def _breakdown(records: Records) -> dict[str, Any]:
    count = len(records)
    if not count:
        return {"count": 0, "pct_correct": None, "pct_answered_wrong": None, "pct_unknown": None}
    unknown = sum(record["is_unknown"] for record in records)
    correct = sum(record["score_bool"] and not record["is_unknown"] for record in records)
    return {
        "count": count,
        "pct_correct": correct / count,
        "pct_answered_wrong": (count - correct - unknown) / count,
        "pct_unknown": unknown / count,
    }


def _seconds(durations: Sequence[float]) -> dict[str, float]:
    ordered = sorted(durations)
    last = len(ordered) - 1
    total = math.fsum(ordered)
    return {
        "avg_seconds": total / len(ordered),
        "p50_seconds": ordered[len(ordered) // 2],
        "p95_seconds": ordered[min(last, int(0.95 * len(ordered)))],
        "max_seconds": ordered[last],
        "total_seconds": total,
    }


def _weighted(parts: Sequence[Mapping[str, Any]]) -> float | None:
    present = [part for part in parts if part["count"]]
    if not present:
        return None
    return math.fsum(part["pct_correct"] * part["count"] for part in present) / sum(
        part["count"] for part in present
    )

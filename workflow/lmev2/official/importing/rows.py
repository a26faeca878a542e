"""A record as our query, read and judge row.

Answers are taken from the raw responses and scored anew where a rule scores them; what a judge said is taken
over.
"""

from collections.abc import Mapping
from typing import Any

from lmev2.boxed import is_unknown, parse_boxed
from lmev2.eval_function import parse_eval_function
from lmev2.judge.evaluators import score_deterministic
from lmev2.llm.reply import usage_columns
from lmev2.official.importing.findings import Finding
from lmev2.official.run_folder import OURS
from lmev2.records import Status
from lmev2.store import canonical_json

_NO_TIMES = dict.fromkeys(("model_s", "embed_s", "search_s", "render_s", "other_s"))

Row = Mapping[str, Any]


def rows_of(
    record: Row, question: Row, reader: str, judge: str
) -> tuple[tuple[dict[str, Any], ...], list[tuple[str, str, str]]]:
    """The rows of one record, and what we read differently.

    Args:
        record: with its context as `items`, and what runs of our own add as `ours`.
        question: its row of the `questions` table.
        reader: the reader's name.
        judge: the judge's.

    Returns:
        its query, read and judge row but for their key; and of each difference field, recorded value, ours.
    """
    ours = record["ours"]
    statuses = {stage: Status(status) for stage, status in ours.get("status", {}).items()}
    response = record["response_raw"]
    read_status = statuses.get("read", Status.OK if response.strip() else Status.EMPTY_REPLY)
    answered = read_status == Status.OK
    answer = parse_boxed(response)
    prediction = answer.prediction if answered else ""
    unknown = answered and is_unknown(prediction)
    score, label, reason = _judged(record, question, prediction, unknown) if answered else (0, None, "")
    judge_status = statuses.get("judge", read_status)
    score = score if judge_status == Status.OK else 0
    error = ours.get("error", "")
    query = {
        "status": str(statuses.get("query", Status.OK)),
        "error": error,
        "items": record["items"],
        **_NO_TIMES,
        "insert_s": ours.get("insert_s"),
        "in_flight": ours.get("in_flight"),
        "prompt_sha256": "",
        "trace": canonical_json(
            {
                "post_query": _foreign(record.get("memory_post_query_metadata")),
                "post_query_s": record.get("memory_post_query_duration_seconds"),
            }
        ),
        "by_role": [],
        **_usage(latency_s=float(record["memory_query_duration_seconds"])),
    }
    kept = len(record["items"])
    read = {
        "status": str(read_status),
        "error": error,
        # Of a context that was cut the records hold the rest only.
        "context_items": ours.get("context_items", None if record["memory_context_was_truncated"] else kept),
        "context_items_kept": kept,
        "context_tokens": record["memory_context_original_token_count"],
        "context_tokens_kept": record["memory_context_token_count"],
        "was_truncated": record["memory_context_was_truncated"],
        "response_raw": response,
        "reasoning": "",
        "prediction": prediction,
        "boxed": str(answer.found) if answered else "",
        "is_unknown": unknown,
        "finish_reason": "",
        "prompt_sha256": "",
        **_usage(
            model=reader,
            calls=1,
            attempts=1,
            input_tokens=record["usage"]["prompt_tokens"],
            output_tokens=record["usage"]["completion_tokens"],
        ),
    }
    judged = {
        "status": str(judge_status),
        "error": error,
        "evaluator": question["evaluator"],
        "score": score,
        "label": label,
        "reason": reason,
        "response_raw": "",
        "prompt_sha256": "",
        **_usage(model=judge if label is not None else ""),
    }
    differences = [
        (name, str(record[name]), str(here))
        for name, here in (("response_parsed_boxed", prediction), ("is_unknown", unknown))
        if record[name] != here
    ]
    if int(record["score"]) != score or record["score_bool"] != bool(record["score"]):
        differences.append(("score", f"{record['score']} ({record['score_bool']})", str(score)))
    return (query, read, judged), differences


def _judged(record: Row, question: Row, prediction: str, unknown: bool) -> tuple[int, int | None, str]:
    """Score, verdict and reason: by our rule where a rule scores, else as it was recorded."""
    function = parse_eval_function(question["eval_function"])
    if unknown:
        return 0, None, "the answer is UNKNOWN"
    if not function.judged:
        return int(score_deterministic(function, prediction, question["answer"])), None, ""
    if function.require_non_empty and not prediction.strip():
        return 0, None, "the answer is blank"
    return int(record["score"]), int(record["score"]), "as the official run recorded it"


def _foreign(metadata: Any) -> Any:
    """A backend's metadata without what we have read from it."""
    if isinstance(metadata, dict):
        return {key: value for key, value in metadata.items() if key != OURS} or None
    return metadata


def _usage(**values: Any) -> dict[str, Any]:
    """Usage columns: what calls cost and how long they waited is not recorded."""
    unknown = dict.fromkeys(("latency_s", "queue_wait_s", "retry_wait_s"))
    return {**usage_columns([]), **unknown, **values}


def rows_without(question: Row, finding: Finding) -> tuple[dict[str, Any], ...]:
    """The rows of a question that the runs have no usable record of, but for their key."""
    failed = {"status": str(Status.NOT_IMPORTED), "error": f"{finding.place}: {finding.here}"}
    blank: dict[str, dict[str, Any]] = {
        "query": {
            **_NO_TIMES,
            "insert_s": None,
            "in_flight": None,
            "items": [],
            "trace": "{}",
            "by_role": [],
        },
        "read": {
            **dict.fromkeys(
                ("context_items", "context_items_kept", "context_tokens", "context_tokens_kept"), 0
            ),
            "was_truncated": False,
            "is_unknown": False,
            **dict.fromkeys(("response_raw", "reasoning", "prediction", "boxed", "finish_reason"), ""),
        },
        "judge": {
            "evaluator": question["evaluator"],
            "score": 0,
            "label": None,
            "reason": "",
            "response_raw": "",
        },
    }
    return tuple({**failed, "prompt_sha256": "", **_usage(), **columns} for columns in blank.values())

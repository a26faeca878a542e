"""The form of an official run folder and of a leaderboard package: files, fields, categories, names.

The one place for them: the export writes by it, the checker and the import read by it. docs/official.md
explains each; what the leaderboard asks of their content is in `lmev2.official.refusals`.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# -- a run folder: one method, one domain, one tier --------------------------------------------------
RUN_ARGS = "run_args.json"
METRICS = "aggregated_metrics.json"
RECORDS = "per_question.jsonl"
QUESTIONS = "runtime_inputs/questions.json"
HAYSTACK = "runtime_inputs/haystack.json"
RUN_FILES = (RUN_ARGS, METRICS, RECORDS, QUESTIONS, HAYSTACK)

# -- a package: all operating points of one method in one tier ---------------------------------------
METRIC_OVERVIEW = "metric_overview.json"
POINT_METADATA = "operating_point_metadata.json"
POINT_FILES = (METRIC_OVERVIEW, POINT_METADATA)
OVERVIEW = "submission_overview.json"
DESCRIPTION = "SYSTEM_DESCRIPTION.md"
POINTS = "operating_points"
DEFAULT_POINT = "default"  # what the leaderboard's folders call a method's default operating point

# Ours: a file, and a key of every JSON object, that say why something is not to be submitted.
UNFIT_FILE = "NOT_FOR_SUBMISSION.md"
UNFIT_KEY = "not_for_submission"

# The key of `memory_post_query_metadata`, which is the backend's own, under which we keep what the form has
# no field for; the import reads it back.
OURS = "lmev2"

DOMAINS = ("web", "enterprise")
TIERS = ("small", "medium")
READER, JUDGE = "qwen3.5-9b", "gpt-5.2"  # what the models' names hold, in any case
NAME = re.compile(r"[A-Za-z0-9._-]+")

CATEGORIES = {
    "static-environment": "static",
    "static-environment-abs": "static-abs",
    "dynamic-environment": "dynamic",
    "dynamic-environment-abs": "dynamic-abs",
    "procedure": "procedure",
    "procedure-abs": "procedure-abs",
    "errors-gotchas": "gotchas",
}
ANSWERABLE = ("static", "dynamic", "procedure", "gotchas")
ABSTENTION = ("static-abs", "dynamic-abs", "procedure-abs")
COMBINED = {name.removesuffix("-abs"): (name.removesuffix("-abs"), name) for name in ABSTENTION}

_NUMBER = (int, float)
_LONGEST_NUMBER = 18  # digits that 64 bits hold
_MOST = 2**31 - 1  # of counts, as tables of ours hold them
# Fields of a line of per_question.jsonl -> types of their values; None stands for null.
RECORD_FIELDS: Mapping[str, tuple[type | None, ...]] = {
    "index": (int,),
    "stream_index": (int,),
    "question_id": (str,),
    "question_type": (str,),
    "category": (str,),
    "is_abstention_problem": (bool,),
    "eval_function": (str,),
    "question_text": (str,),
    "question_image": (str, None),
    "haystack_ids": (list,),
    "memory_context": (list,),
    "memory_query_duration_seconds": _NUMBER,
    "memory_post_query_duration_seconds": _NUMBER,
    "memory_post_query_metadata": (dict, list, str, None),
    "memory_context_original_token_count": (int,),
    "memory_context_token_count": (int,),
    "memory_context_was_truncated": (bool,),
    "prompt_messages": (list,),
    "answer_gold": (str,),
    "response_raw": (str,),
    "response_parsed_boxed": (str,),
    "is_unknown": (bool,),
    "score": _NUMBER,
    "score_bool": (bool,),
    "usage": (dict,),
    "timestamp_utc": (str, None),
}
# The import does without these: nothing that it writes depends on them.
DISPENSABLE = frozenset(
    {
        *("index", "stream_index", "category", "is_abstention_problem", "prompt_messages", "timestamp_utc"),
        *("memory_post_query_duration_seconds", "memory_post_query_metadata"),
    }
)
USAGE_FIELDS = ("prompt_tokens", "completion_tokens", "total_tokens")

OVERALL_FIELDS = (
    *("overall_full_set", "overall_non_abstention_only", "overall_abstention_only"),
    *("count_all_questions", "count_non_abstention", "count_abstention"),
)
BREAKDOWN_FIELDS = ("count", "pct_correct", "pct_answered_wrong", "pct_unknown")
SECONDS_FIELDS = ("avg_seconds", "p50_seconds", "p95_seconds", "max_seconds", "total_seconds")
OVERVIEW_FIELDS = (
    *("overall_full_set", "gotchas_accuracy", "static_accuracy", "dynamic_accuracy", "procedure_accuracy"),
    "memory_query_avg_seconds",
)


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text that others wrote.

    Raises:
        ValueError: it is no JSON, or holds what no table of ours can: endless nesting, whole numbers of more
            than 18 digits, half characters (lone surrogates).
    """
    try:
        value = json.loads(text, parse_int=_whole_number)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if (b"\\ud" if isinstance(text, bytes) else "\\ud") in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("a text holds a lone surrogate, which is no character") from error
    return value


def _whole_number(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError(f"a whole number has {len(digits)} digits")
    return int(digits)


def fits(value: Any, kinds: tuple[type | None, ...]) -> bool:
    """Whether a JSON value is of one of `kinds`; a truth value is no number."""
    if value is None:
        return None in kinds
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, tuple(kind for kind in kinds if kind is not None))


def field_faults(record: Mapping[str, Any], dispensable: frozenset[str] = frozenset()) -> list[str]:
    """What is wrong with the fields of one record, in the order of `RECORD_FIELDS`."""
    faults = []
    for name, kinds in RECORD_FIELDS.items():
        if name not in record:
            if name not in dispensable:
                faults.append(f"the field {name!r} is missing")
        elif not fits(record[name], kinds):
            words = " or ".join("null" if kind is None else kind.__name__ for kind in kinds)
            faults.append(f"the field {name!r} is {record[name]!r:.60}, not {words}")
        elif kinds == (int,) and not 0 <= record[name] <= _MOST:
            faults.append(f"the field {name!r} is {record[name]}, not a whole number from 0")
        elif name == "memory_post_query_duration_seconds" and not math.isfinite(record[name]):
            faults.append(f"the field {name!r} is {record[name]}, no duration")
    return faults


def usage_faults(usage: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and fault of the token counts of a record's `usage` that are none."""
    return [
        (f"usage.{name}", f"is {usage.get(name)!r:.60}, no whole number from 0")
        for name in USAGE_FIELDS[:2]
        if type(usage.get(name)) is not int or not 0 <= usage[name] <= _MOST
    ]


def no_items(context: Sequence[Any]) -> list[int]:
    """Places of what is no item `{type: text | image, value: …}` of a `memory_context`."""
    return [
        number
        for number, item in enumerate(context)
        if not (
            isinstance(item, dict)
            and item.get("type") in ("text", "image")
            and isinstance(item.get("value"), str)
        )
    ]


def look_up(metrics: Any, name: str) -> Any:
    """The figure of a dotted name, such as `overall.count_abstention`; None where there is none."""
    for key in name.split("."):
        metrics = metrics.get(key) if isinstance(metrics, dict) else None
    return metrics


def agrees(stated: Any, counted: float | None) -> bool:
    """Whether a stated figure is the counted one, but for rounding; null agrees with None alone."""
    if counted is None or isinstance(stated, bool) or not isinstance(stated, int | float):
        return stated is counted
    return math.isclose(stated, counted, rel_tol=1e-9, abs_tol=1e-12)


def run_name(method: str, domain: str, tier: str) -> str:
    """How a run's folder is named: the official tools read method, domain and tier from it."""
    return f"{method}_{domain}_{tier}"


def safe_arm_name(arm: str) -> str:
    """An arm's name in the characters that the leaderboard allows: `id@point` becomes `id-point`."""
    return arm.replace("@", "-")


def write_ascii_json(value: Any, path: Path) -> None:
    """Write JSON as the official tools do: indented, ASCII only, keys in the given order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n", encoding="ascii")

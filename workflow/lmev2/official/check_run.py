"""A checker of run folders, apart from what writes them.

It looks at files alone, as the leaderboard's tools do, and further: every figure of the aggregates is
counted anew from the records, in a way of its own.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lmev2.official.run_folder import (
    ABSTENTION,
    ANSWERABLE,
    BREAKDOWN_FIELDS,
    CATEGORIES,
    COMBINED,
    DOMAINS,
    HAYSTACK,
    JUDGE,
    METRICS,
    NAME,
    OVERALL_FIELDS,
    QUESTIONS,
    READER,
    RECORDS,
    RUN_ARGS,
    RUN_FILES,
    SECONDS_FIELDS,
    TIERS,
    UNFIT_FILE,
    UNFIT_KEY,
    agrees,
    field_faults,
    look_up,
    no_items,
    parse_json,
    usage_faults,
)

_SHOWN = 20


def check_run(folder: Path, domain: str | None = None, tier: str | None = None) -> list[str]:
    """The problems of a run folder.

    Args:
        folder: the folder.
        domain: the domain that it should be of; None: what it says.
        tier: the tier likewise.
    """
    missing = [f"{folder / name}: the file is missing" for name in RUN_FILES if not (folder / name).is_file()]
    if missing:
        return missing
    problems: list[str] = []
    args = load_json(folder / RUN_ARGS, dict, problems)
    metrics = load_json(folder / METRICS, dict, problems)
    questions = load_json(folder / QUESTIONS, list, problems)
    haystack = load_json(folder / HAYSTACK, dict, problems)
    records = load_records(folder / RECORDS, problems)
    if problems:
        return problems
    domain = domain or args.get("domain")
    found = [
        *_args_problems(args, domain, tier),
        *_question_problems(questions, records, haystack, domain),
        *_record_problems(records, haystack),
        *_metrics_problems(metrics, pd.DataFrame(records)),
    ]
    if (folder / UNFIT_FILE).exists() or UNFIT_KEY in args:
        found.append(f"it is marked as not for submission ({UNFIT_FILE})")
    return [f"{folder}: {problem}" for problem in found]


def load_json(path: Path, kind: type, problems: list[str]) -> Any:
    """The value of a JSON file, a `kind` (dict or list); else an empty one, and a problem added."""
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        problems.append(f"{path}: cannot be read as JSON: {error}")
        return kind()
    if not isinstance(value, kind):
        problems.append(f"{path}: should be a JSON {'object' if kind is dict else 'list'}")
        return kind()
    return value


def load_records(path: Path, problems: list[str]) -> list[dict[str, Any]]:
    """The records of a run without context and prompts; faults of their form are added to `problems`."""
    records = []
    data = path.read_bytes()
    if not data.isascii():
        problems.append(f"{path}: should be ASCII, other characters as \\uXXXX")
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            problems.append(f"{path}:{number}: cannot be read as JSON: {error}")
            continue
        faults = field_faults(record) if isinstance(record, dict) else ["should be a JSON object"]
        if not faults:
            context = record.pop("memory_context")
            faults = [
                *(f"memory_context[{n}] is not {{type: text | image, value: …}}" for n in no_items(context)),
                *(f"{name} {fault}" for name, fault in usage_faults(record["usage"])),
            ]
            del record["prompt_messages"]  # both are large, and nothing more is asked of them
        problems += [f"{path}:{number}: {fault}" for fault in faults]
        records.append(record)
    if not records:
        problems.append(f"{path}: has no records")
    return records


def _args_problems(args: Mapping[str, Any], domain: Any, tier: str | None) -> Iterator[str]:
    if domain not in DOMAINS or args.get("domain") != domain:
        wanted = domain if domain in DOMAINS else DOMAINS
        yield f"{RUN_ARGS}: the domain is {args.get('domain')!r}, not {wanted}"
    if args.get("tier") not in TIERS or args["tier"] != (tier or args["tier"]):
        yield f"{RUN_ARGS}: the tier is {args.get('tier')!r}, not {tier or TIERS}"
    if not NAME.fullmatch(str(args.get("method") or "")):
        yield f"{RUN_ARGS}: the method {args.get('method')!r} should be of letters, digits and . _ -"
    for key, wanted in (("model", READER), ("evaluator_model", JUDGE)):
        if wanted not in str(args.get(key, "")).lower():
            yield f"{RUN_ARGS}: {key} is {args.get(key)!r}; it should contain {wanted!r}"


def _question_problems(
    questions: list[Any], records: list[dict[str, Any]], haystack: Mapping[str, Any], domain: Any
) -> Iterator[str]:
    rows = [row for row in questions if isinstance(row, dict)]
    if len(rows) < len(questions):
        yield f"{QUESTIONS}: not every entry is an object"
    wanted = Counter(str(row.get("id", row.get("question_id"))) for row in rows)
    given = Counter(record["question_id"] for record in records)
    for file, counts in ((QUESTIONS, wanted), (RECORDS, given)):
        if twice := sorted(id_ for id_, count in counts.items() if count > 1):
            yield f"{file}: more than once: {_some(twice)}"
    if missing := sorted(wanted.keys() - given.keys()):
        yield f"{RECORDS}: {len(missing)} questions are missing: {_some(missing)}"
    if extra := sorted(given.keys() - wanted.keys()):
        yield f"{RECORDS}: not among {QUESTIONS}: {_some(extra)}"
    if haystack.keys() != wanted.keys():
        yield f"{HAYSTACK}: its questions differ: {_some(sorted(haystack.keys() ^ wanted.keys()))}"
    if foreign := sorted({str(row.get("domain")) for row in rows} - {str(domain)}):
        yield f"{QUESTIONS}: has questions of {', '.join(foreign)}"
    if Counter(str(row.get("question_type")) for row in rows) != Counter(r["question_type"] for r in records):
        yield f"{RECORDS}: the counts of question types differ from {QUESTIONS}"


def _record_problems(records: list[dict[str, Any]], haystack: Mapping[str, Any]) -> Iterator[str]:
    for record in records:
        id_ = record["question_id"]
        if record["category"] != CATEGORIES.get(record["question_type"]):
            yield f"{id_}: the category of {record['question_type']!r} is not {record['category']!r}"
        if record["is_abstention_problem"] != record["question_type"].endswith("-abs"):
            yield f"{id_}: is_abstention_problem does not fit the question type"
        if record["score"] not in (0, 1) or record["score_bool"] != bool(record["score"]):
            yield f"{id_}: score {record['score']!r} and score_bool {record['score_bool']!r} do not fit"
        if record["is_unknown"] and record["score"]:
            yield f"{id_}: UNKNOWN scores 0"
        if record["haystack_ids"] != haystack.get(id_):
            yield f"{id_}: haystack_ids differ from {HAYSTACK}"
        if not math.isfinite(record["memory_query_duration_seconds"]):
            yield f"{id_}: the query latency is no number"


def _metrics_problems(metrics: Mapping[str, Any], records: pd.DataFrame) -> Iterator[str]:
    """Every figure counted anew, with pandas."""
    abstains = records["question_type"].str.endswith("-abs")
    overall = dict(
        zip(
            OVERALL_FIELDS,
            [
                *(group["score"].mean() for group in (records, records[~abstains], records[abstains])),
                *(len(records), int((~abstains).sum()), int(abstains.sum())),
            ],
            strict=True,
        )
    )
    yield from _differences("overall", overall, metrics.get("overall"))
    if type(look_up(metrics, "overall.count_all_questions")) is not int:
        yield f"{METRICS}: overall.count_all_questions should be a whole number"
    groups = {
        **{f"non_abstention_by_category.{name}": [name] for name in ANSWERABLE},
        **{f"abstention_by_category.{name}": [name] for name in ABSTENTION},
        **{f"combined_abstention_by_category.{name}": list(pair) for name, pair in COMBINED.items()},
        "abstention_overall": list(ABSTENTION),
    }
    for place, categories in groups.items():
        group = records[records["category"].isin(categories)]
        unknown = group["is_unknown"].astype(bool)
        right = group["score"].eq(1) & ~unknown
        figures = [len(group), right.mean(), (~right & ~unknown).mean(), unknown.mean()]
        counted = dict(zip(BREAKDOWN_FIELDS, figures, strict=True))
        yield from _differences(place, counted, look_up(metrics, place))
    for place, column in (
        ("memory_query", "memory_query_duration_seconds"),
        ("memory_post_query", "memory_post_query_duration_seconds"),
    ):
        ordered = records[column].sort_values(ignore_index=True)
        n = len(ordered)
        figures = [
            ordered.mean(),
            ordered[n // 2],
            ordered[min(n - 1, int(0.95 * n))],
            ordered.max(),
            ordered.sum(),
        ]
        yield from _differences(place, dict(zip(SECONDS_FIELDS, figures, strict=True)), metrics.get(place))
    if not (mean := records["memory_query_duration_seconds"].mean()) > 0:
        yield f"the mean query latency is {mean}; it should be more than 0"
    usage = pd.DataFrame(list(records["usage"]))
    totals = {key: int(usage[key].sum()) for key in usage if key in ("prompt_tokens", "completion_tokens")}
    yield from _differences("tokens", totals, metrics.get("tokens"))
    totals["total_tokens"] = sum(totals.values())
    further = {
        "tokens": {
            "total_tokens": totals["total_tokens"],
            **{f"avg_{key}": total / len(records) for key, total in totals.items()},
        },
        "memory_context": {
            "avg_original_tokens": records["memory_context_original_token_count"].mean(),
            "avg_final_tokens": records["memory_context_token_count"].mean(),
            "num_truncated_sequences": int(records["memory_context_was_truncated"].sum()),
        },
    }
    for place, counted in further.items():
        if isinstance(stated := metrics.get(place), dict):
            # Versions of the harness may lack some of these; what is stated must be right.
            yield from _differences(place, {key: counted[key] for key in counted if key in stated}, stated)
        elif place != "tokens":  # said already
            yield f"{METRICS}: {place} is missing"


def _differences(place: str, counted: Mapping[str, Any], stated: Any) -> Iterator[str]:
    if not isinstance(stated, dict):
        yield f"{METRICS}: {place} is missing"
        return
    for key, value in counted.items():
        if key not in stated:
            yield f"{METRICS}: {place}.{key} is missing"
        elif not agrees(stated[key], None if pd.isna(value) else value):
            said = "without questions it is null" if pd.isna(value) else f"the records say {value}"
            yield f"{METRICS}: {place}.{key} is {stated[key]!r}; {said}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more

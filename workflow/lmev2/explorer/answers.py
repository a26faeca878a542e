"""The explorer's files of one arm in one tier: a line for each answer, and the answers whole.

`index.js` has what lists show; `<number>.js` holds whole answers, so many that a file has about
`packing.CHUNK` characters. The index says which file has which answer.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from lmev2.agent.classify import command_class
from lmev2.agent.events import commands_of
from lmev2.eval_function import parse_eval_function
from lmev2.explorer.contexts import pack_items
from lmev2.explorer.dataset import gold_phrases
from lmev2.explorer.packing import chunks, joined, write_data, write_packed
from lmev2.judge.evaluators import score_deterministic
from lmev2.records import Status
from lmev2.store import read_rows
from lmev2.trajectory import Trajectory

PARTS = ("model_s", "embed_s", "search_s", "render_s", "other_s")
_BATCH = 16  # contexts in memory at a time; one can have megabytes
_MOST_PREDICTION = 300  # characters of a prediction in the index
_MOST_TEXT = 200_000  # characters of one response, reasoning or output
_USAGE = ("model", "calls", "attempts", "input_tokens", "output_tokens", "cost", "latency_s")
_TRACE = ("controller", "bundle", "dropped", "mended", "queries_without_vector", "missing_screenshots")


def write_answers(
    questions: Mapping[str, Mapping[str, Any]],
    query: str | Path,
    read: str | Path,
    judge: str | Path,
    trajectories: Mapping[str, Trajectory],
    pools: Mapping[str, str | Path],
    folder: Path,
    tier: str,
) -> Counter:
    """Write the files of one arm in one tier.

    Args:
        questions: rows of the `questions` table by id.
        query: its `query` file.
        read: its `read` file.
        judge: its `judge` file.
        trajectories: by id.
        pools: the entries of the shared pools that it reads: pool -> file.
        folder: of the arm's data files; pages know them as answers/<arm>/<tier>/….
        tier: the tier.

    Returns:
        counts: answers, files.
    """
    reads, judges = _by_item(read), _by_item(judge)
    entries = {pool: _entries(path) for pool, path in pools.items()}
    index: list[Mapping[str, Any]] = []
    name = f"answers/{folder.name}/{tier}"

    def answers() -> Iterator[tuple[str, Any]]:
        for row in _stream(query):
            key = _item(row)
            index.append(brief(row, reads[key], judges[key]))
            answer = pack_answer(row, reads[key], judges[key], trajectories, entries)
            phrases = found_phrases(questions[row["question_id"]], reads[key]["prediction"])
            yield key, {**answer, "phrases": phrases}

    number = -1
    files: dict[str, int] = {}
    for number, group in enumerate(chunks(answers())):
        write_packed(folder / tier, f"{name}/{number}", joined(group))
        files |= dict.fromkeys(group, number)
    write_data(folder / tier, f"{name}/index", [{**row, "file": files[row["key"]]} for row in index])
    return Counter(answers=len(index), files=number + 1)


def brief(query: Mapping[str, Any], read: Mapping[str, Any], judge: Mapping[str, Any]) -> dict[str, Any]:
    """What a list shows of an answer."""
    prediction = read["prediction"] or ""
    return {
        "key": _item(query),
        "question": query["question_id"],
        "repeat": query["repeat"],
        "prediction": prediction[:_MOST_PREDICTION] + "…" * (len(prediction) > _MOST_PREDICTION),
        "score": judge["score"],
        "unknown": bool(read["is_unknown"]),
        "status": status_of(query, read, judge),
        "latency_s": query["latency_s"],
        "tokens": read["context_tokens_kept"],
        "truncated": bool(read["was_truncated"]),
        "cost": sum(row["cost"] or 0 for row in (query, read, judge)),
    }


def status_of(*rows: Mapping[str, Any]) -> str:
    """The first status of query, read and judge that is not ok."""
    return next((row["status"] for row in rows if row["status"] != Status.OK), Status.OK.value)


def pack_answer(
    query: Mapping[str, Any],
    read: Mapping[str, Any],
    judge: Mapping[str, Any],
    trajectories: Mapping[str, Trajectory],
    entries: Mapping[str, Mapping[str, Mapping[str, Any]]],
) -> dict[str, Any]:
    """All that a page shows of an answer.

    Args:
        query: row of the `query` table.
        read: row of the `read` table.
        judge: row of the `judge` table.
        trajectories: by id.
        entries: pool -> entry id -> entry, for the pools that the arm reads.
    """
    return {
        "items": pack_items(query["items"] or [], read["context_items_kept"] or 0, trajectories),
        "query": {
            **_row(query, "status", "error"),
            "latency_s": query["latency_s"],
            "parts": {part: query[part] for part in PARTS},
            **{key: query[key] for key in ("insert_s", "queue_wait_s", "retry_wait_s", "in_flight")},
            "roles": [{"role": row["role"], **_row(row, *_USAGE)} for row in query["by_role"] or []],
        },
        "trace": pack_trace(json.loads(query["trace"] or "{}"), entries),
        "read": {
            **_row(read, "status", "error", "context_items", "context_items_kept"),
            **_row(read, "context_tokens", "context_tokens_kept", "was_truncated"),
            **_row(read, "prediction", "boxed", "is_unknown", "finish_reason", *_USAGE),
            "response": _bounded(read["response_raw"]),
            "reasoning": _bounded(read["reasoning"]),
        },
        "judge": {
            **_row(judge, "status", "error", "evaluator", "score", "label", "reason", *_USAGE),
            "response": _bounded(judge["response_raw"]),
        },
    }


def found_phrases(question: Mapping[str, Any], prediction: str | None) -> list[list[str | bool]]:
    """Each phrase of the gold answer and whether the prediction has it: why a rule decided as it did."""
    function = parse_eval_function(question["eval_function"])
    return [
        [phrase, score_deterministic(function, prediction or "", phrase)] for phrase in gold_phrases(question)
    ]


def pack_trace(
    trace: Mapping[str, Any], entries: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> dict[str, Any]:
    """How the context was found: the controller's queries and their hits, or the agent's attempts.

    What another method (a plug-in) traces is shown as it is, under `more`.
    """
    packed: dict[str, Any] = {key: trace[key] for key in _TRACE if key in trace}
    if "hits" in trace:
        packed["hits"] = {
            pool: [_hit(hit, entries.get(pool, {})) for hit in hits] for pool, hits in trace["hits"].items()
        }
    if "slice_hits" in trace:
        slices = entries.get("slices", {})
        packed["slice_hits"] = [
            [query, [_hit(hit, slices) for hit in hits]] for query, hits in trace["slice_hits"].items()
        ]
    if "attempts" in trace:
        packed["attempts"] = [_attempt(attempt) for attempt in trace["attempts"]]
        packed |= {key: trace[key] for key in ("agent", "effort", "isolation") if key in trace}
    known = {*packed, "hits", "slice_hits", "attempts"}
    if more := {key: value for key, value in trace.items() if key not in known and value is not None}:
        packed["more"] = _bounded(json.dumps(more, ensure_ascii=False, indent=1))
    return packed


def _hit(hit: Sequence[Any], entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """An entry that was found: its id and score, and what it is."""
    id_, score = hit
    entry = entries.get(id_, {})
    states = [entry[key] for key in ("first_state", "last_state", "pre_state", "post_state") if key in entry]
    title = entry.get("title") or entry.get("overview") or ""
    return {
        "id": id_,
        "score": score,
        "trajectory": entry.get("trajectory_id"),
        "states": states,
        "kind": entry.get("kind", ""),
        "title": title[:_MOST_PREDICTION],
    }


def _attempt(attempt: Mapping[str, Any]) -> dict[str, Any]:
    commands = []
    outputs = [
        event["item"].get("aggregated_output", "")
        for event in attempt["events"]
        if isinstance(event.get("item"), Mapping)
        and event["item"].get("type") in ("command_execution", "view_image", "image_view")
    ]
    found = commands_of(attempt["events"])
    for number, command in enumerate(found):
        commands.append(
            {
                "command": command.command,
                "class": command_class(command.command),
                "exit_code": command.exit_code,
                "duration_s": command.duration_s,
                "output": str(outputs[number]) if len(outputs) == len(found) else "",
            }
        )
    return {
        **{key: attempt.get(key) for key in ("fault", "exit_code", "seconds", "error", "last_message")},
        "stderr": attempt.get("stderr", ""),
        "commands": commands,
        **notes_of(attempt.get("output", "")),
    }


def notes_of(output: str) -> dict[str, Any]:
    """What an agent handed over: its `notes` (memory_markdown) and the file as it is, `output`."""
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        value = None
    notes = value.get("memory_markdown") if isinstance(value, Mapping) else None
    return {"notes": notes if isinstance(notes, str) else "", "output": output}


def _row(row: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: row[key] for key in keys}


def _bounded(text: str | None) -> str:
    if not text or len(text) <= _MOST_TEXT:
        return text or ""
    return f"{text[:_MOST_TEXT]}\n… {len(text) - _MOST_TEXT} characters left out"


def _item(row: Mapping[str, Any]) -> str:
    return f"{row['question_id']} {row['repeat']}"


def _by_item(path: str | Path) -> dict[str, dict[str, Any]]:
    return {_item(row): row for row in read_rows(path)}


def _entries(path: str | Path) -> dict[str, dict[str, Any]]:
    wanted = ("entry_id", "trajectory_id", "first_state", "last_state", "pre_state", "post_state")
    columns = {*wanted, "kind", "title", "overview"} & set(pq.read_schema(path).names)
    return {row["entry_id"]: row for row in read_rows(path, sorted(columns))}


def _stream(path: str | Path) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_BATCH):
            yield from batch.to_pylist()

"""An official run folder from our tables: one arm, one domain, one tier."""

import json
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.official.check_run import check_run
from lmev2.official.metrics import aggregate
from lmev2.official.refusals import Run, UnfitError, find_refusals
from lmev2.official.run_folder import (
    CATEGORIES,
    HAYSTACK,
    METRICS,
    OURS,
    QUESTIONS,
    RECORDS,
    RUN_ARGS,
    UNFIT_FILE,
    UNFIT_KEY,
    run_name,
    write_ascii_json,
)
from lmev2.prompts import Prompts
from lmev2.query import question_of
from lmev2.reader import Reader
from lmev2.records import Status

Row = Mapping[str, Any]

_LARGE = ("memory_context", "prompt_messages")  # no aggregate needs them


class ExportError(Exception):
    """An export that should be fit does not pass our own check: a fault of this program."""


def export_run(
    folder: Path,
    run: Run,
    domain: str,
    released: Mapping[str, str],
    *,
    images: Mapping[str, str],
    dataset: Path,
    allow_unfit: bool,
) -> list[str]:
    """Write the run folder, and check it as the leaderboard's tools would.

    Args:
        folder: the run folder; what it held is removed.
        run: what is exported.
        domain: its domain.
        released: digests of the released dataset's files.
        images: question -> path of its image in the dataset.
        dataset: the dataset folder; paths inside it are written relative to it.
        allow_unfit: write a run that is not for the leaderboard too, marked.

    Returns:
        the reasons why it is not for submission; none where it is.

    Raises:
        UnfitError: it is not for the leaderboard; all reasons are named.
    """
    name = run_name(run.arm["name"], domain, run.tier)
    reasons = find_refusals(run, released)
    if reasons and not allow_unfit:
        raise UnfitError(name, reasons)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    records = []
    with (folder / RECORDS).open("w", encoding="ascii", newline="\n") as file:
        for record in _records(run, images, dataset):
            file.write(json.dumps(record, ensure_ascii=True, allow_nan=False) + "\n")
            records.append({key: value for key, value in record.items() if key not in _LARGE})
    if not records:
        raise UnfitError(name, [*reasons, "there is nothing to write"])
    haystacks = {
        id_: list(run.haystack.get(id_, ())) for id_ in (row["question_id"] for row in run.questions)
    }
    write_ascii_json(_marked(_run_args(run, domain), reasons), folder / RUN_ARGS)
    write_ascii_json(_marked(aggregate(records), reasons), folder / METRICS)
    write_ascii_json([_question(row, images) for row in run.questions], folder / QUESTIONS)
    write_ascii_json(haystacks, folder / HAYSTACK)
    problems = check_run(folder, domain, run.tier)
    if problems and not reasons:
        raise ExportError("\n".join([f"{name} does not pass the check:", *problems]))
    if reasons:
        (folder / UNFIT_FILE).write_text(unfit_text(name, reasons, problems), encoding="utf-8")
        logging.warning("%s is not for submission:\n%s", name, "\n".join(reasons))
    return reasons


def unfit_text(name: str, reasons: Sequence[str], problems: Sequence[str] = ()) -> str:
    """The file that marks an export as not for submission."""
    lines = [f"# Not for submission: {name}", "", *(f"- {reason}" for reason in reasons)]
    if problems:
        lines += ["", "The check of the form says:", "", *(f"- {problem}" for problem in problems)]
    return "\n".join(lines) + "\n"


def _marked(value: Mapping[str, Any], reasons: Sequence[str]) -> dict[str, Any]:
    return {**value, **({UNFIT_KEY: list(reasons)} if reasons else {})}


def _run_args(run: Run, domain: str) -> dict[str, Any]:
    arm = run.arm
    reader, judge = arm["chain"]["reader"], arm["chain"]["judge"]
    sampling, judging = reader["sampling"], judge["sampling"]
    return {
        "domain": domain,
        "tier": run.tier,
        "method": arm["id"],
        "operating_point": arm["operating_point"],
        "model": model_name(reader),
        "evaluator_model": model_name(judge),
        "max_completion_tokens": sampling.get("max_tokens"),
        "memory_context_max_tokens": arm["context_tokens"],
        "temperature": sampling.get("temperature"),
        "top_p": sampling.get("top_p"),
        "top_k": sampling.get("top_k"),
        "reasoning_effort": sampling.get("reasoning_effort"),
        "reader_enable_thinking": sampling.get("thinking"),
        "evaluator_reasoning_effort": judging.get("reasoning_effort"),
        "evaluator_max_completion_tokens": judging.get("max_tokens"),
        "memory_class": arm["class"],
        "memory_params": arm["options"],
        "memory_models": {
            role: model_name(model)
            for role, model in sorted(arm["chain"].items())
            if role not in ("reader", "judge")
        },
    }


def model_name(model: Row) -> str:
    """A model as an official run names it; an embedded engine says that it is one."""
    return f"embedded:{model['model']}" if model["provider"] == "embedded" else model["model"]


def _question(row: Row, images: Mapping[str, str]) -> dict[str, Any]:
    id_ = row["question_id"]
    text = {"text": row["text"], "image": images[id_]} if id_ in images else row["text"]
    return {
        "id": id_,
        **{key: row[key] for key in ("domain", "environment", "question_type")},
        "question": text,
        **{key: row[key] for key in ("answer", "eval_function")},
    }


def _records(run: Run, images: Mapping[str, str], dataset: Path) -> Iterator[dict[str, Any]]:
    """The lines of per_question.jsonl, in the dataset's order of questions."""
    first = {
        stage: {row["question_id"]: row for row in rows if row["repeat"] == 0}
        for stage, rows in run.stages.items()
    }
    prompts = _PromptLog(run.arm, dataset, images)
    for index, question in enumerate(run.questions):
        id_ = question["question_id"]
        if not all(id_ in rows for rows in first.values()):
            continue  # a reason for refusal; run.questions still names it
        query, read, judge = (first[stage][id_] for stage in ("query", "read", "judge"))
        kept = query["items"][: read["context_items_kept"]]
        trace = json.loads(query["trace"] or "{}")  # of official backends it has what their hook gave back
        yield {
            "index": index,
            "stream_index": index,
            "question_id": id_,
            "question_type": question["question_type"],
            "category": CATEGORIES[question["question_type"]],
            "is_abstention_problem": question["abstention"],
            "eval_function": question["eval_function"],
            "question_text": question["text"],
            "question_image": images.get(id_),
            "haystack_ids": list(run.haystack.get(id_, ())),
            "memory_context": [_context_item(item, dataset) for item in kept],
            "memory_query_duration_seconds": query["latency_s"],
            "memory_post_query_duration_seconds": trace.get("post_query_s") or 0.0,
            "memory_post_query_metadata": {
                **_as_object(trace.get("post_query")),
                OURS: _ours(query, read, judge, kept),
            },
            "memory_context_original_token_count": read["context_tokens"],
            "memory_context_token_count": read["context_tokens_kept"],
            "memory_context_was_truncated": read["was_truncated"],
            "prompt_messages": prompts.messages(question, query, kept),
            "answer_gold": question["answer"],
            "response_raw": read["response_raw"],
            "response_parsed_boxed": read["prediction"],
            "is_unknown": read["is_unknown"],
            "score": float(judge["score"]),
            "score_bool": bool(judge["score"]),
            "usage": {
                "prompt_tokens": read["input_tokens"],
                "completion_tokens": read["output_tokens"],
                "total_tokens": read["input_tokens"] + read["output_tokens"],
            },
            "timestamp_utc": None,  # no table of ours holds times of day
        }


def _context_item(item: Row, dataset: Path) -> dict[str, str]:
    if item["kind"] == "text":
        return {"type": "text", "value": item["text"]}
    return {"type": "image", "value": _inside(item["image"], dataset)}


def _inside(path: str, dataset: Path) -> str:
    """A path relative to the dataset where it lies in it, so that an export names no place of a machine."""
    return Path(path).relative_to(dataset).as_posix() if Path(path).is_relative_to(dataset) else path


def _as_object(metadata: Any) -> dict[str, Any]:
    if metadata is None:
        return {}
    return metadata if isinstance(metadata, dict) else {"post_query": metadata}


def _ours(query: Row, read: Row, judge: Row, kept: Sequence[Row]) -> dict[str, Any]:
    place = ("source", "trajectory_id", "first_state", "last_state")
    return {
        "status": {"query": query["status"], "read": read["status"], "judge": judge["status"]},
        "error": query["error"] or read["error"] or judge["error"],
        "context_items": read["context_items"],
        "in_flight": query["in_flight"],
        "insert_s": query["insert_s"],
        "items": [[item[key] for key in place] for item in kept],
    }


class _PromptLog:
    """The reader's messages as the official harness logs them: images by path."""

    def __init__(self, arm: Row, dataset: Path, images: Mapping[str, str]) -> None:
        self._reader = Reader(
            None, Prompts(arm["prompts"]), arm["domains"], arm["context_tokens"], counter=None
        )
        self._answers = arm["answers"]
        self._dataset = dataset
        self._images = images

    def messages(self, question: Row, query: Row, kept: Sequence[Row]) -> list[dict[str, Any]]:
        """The messages of one question; none where the reader was not asked."""
        if query["status"] != Status.OK or self._answers:
            return []
        asked = question_of(question)
        log = []
        for message in self._reader.messages(asked, question, kept):
            content = message["content"]
            if not isinstance(content, str):
                own = str(asked.image.path) if asked.image else None
                content = [
                    self._part(
                        part, self._images[question["question_id"]] if part.get("path") == own else None
                    )
                    if part["type"] == "image"
                    else part
                    for part in content
                ]
            log.append({"role": message["role"], "content": content})
        return log

    def _part(self, part: Row, own: str | None) -> dict[str, str]:
        return {"type": "image_path", "image_path": own or _inside(part["path"], self._dataset)}

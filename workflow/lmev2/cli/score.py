"""`lmev2 score`: score answers outside the workflow, row by row."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

from lmev2.boxed import is_unknown, parse_boxed
from lmev2.cli.streams import standard_input, standard_output
from lmev2.cli.usage import UsageError
from lmev2.configuration import config_for_models
from lmev2.eval_function import EvalFunctionError, parse_eval_function
from lmev2.judge.evaluators import AnswerError, score_deterministic
from lmev2.judge.judging import Judgement, judge_answer
from lmev2.llm.door import Door
from lmev2.llm.models import model_of
from lmev2.money.budget import Budget
from lmev2.prompts import Prompts, prompt_params
from lmev2.records import Status
from lmev2.store import replacing

# judge(function, question, answer, prediction, response)
Judge = Callable[..., Awaitable[Judgement]]

DESCRIPTION = """\
Score answers. FILE is JSON Lines; each row has
  eval_function  name|key=value|… as in the dataset
  prediction     the reader's raw response
  answer         the reference
  question       (only with --judge, for the evaluators that need a judge)
  id             (optional, named in errors)
The rows are written back with `parsed` (the extracted answer), `is_unknown`, and `score` (true or
false) or `error`; other fields are kept. llm_gotchas_checker and llm_abstention_checker need
--judge; without it they give an error, but for a blank answer, which is wrong whatever the judge says.

exit code: 0 all rows are scored, 1 some row has an error, 2 wrong usage or a missing file
"""
RESULT_FIELDS = ("parsed", "is_unknown", "score", "reason", "error")


class RowError(ValueError):
    """A row that cannot be scored."""


@dataclass
class Counts:
    """What the summary line says."""

    rows: int = 0
    scored: int = 0
    correct: int = 0
    errors: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `lmev2 score`."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", metavar="FILE.jsonl", help="rows to score, - for standard input")
    parser.add_argument(
        "--output", metavar="FILE", default="-", help="where to write (default -: standard output)"
    )
    parser.add_argument(
        "--judge", action="store_true", help="ask the judge of the configuration where needed"
    )
    parser.add_argument("--config", metavar="FILE", help="configuration with models.judge, for --judge")


def run(args: argparse.Namespace) -> int:
    """Score the rows of `args.file`; returns the exit code (see `DESCRIPTION`)."""
    with ExitStack() as stack:
        try:
            if args.config and not args.judge:
                raise UsageError("--config is only of use with --judge; add --judge or drop --config")
            judge, run_loop = None, asyncio.run
            if args.judge:
                judge, run_loop = stack.enter_context(_open_judge(args))
            source = stack.enter_context(_source(args.file))
            target = stack.enter_context(_target(args.output))
        except (UsageError, OSError) as error:
            print(f"lmev2 score: {error}", file=sys.stderr)
            return 2
        counts = run_loop(_score_lines(source, target, judge))
    print(
        f"{counts.rows} rows: {counts.scored} scored, {counts.correct} correct, {counts.errors} errors",
        file=sys.stderr,
    )
    return 1 if counts.errors else 0


@contextmanager
def _open_judge(args: argparse.Namespace) -> Iterator[tuple[Judge, Callable[..., Counts]]]:
    """The judge role of `args.config`, its replies journaled as in a run, and what runs its event loop."""
    config = config_for_models(args.config)
    door = Door(
        {"judge": model_of("judge", config)},
        config["journal"]["path"],
        replay=config["journal"]["replay"],
        again=config["retry_statuses"],
        budget=Budget(config["budget"], config["journal"]["path"]),
    )
    prompts = Prompts(prompt_params(("judge.", "judge_"), config["prompts"]))
    judge = partial(judge_answer, door.chat, prompts=prompts, attempts=config["judge"]["attempts"])
    with door:
        yield judge, door.run


async def _score_lines(source: BinaryIO, target: TextIO, judge: Judge | None) -> Counts:
    counts = Counts()
    for number, line in enumerate(source, start=1):  # a binary file's lines end at \n only
        if not line.strip():
            continue
        row = await _scored(line, number, judge)
        counts.rows += 1
        counts.errors += "error" in row
        counts.scored += "score" in row
        counts.correct += row.get("score", False)
        # ASCII, so that no line separator or lone surrogate in a text can do harm.
        target.write(json.dumps(row) + "\n")
    return counts


async def _scored(line: bytes, number: int, judge: Judge | None) -> dict[str, Any]:
    """The row of `line` with its result fields; never fails on account of the row."""
    row: dict[str, Any] = {"line": number}
    place = f"line {number}"
    try:
        given = _parse(line)
        row = {key: value for key, value in given.items() if key not in RESULT_FIELDS}
        if "id" in row:
            place = f"line {number}, id {row['id']!r}"
        for name in ("eval_function", "prediction", "answer"):
            if name not in row:
                raise RowError(f"field {name!r} is missing; add it")
        await _score(row, judge)
    except (RowError, EvalFunctionError, AnswerError) as error:
        row["error"] = f"{place}: {error}"
    return row


def _parse(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RowError(f"not valid JSON: {error}; write one JSON object a line") from error
    if not isinstance(row, dict):
        raise RowError(f"not a JSON object but {type(row).__name__}; write one JSON object a line")
    return row


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


async def _score(row: dict[str, Any], judge: Judge | None) -> None:
    """Add `parsed`, `is_unknown` and `score` to `row`.

    A prediction that is no text is taken as it is, by its `str` (see `score_deterministic`).
    """
    response, answer = row["prediction"], row["answer"]
    parsed = parse_boxed(response).prediction if isinstance(response, str) else response
    row["parsed"] = parsed
    row["is_unknown"] = isinstance(parsed, str) and is_unknown(parsed)
    function = parse_eval_function(row["eval_function"])
    if not function.judged:
        row["score"] = not row["is_unknown"] and score_deterministic(function, parsed, answer)
        return
    if function.require_non_empty and parsed in (None, ""):
        row["score"] = False
        return
    if judge is None:
        raise RowError(f"{function.name} needs a judge; run with --judge")
    for name in ("question", "answer", "prediction"):
        if not isinstance(row.get(name), str):
            raise RowError(f"{function.name} needs the field {name!r} as a string; add it")
    judgement = await judge(function, row["question"], answer, parsed, response)
    if judgement.status != Status.OK:
        raise RowError(f"no verdict from the judge ({judgement.status}); run again")
    row["score"] = bool(judgement.score)
    row["reason"] = judgement.reason


@contextmanager
def _source(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield standard_input()
        return
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{name} is a folder; name a JSON Lines file")
    if not path.exists():  # a pipe is fine
        raise UsageError(f"{name}: no such file; give a JSON Lines file or - for standard input")
    with path.open("rb") as handle:
        yield handle


@contextmanager
def _target(name: str) -> Iterator[TextIO]:
    if name == "-":
        yield standard_output()
        return
    if Path(name).is_dir():
        raise UsageError(f"--output {name} is a folder; name a file")
    if Path(name).exists() and not Path(name).is_file():  # a pipe or device: to be written, not replaced
        with Path(name).open("w", encoding="ascii", newline="") as handle:
            yield handle
        return
    with replacing(name) as temporary, temporary.open("w", encoding="ascii", newline="") as handle:
        yield handle

"""The records of a run, each checked against the dataset and the tier's haystacks."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.official.importing.additions import addition_faults
from lmev2.official.importing.findings import LEFT_OUT, Finding, file_of
from lmev2.official.run_folder import (
    DISPENSABLE,
    RECORDS,
    field_faults,
    no_items,
    parse_json,
    usage_faults,
)

Row = Mapping[str, Any]


class Records:
    """The lines of one run's per_question.jsonl, checked.

    Args:
        folder: the run folder.
        run: `ImportedRun.params`.
        wanted: the questions of the run's domain by id.
        known: those of all domains.
        haystacks: question -> its trajectories in the tier, in order.
        findings: where what cannot be used is filed.
    """

    def __init__(
        self,
        folder: Path,
        run: Mapping[str, str],
        wanted: Mapping[str, Row],
        known: Mapping[str, Row],
        haystacks: Mapping[str, Sequence[str]],
        findings: list[Finding],
    ) -> None:
        self.file, self.run = folder / RECORDS, run
        self.wanted, self.known, self.haystacks = wanted, known, haystacks
        self.findings = findings

    def read(self) -> dict[str, tuple[dict[str, Any], int]]:
        """Question -> its record and line, of those that can be used; the others are filed."""
        lines: dict[str, list[int]] = defaultdict(list)
        good = {}
        with self.file.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                record = self._parse(line, number)
                if record is None:
                    continue
                id_ = record.get("question_id")
                if isinstance(id_, str):
                    lines[id_].append(number)
                if not self._is_sound(record, number):
                    continue
                record.pop("prompt_messages", None)  # large, and says nothing that the context does not
                good[id_] = record, number
        for id_, numbers in lines.items():
            if len(numbers) > 1:
                good.pop(id_, None)
                where = ", ".join(map(str, numbers))
                self._file(numbers[0], id_, "question_id", f"the question has several records: lines {where}")
        return good

    def _parse(self, line: bytes, number: int) -> dict[str, Any] | None:
        try:
            record = parse_json(line)
        except ValueError as error:
            cut = "" if line.endswith(b"\n") else "; the line has no end, as if the file were cut off"
            # What can be read of it says which question it was.
            named = re.search(rb'"question_id": ?"([^"\\]+)"', line)
            self._file(number, named[1].decode("utf-8", "replace") if named else "", "", f"{error}{cut}")
            return None
        if not isinstance(record, dict):
            self._file(number, "", "", "the line is not a JSON object")
            return None
        return record

    def _is_sound(self, record: dict[str, Any], number: int) -> bool:
        id_ = record.get("question_id")
        id_ = id_ if isinstance(id_, str) else ""
        faults = [("", fault) for fault in field_faults(record, DISPENSABLE)]
        if not faults:
            faults = list(self._content_faults(record))
        for name, fault in faults:
            self._file(number, id_, name, fault)
        return not faults

    def _content_faults(self, record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        id_ = record["question_id"]
        if id_ not in self.wanted:
            of = self.known.get(id_)
            what = f"of the domain {of['domain']}" if of else "none of the dataset"
            yield "question_id", f"the question is {what}; the run is of {self.run['domain']}"
            return
        question = self.wanted[id_]
        for name, column in (
            ("question_text", "text"),
            ("question_type", "question_type"),
            ("eval_function", "eval_function"),
            ("answer_gold", "answer"),
        ):
            if record[name] != question[column]:
                yield name, f"is {record[name]!r:.80}; the dataset has {question[column]!r:.80}"
        if record["haystack_ids"] != list(self.haystacks[id_]):
            yield "haystack_ids", _haystack_fault(record["haystack_ids"], self.haystacks[id_])
        if record["score"] not in (0, 1):
            yield "score", f"is {record['score']!r}, neither 0 nor 1"
        seconds = record["memory_query_duration_seconds"]
        if not (math.isfinite(seconds) and seconds >= 0):
            yield "memory_query_duration_seconds", f"is {seconds!r}, no duration"
        for number in no_items(record["memory_context"]):
            yield f"memory_context[{number}]", "is not {type: text | image, value: …}"
        yield from usage_faults(record["usage"])
        yield from addition_faults(record)

    def _file(self, line: int, id_: str, name: str, fault: str) -> None:
        # A record that cannot be read or belongs to nothing is left out too, whatever question it was of.
        file = file_of(self.run, RECORDS)
        self.findings.append(Finding(LEFT_OUT, self.run["domain"], file, line, id_, name, "", fault))


def _haystack_fault(given: Sequence[Any], wanted: Sequence[str]) -> str:
    others = {str(id_) for id_ in given} ^ set(wanted)
    if not others:
        return "holds the tier's trajectories in another order"
    return f"is not the tier's haystack: {len(given)} trajectories for {len(wanted)}, {len(others)} differ"

"""Turns recorded trajectories and the questions of their applications into a dataset in the released form.

Evidence labels are found mechanically: every trajectory of a question's domain is searched for its patterns,
so that the labels are complete with respect to these. What the answers rest on is checked: each phrase of a
phrase answer must occur in the labelled states and be on screen in one of them.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.evidence import evidence, on_screen, says
from collector.haystacks import SMALL, Evidence, medium_haystack, small_haystack

Rows = list[dict[str, Any]]


@dataclass
class Built:
    """What was built, apart from the files.

    Attributes:
        problems: what the recorded runs do not bear out; with one nothing is written.
        left_out: questions for which runs are lacking.
    """

    trajectories: int = 0
    questions: int = 0
    problems: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def question_id(key: str) -> str:
    """The id of the question with a key."""
    return hashlib.sha256(("lme-mini-question/" + key).encode()).hexdigest()[:8]


def build_dataset(
    recorded: Sequence[Path],
    questions: Rows,
    target: Path,
    leave_out: Iterable[str] = (),
    *,
    partial: bool = False,
) -> Built:
    """Write a dataset.

    Args:
        recorded: folders that `record` has filled.
        questions: of all applications.
        target: folder to make anew.
        leave_out: keys of recorded runs that do not belong to the dataset.
        partial: not all runs were recorded: leave out the questions for which some are lacking.
    """
    built = Built()
    trajectories = read_recorded(recorded, leave_out)
    domains = {trajectory["environment"]: trajectory["domain"] for trajectory in trajectories}
    # An environment without runs has no domain: its questions find no evidence.
    questions = [{**each, "domain": domains.get(each["environment"])} for each in questions]
    found = _find(trajectories, questions)
    problems = list(_problems(trajectories, questions, found))
    if partial:
        bad = {key for key, _ in problems}
        built.left_out = [
            each["key"] for each in questions if not bad.isdisjoint((each["key"], each["anchor"]))
        ]
        questions = [each for each in questions if each["key"] not in built.left_out]
        problems = []
    built.trajectories, built.questions = len(trajectories), len(questions)
    built.problems = [f"{key}: {problem}" for key, problem in problems]
    small, medium = _haystacks(trajectories, questions, found, built.problems)
    if built.problems:
        return built
    shutil.rmtree(target, ignore_errors=True)
    _write_trajectories(trajectories, target)
    _write_questions(questions, trajectories, target)
    _write_coverage(questions, found, target)
    _write_json(target / "haystacks" / "lme_v2_small.json", small)
    _write_json(target / "haystacks" / "lme_v2_medium.json", medium)
    return built


def read_recorded(folders: Sequence[Path], leave_out: Iterable[str] = ()) -> Rows:
    """The trajectories in folders that `record` has filled, in the order in which they were recorded.

    Keys that begin with `_` are not part of the released form; `_folder` tells where screenshots are.
    """
    rows = []
    for folder in folders:
        for path in sorted((folder / "raw").glob("*.json")):
            row = {**json.loads(path.read_text(encoding="utf-8")), "_folder": folder}
            if row["_key"] not in set(leave_out):
                rows.append(row)
    return sorted(rows, key=lambda row: (folders.index(row["_folder"]), row["_number"]))


def _find(trajectories: Rows, questions: Rows) -> Evidence:
    return {
        each["key"]: [
            {
                trajectory["id"]: states
                for trajectory in trajectories
                if trajectory["domain"] == each["domain"] and (states := evidence(hop, trajectory))
            }
            for hop in each["hops"]
        ]
        for each in questions
    }


def _problems(trajectories: Rows, questions: Rows, found: Evidence) -> Iterator[tuple[str, str]]:
    by_id = {trajectory["id"]: trajectory for trajectory in trajectories}
    keys = {each["key"] for each in questions}

    def states(hits: dict[str, list[int]]) -> Iterator[tuple[str, dict[str, Any]]]:
        for id_, indexes in hits.items():
            for index in indexes:
                yield id_, by_id[id_]["states"][index]

    for each in questions:
        key, hops = each["key"], found[each["key"]]
        yield from ((key, f"no evidence for hop {n}") for n, hits in enumerate(hops) if not hits)
        if each["image"] and each["image"][0] not in {row["_key"] for row in trajectories}:
            yield key, f"the run {each['image'][0]} of its image was not recorded"
        if each["anchor"] and each["anchor"] not in keys:
            yield key, f"there is no question {each['anchor']}, its anchor"
        is_phrases = each["eval_function"].startswith("norm_phrase")
        phrases = re.split(r"[,;]", each["answer"]) if is_phrases else []
        for phrase in each["see"] or phrases:
            seen = (on_screen(state["accessibility_tree"]) for hits in hops for _, state in states(hits))
            if not any(says(text, phrase) for text in seen):
                yield key, f"{phrase.strip()!r} is in no screenshot of the evidence"
        for phrase in phrases:
            for number, hits in enumerate(hops):
                wanted = each["phrase_hops"][number] if each["phrase_hops"] else phrases
                if not any(says(phrase, other) for other in wanted):
                    continue
                texts: dict[str, str] = {}
                for id_, state in states(hits):
                    more = f" {state['accessibility_tree']} {state['action'] or ''}"
                    texts[id_] = texts.get(id_, "") + more
                lacking = [by_id[id_]["_key"] for id_, text in texts.items() if not says(text, phrase)]
                yield from ((key, f"{phrase.strip()!r} is not in the evidence of {run}") for run in lacking)


def _write_trajectories(trajectories: Rows, target: Path) -> None:
    rows = [{k: v for k, v in row.items() if not k.startswith("_")} for row in trajectories]
    _write_jsonl(target / "trajectories.jsonl", rows)
    families = {
        row["id"]: {"family": row["_family"], "app": row["_app"], "key": row["_key"]} for row in trajectories
    }
    _write_json(target / "families.json", families)
    for row in trajectories:
        for state in row["states"]:
            _copy(row["_folder"] / state["screenshot"], target / state["screenshot"])


def _write_questions(questions: Rows, trajectories: Rows, target: Path) -> None:
    by_key = {row["_key"]: row for row in trajectories}
    rows = []
    for each in questions:
        image = None
        if each["image"]:
            run, step = each["image"]
            image = f"question_screenshots/{question_id(each['key'])}.png"
            _copy(by_key[run]["_folder"] / by_key[run]["states"][step]["screenshot"], target / image)
        fields = ("domain", "environment", "question_type", "question", "answer", "eval_function")
        rows.append({"id": question_id(each["key"]), **{k: each[k] for k in fields}, "image": image})
    _write_jsonl(target / "questions.jsonl", rows)


def _write_coverage(questions: Rows, found: Evidence, target: Path) -> None:
    rows = []
    for each in questions:
        hops = [
            {
                "hop": number,
                "trajectories": [{"trajectory_id": id_, "state_indexes": s} for id_, s in hits.items()],
            }
            for number, hits in enumerate(found[each["key"]])
        ]
        anchor = question_id(each["anchor"]) if each["anchor"] else None
        rows.append({"question_id": question_id(each["key"]), "hops": hops, "anchor_question_id": anchor})
    _write_jsonl(target / "coverage.jsonl", rows)


def _haystacks(
    trajectories: Rows, questions: Rows, found: Evidence, problems: list[str]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    small, medium = {}, {}
    for domain in sorted({row["domain"] for row in trajectories}):
        outcomes = {row["id"]: row["outcome"] for row in trajectories if row["domain"] == domain}
        mine = [each for each in questions if each["domain"] == domain]
        members, core = small_haystack(domain, outcomes, mine, found)
        if core > SMALL:
            problems.append(f"{domain}: the small haystack does not hold the {core} runs with answers")
        for each in mine:
            small[question_id(each["key"])] = members
            owner = next((other for other in mine if other["key"] == each["anchor"]), each)
            medium[question_id(each["key"])] = medium_haystack(owner, outcomes, mine, found)
    return small, medium


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _write_jsonl(path: Path, rows: Rows) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")

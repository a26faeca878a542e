"""The explorer's files of the dataset: questions with their labels, trajectories, haystacks.

Labels are for people: nothing here is read by a memory method.
"""

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lmev2.eval_function import PHRASE_SEQUENCE, PHRASE_SET, parse_eval_function
from lmev2.explorer.packing import write_data
from lmev2.judge.normalise import DEFAULT_SEPARATORS
from lmev2.stats.retrieval import Evidence

Rows = Iterable[Mapping[str, Any]]
_QUESTION = (
    *("domain", "environment", "question_type", "ability", "abstention"),
    *("text", "answer", "evaluator", "eval_function"),
)
_TRAJECTORY = ("domain", "environment", "goal", "outcome", "start_url", "n_states", "family")


def pack_questions(rows: Rows, evidence: Mapping[str, Evidence], anchors: Mapping[str, str]) -> list[Any]:
    """Every question with its answer, the phrases to look for, its image and its labels.

    Args:
        rows: the `questions` table.
        evidence: question -> labels.
        anchors: abstention question -> the question that it was made from.
    """
    return [
        {
            "id": row["question_id"],
            **{key: row[key] for key in _QUESTION},
            "image": f"images/{Path(row['image']).name}" if row["image"] else None,
            "phrases": gold_phrases(row),
            "anchor": anchors.get(row["question_id"]),
            "evidence": [
                [hop, sorted([trajectory, sorted(states)] for trajectory, states in found.items())]
                for hop, found in sorted(evidence[row["question_id"]].hops.items())
            ]
            if row["question_id"] in evidence
            else [],
        }
        for row in rows
    ]


def gold_phrases(question: Mapping[str, Any]) -> list[str]:
    """The phrases of the gold answer, as written; none where the evaluator looks for no phrases."""
    function = parse_eval_function(question["eval_function"])
    if function.name not in (PHRASE_SET, PHRASE_SEQUENCE):
        return []
    separators = function.options.get("separators", DEFAULT_SEPARATORS)
    answer = question["answer"]
    parts = re.split("|".join(map(re.escape, separators)), answer) if separators else [answer]
    return [part.strip() for part in parts if part.strip()]


def pack_trajectory_list(rows: Rows) -> list[Any]:
    """Every trajectory without its states."""
    return [{"id": row["trajectory_id"], **{key: row[key] for key in _TRAJECTORY}} for row in rows]


def pack_haystacks(rows: Rows, places: Mapping[str, int]) -> dict[str, Any]:
    """The haystacks of one tier, each list once: `lists` of trajectory numbers, `of` question -> list.

    Args:
        rows: the `haystack` table.
        places: trajectory -> its number in the list of trajectories.
    """
    members: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        members.setdefault(row["question_id"], []).append((row["position"], places[row["trajectory_id"]]))
    lists: dict[tuple[int, ...], int] = {}
    of = {
        question: lists.setdefault(tuple(place for _, place in sorted(found)), len(lists))
        for question, found in members.items()
    }
    return {"lists": [list(places_) for places_ in lists], "of": of}


def write_dataset(
    data: Path,
    images: Path,
    *,
    questions: list[Mapping[str, Any]],
    evidence: Mapping[str, Evidence],
    anchors: Mapping[str, str],
    trajectories: list[Mapping[str, Any]],
    haystacks: Mapping[str, Rows],
    question_images: Path,
) -> None:
    """Write `questions.js`, `trajectories.js` and `haystack-<tier>.js`, and copy the questions' images.

    Args:
        data: folder of these files.
        images: folder for the questions' images.
        questions: the `questions` table.
        evidence: question -> labels.
        anchors: see `pack_questions`.
        trajectories: the `trajectories` table.
        haystacks: tier -> the `haystack` table.
        question_images: folder that ingest keeps them in.
    """
    write_data(data, "questions", pack_questions(questions, evidence, anchors))
    write_data(data, "trajectories", pack_trajectory_list(trajectories))
    places = {row["trajectory_id"]: number for number, row in enumerate(trajectories)}
    for tier, rows in haystacks.items():
        write_data(data, f"haystack-{tier}", pack_haystacks(rows, places))
    images.mkdir(parents=True, exist_ok=True)
    for row in questions:
        if row["image"]:
            name = Path(row["image"]).name
            shutil.copyfile(question_images / name, images / name)

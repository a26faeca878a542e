"""A tiny sound dataset in the official format, for tests to use and to break.

make_dataset(tmp_path / "data") writes 2 domains, 8 questions of all types and evaluators but one,
6 trajectories of 2 to 4 states, screenshots, evidence labels, task families and both tiers.
make_dataset(path, change) lets `change(content)` edit the content before it is written.
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

PHRASE = "norm_phrase_set_match|lower=true|normalize_hyphen=true|strip_punct=true|separators=,;"
ORDERED = PHRASE.replace("match|", "match_ordered|", 1)
ABSTENTION = "llm_abstention_checker|require_non_empty=true"
GOTCHAS = "llm_gotchas_checker|require_non_empty=true"

# id, domain, question type, question, image, answer, evaluator
_QUESTIONS = [
    ("q1", "web", "static-environment", "What is the colour of the lamp?", None, "Amber", PHRASE),
    ("q2", "web", "dynamic-environment", "Which page follows the cart?", None, "Dispatch, Payment", ORDERED),
    ("q3", "web", "static-environment-abs", "Where is the fax number?", None, "There is none", ABSTENTION),
    ("q4", "web", "errors-gotchas", "Why does saving fail?", "q4", "A field is empty", GOTCHAS),
    ("q5", "enterprise", "procedure", "A. open B. close?", None, "B", "mc_choice_match"),
    ("q6", "enterprise", "dynamic-environment-abs", "How is it undone?", None, "It is not", ABSTENTION),
    ("q7", "enterprise", "procedure-abs", "How is a tally printed?", None, "It is not", ABSTENTION),
    ("q8", "enterprise", "static-environment", "Which stages are there?", None, "New, Old", PHRASE),
]
# id, domain, outcome, number of states
_TRAJECTORIES = [
    ("t1", "web", "success", 3),
    ("t2", "web", "failure", 2),
    ("t3", "web", "success", 4),
    ("t4", "enterprise", "success", 2),
    ("t5", "enterprise", "failure", 3),
    ("t6", "enterprise", "failure", 2),
]
_ANSWERS = {"q1": "t1", "q2": "t3", "q4": "t2", "q5": "t4", "q8": "t5"}
_ANCHORS = {"q3": "q1", "q6": "q5", "q7": "q8"}


@dataclass
class Content:
    """The content of a dataset folder: JSON values, and files by path."""

    questions: list[dict[str, Any]]
    trajectories: list[dict[str, Any]]
    coverage: list[dict[str, Any]] | None
    families: dict[str, Any] | None
    haystacks: dict[str, dict[str, Any]]
    files: dict[str, bytes] = field(default_factory=dict)


def png(shade: int, size: tuple[int, int] = (8, 6)) -> bytes:
    """A PNG of one grey."""
    data = io.BytesIO()
    Image.new("L", size, shade % 256).save(data, "PNG")
    return data.getvalue()


def tiny_content() -> Content:
    """The content of the sound dataset."""
    files = {}
    questions = []
    for question_id, domain, kind, text, image, answer, evaluator in _QUESTIONS:
        path = f"question_screenshots/{image}.png" if image else None
        if path:
            files[path] = png(200, (10, 7))
        questions.append(
            {
                "id": question_id,
                "domain": domain,
                "environment": f"{domain}-app",
                "question_type": kind,
                "question": text,
                "image": path,
                "answer": answer,
                "eval_function": evaluator,
            }
        )
    trajectories = []
    for number, (trajectory_id, domain, outcome, n_states) in enumerate(_TRAJECTORIES):
        states = []
        for index in range(n_states):
            path = f"screenshots/{trajectory_id}/{index}.png"
            files[path] = png(20 * number + index)
            states.append(
                {
                    "state_index": index,
                    "step": index,
                    "url": f"http://app.example/{trajectory_id}/{index}",
                    "action": f"click('{10 + index}')" if index else None,
                    "thought": f"I open page {index}." if index else None,
                    "accessibility_tree": f"RootWebArea 'Page {index}'\n"
                    f"\t[{11 + index}] button 'Next of {trajectory_id}', clickable\n"
                    "\t\tStaticText 'Amber lamp'",
                    "screenshot": path,
                }
            )
        trajectories.append(
            {
                "id": trajectory_id,
                "domain": domain,
                "environment": f"{domain}-app",
                "goal": f"Do the task of {trajectory_id}.",
                "outcome": outcome,
                "start_url": f"http://app.example/{trajectory_id}/0",
                "states": states,
            }
        )
    coverage = []
    for question in questions:
        answer = _ANSWERS.get(question["id"])
        hop = {"hop": "look", "trajectories": [{"trajectory_id": answer, "state_indexes": [0, 1]}]}
        coverage.append(
            {
                "question_id": question["id"],
                "hops": [hop] if answer else [],
                "anchor_question_id": _ANCHORS.get(question["id"]),
            }
        )
    members = {
        domain: [row["id"] for row in trajectories if row["domain"] == domain]
        for domain in ("web", "enterprise")
    }
    return Content(
        questions=questions,
        trajectories=trajectories,
        coverage=coverage,
        families={row["id"]: {"family": f"family-{row['domain']}"} for row in trajectories},
        haystacks={
            "small": {row["id"]: _small(row["id"], members[row["domain"]]) for row in questions},
            "medium": {row["id"]: members[row["domain"]][::-1] for row in questions},
        },
        files=files,
    )


def _small(question_id: str, members: list[str]) -> list[str]:
    """The first two of the domain, or the question's answer trajectory in the place of the second."""
    answer = _ANSWERS.get(question_id) or _ANSWERS[_ANCHORS[question_id]]
    return members[:2] if answer in members[:2] else [members[0], answer]


def make_dataset(
    path: Path, change: Callable[[Content], None] | None = None, *, newline: str = "\n", end: str = ""
) -> Path:
    """Write a dataset folder and return its path.

    Args:
        path: folder to make.
        change: edits the content in place before it is written. A JSON Lines row that is `bytes`
            instead of an object is written as it is.
        newline: line end of the JSON Lines files.
        end: what follows the last line of each.
    """
    content = tiny_content()
    if change is not None:
        change(content)
    path.mkdir(parents=True, exist_ok=True)
    for name in ("questions", "trajectories", "coverage"):
        rows = getattr(content, name)
        if rows is not None:
            lines = [row if isinstance(row, bytes) else _json(row) for row in rows]
            data = b"".join(line + newline.encode() for line in lines) + end.encode()
            (path / f"{name}.jsonl").write_bytes(data)
    if content.families is not None:
        (path / "families.json").write_bytes(_json(content.families))
    for tier, haystacks in content.haystacks.items():
        file = path / "haystacks" / f"lme_v2_{tier}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(haystacks if isinstance(haystacks, bytes) else _json(haystacks))
    for name, data in content.files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")

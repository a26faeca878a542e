"""The extractive reader finds answers where they are: retrieved against random slices of a haystack.

Accuracy is that of the deterministic evaluators. Retrieval is plain BM25 over the states, with its
neighbours as the paper's slices have them; the labels of `coverage.jsonl` are used for the oracle contexts
only. Run with `-s` to see the figures that `docs/embedded-models.md` quotes.
"""

import json
import math
import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from lmev2.accessibility import annotate_actions
from lmev2.boxed import parse_boxed
from lmev2.eval_function import parse_eval_function
from lmev2.judge.evaluators import score_deterministic
from lmev2.llm.embedded import chat

MINI = Path(__file__).parents[2] / "resources" / "mini"
SLICES, SEEDS = 6, 5
Slice = tuple[str, int]  # trajectory id, centre state


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (MINI / name).read_text(encoding="utf-8").split("\n") if line]


@cache
def trajectories() -> dict[str, dict]:
    found = {}
    for row in rows("trajectories.jsonl"):
        trees = [state["accessibility_tree"] for state in row["states"]]
        row["annotated"] = annotate_actions([state["action"] for state in row["states"]], trees)
        row["words"] = [Counter(words(tree)) for tree in trees]
        found[row["id"]] = row
    return found


@cache
def questions() -> list[dict]:
    read = [{**row, "function": parse_eval_function(row["eval_function"])} for row in rows("questions.jsonl")]
    return [row for row in read if not row["function"].judged]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def pool(question: dict) -> list[Slice]:
    haystack = json.loads((MINI / "haystacks/lme_v2_small.json").read_text(encoding="utf-8"))[question["id"]]
    return [(id_, centre) for id_ in haystack for centre in range(len(trajectories()[id_]["states"]))]


def retrieved(question: dict) -> list[Slice]:
    """The best states by BM25 (k1 = 1.2, b = .75); the sentence on the answer's form is left out."""
    asked = set(words(re.sub(r"[^.?!\n]*\\boxed.*", "", question["question"], flags=re.S)))
    states = {entry: trajectories()[entry[0]]["words"][entry[1]] for entry in pool(question)}
    sizes = {entry: sum(counts.values()) for entry, counts in states.items()}
    mean = sum(sizes.values()) / len(sizes)
    frequency = Counter(word for counts in states.values() for word in asked & counts.keys())
    total = len(states)

    def score(entry: Slice) -> float:
        counts, length = states[entry], 1.2 * (0.25 + 0.75 * sizes[entry] / mean)
        return sum(
            math.log(1 + (total - frequency[word] + 0.5) / (frequency[word] + 0.5))
            * counts[word]
            * 2.2
            / (counts[word] + length)
            for word in sorted(asked & counts.keys())
        )

    return sorted(states, key=lambda entry: -score(entry))[:SLICES]


def at_random(question: dict, seed: int) -> list[Slice]:
    return random.Random(f"{question['id']}-{seed}").sample(pool(question), SLICES)


@cache
def labels() -> dict[str, list[dict]]:
    return {row["question_id"]: row["hops"] for row in rows("coverage.jsonl")}


def labelled(question: dict) -> list[Slice]:
    entries = [
        (run["trajectory_id"], run["state_indexes"][0])
        for hop in labels()[question["id"]]
        for run in hop["trajectories"][:3]
    ]
    return entries[:SLICES]


def render(entry: Slice) -> str:
    run, centre = trajectories()[entry[0]], entry[1]
    first, last = max(0, centre - 1), min(len(run["states"]) - 1, centre + 1)
    lines = [f"Slice of trajectory {run['id']}, states {first}-{last}", f"Goal: {run['goal']}", "Actions:"]
    lines += [f"{number}. {action}" for number, action in enumerate(run["annotated"]) if action]
    for number in range(first, last + 1):
        lines += [f"State {number}", f"URL: {run['states'][number]['url']}"]
        if run["annotated"][number]:
            lines.append(f"Action: {run['annotated'][number]}")
        lines += ["Tree:", run["states"][number]["accessibility_tree"]]
    return "\n".join(lines)


def correct(question: dict, entries: list[Slice]) -> bool:
    content = [{"type": "text", "text": render(entry)} for entry in entries]
    content.append({"type": "text", "text": f"<question>\n{question['question']}\n</question>"})
    reply = chat.complete([{"role": "user", "content": content}])
    return score_deterministic(question["function"], parse_boxed(reply).prediction, question["answer"])


def accuracy(choose) -> float:
    return sum(correct(question, choose(question)) for question in questions()) / len(questions())


@pytest.mark.slow
def test_retrieved_slices_are_clearly_better_than_random_ones():
    found = accuracy(retrieved)
    chance = sum(accuracy(lambda question, s=seed: at_random(question, s)) for seed in range(SEEDS)) / SEEDS
    oracle = accuracy(labelled)
    print(
        f"\n{len(questions())} questions: retrieved {found:.3f}, random {chance:.3f}, labelled {oracle:.3f}"
    )
    assert len(questions()) == 36
    assert found >= 0.40
    assert found - chance >= 0.20
    assert oracle >= found


def test_without_a_context_nothing_is_answered():
    assert accuracy(lambda question: []) == 0.0

"""Write a dataset of the released one's size and form, made up from a seed, to measure on.

1,870 trajectories with 28 states on average, trees of 12,000 to 35,000 characters, 451 questions of the
released types, both haystack files, and beside them evidence labels and task families. No screenshots of
states, tiny question images. About 1.2 GB.

    python benchmarks/make_released.py FOLDER [--seed N] [--trajectories N] [--states N]
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

DOMAINS = {"web": ("shop", "forum", "admin"), "enterprise": ("service-desk",)}
WEB_SHARE = 0.4
# question_type -> number in web, in enterprise (docs/benchmark.md has the sums)
QUESTIONS = {
    "static-environment": (72, 62),
    "static-environment-abs": (29, 26),
    "dynamic-environment": (45, 41),
    "dynamic-environment-abs": (22, 19),
    "procedure": (40, 34),
    "procedure-abs": (17, 15),
    "errors-gotchas": (15, 14),
}
EVALUATORS = {
    "procedure": "mc_choice_match",
    "errors-gotchas": "llm_gotchas_checker|require_non_empty=true",
    "abs": "llm_abstention_checker|require_non_empty=true",
    "": "norm_phrase_set_match|lower=true|normalize_hyphen=true|strip_punct=true|separators=,;",
}
SMALL, MEDIUM = 100, 500  # trajectories of a haystack
PAGES, BLOCKS = 60, 120  # page templates of an environment, blocks of lines of a page
FAMILIES = 120
TREE_CHARACTERS = (12_000, 35_000, 15_500)  # shortest, longest, most frequent


def main() -> None:
    """Write the dataset that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="the dataset folder to write")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trajectories", type=int, default=1_870)
    parser.add_argument("--states", type=int, default=28, help="of a trajectory, on average")
    arguments = parser.parse_args()
    make_dataset(arguments.folder, arguments.seed, arguments.trajectories, arguments.states)


def make_dataset(folder: Path, seed: int = 0, n_trajectories: int = 1_870, mean_states: int = 28) -> None:
    """Write the dataset; the same arguments give the same bytes."""
    draw = random.Random(seed)
    (folder / "haystacks").mkdir(parents=True, exist_ok=True)
    words = ["".join(draw.choices("aeioubcdfglmnprst", k=draw.randint(3, 9))) for _ in range(4_000)]
    members: dict[str, dict[str, int]] = {domain: {} for domain in DOMAINS}  # id -> number of states
    with (folder / "trajectories.jsonl").open("wb") as file:
        for row in trajectories(draw, words, n_trajectories, mean_states):
            members[row["domain"]][row["id"]] = len(row["states"])
            file.write(orjson.dumps(row) + b"\n")
    questions = list(make_questions(draw, words, folder))
    write_rows(folder / "questions.jsonl", questions)
    write_rows(folder / "coverage.jsonl", coverage(draw, questions, members))
    families = {
        trajectory: {"family": f"{domain}-{draw.randrange(FAMILIES):03d}"}
        for domain, pool in members.items()
        for trajectory in pool
    }
    (folder / "families.json").write_bytes(orjson.dumps(families))
    shared = {domain: sample(draw, pool, SMALL) for domain, pool in members.items()}
    for tier, haystacks in {
        "small": {row["id"]: shared[row["domain"]] for row in questions},
        "medium": {row["id"]: sample(draw, members[row["domain"]], MEDIUM) for row in questions},
    }.items():
        (folder / f"haystacks/lme_v2_{tier}.json").write_bytes(orjson.dumps(haystacks))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as JSON Lines."""
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def sample(draw: random.Random, pool: dict[str, int], size: int) -> list[str]:
    """A random order of at most `size` ids."""
    return draw.sample(list(pool), min(size, len(pool)))


def new_id(draw: random.Random) -> str:
    """An id like the released ones."""
    return f"{draw.getrandbits(64):016x}"


def trajectories(draw: random.Random, words: list[str], n: int, mean_states: int) -> Iterator[dict[str, Any]]:
    """Rows of trajectories.jsonl."""
    pages = {name: [page(draw, words) for _ in range(PAGES)] for names in DOMAINS.values() for name in names}
    for number in range(n):
        domain = "web" if number < WEB_SHARE * n else "enterprise"
        environment = draw.choice(DOMAINS[domain])
        trajectory_id = new_id(draw)
        n_states = max(2, round(draw.gammavariate(2.5, mean_states / 2.5)))
        own = draw.sample(pages[environment], 6)  # a run visits few pages, many times
        states = [state(draw, words, trajectory_id, index, own) for index in range(n_states)]
        yield {
            "id": trajectory_id,
            "domain": domain,
            "environment": environment,
            "goal": " ".join(draw.choices(words, k=24)),
            "outcome": draw.choice(("success", "failure")),
            "start_url": states[0]["url"],
            "states": states,
        }


def page(draw: random.Random, words: list[str]) -> tuple[str, list[str]]:
    """The title of a page and the blocks of lines that its trees are made of."""
    bid = 20
    blocks = []
    for _ in range(BLOCKS):
        lines = []
        for depth in range(1, draw.randint(4, 10)):
            name = " ".join(draw.choices(words, k=draw.randint(1, 5)))
            indent = "\t" * min(depth, 6)
            quoted = f'"{name}\'s"' if draw.random() < 0.1 else f"'{name}'"
            role = draw.choice(("link", "button", "cell", "textbox", "row", "heading"))
            lines.append(f"{indent}[{draw.choice(('', 'a'))}{bid}] {role} {quoted}, clickable, visible")
            if draw.random() < 0.5:
                lines.append(f"{indent}\tStaticText '{name}'")
            bid += 1
        blocks.append("\n".join(lines))
    return " ".join(draw.choices(words, k=4)).capitalize(), blocks


def state(
    draw: random.Random,
    words: list[str],
    trajectory_id: str,
    index: int,
    pages: list[tuple[str, list[str]]],
) -> dict[str, Any]:
    """One state: a page with lines of its own on top, filled up with the page's blocks to a drawn length."""
    title, blocks = draw.choice(pages)
    length = round(draw.triangular(*TREE_CHARACTERS))
    parts = [f"RootWebArea '{title}', focused", f"\t[7] heading '{' '.join(draw.choices(words, k=30))}'"]
    size, block = 0, draw.randrange(BLOCKS)
    while size < length:
        parts.append(blocks[block % BLOCKS])
        size += len(parts[-1]) + 1
        block += 1
    return {
        "state_index": index,
        "step": index,
        "url": f"http://app.example/{draw.choice(words)}/{draw.randrange(10**6)}",
        "action": f"click('{draw.randrange(20, 900)}')" if index else None,
        "thought": " ".join(draw.choices(words, k=60)) if index else None,
        "accessibility_tree": "\n".join(parts),
        "screenshot": f"screenshots/{trajectory_id}/{index}.png",
    }


def make_questions(draw: random.Random, words: list[str], folder: Path) -> Iterator[dict[str, Any]]:
    """Rows of questions.jsonl; questions on gotchas get an image."""
    (folder / "question_screenshots").mkdir(exist_ok=True)
    for kind, counts in QUESTIONS.items():
        for domain, count in zip(DOMAINS, counts, strict=True):
            for _ in range(count):
                question_id = f"{draw.getrandbits(32):08x}"
                image = f"question_screenshots/{question_id}.png" if kind == "errors-gotchas" else None
                if image:
                    Image.new("L", (8, 8), draw.randrange(256)).save(folder / image)
                yield {
                    "id": question_id,
                    "domain": domain,
                    "environment": draw.choice(DOMAINS[domain]),
                    "question_type": kind,
                    "question": " ".join(draw.choices(words, k=40)) + "?",
                    "image": image,
                    "answer": draw.choice("ABCD") if kind == "procedure" else draw.choice(words),
                    "eval_function": EVALUATORS["abs" if kind.endswith("-abs") else kind]
                    if kind.endswith("-abs") or kind in EVALUATORS
                    else EVALUATORS[""],
                }


def coverage(
    draw: random.Random, questions: list[dict[str, Any]], members: dict[str, dict[str, int]]
) -> list[dict[str, Any]]:
    """Evidence labels: one to three hops a question, most of them in few trajectories; or an anchor."""
    rows: list[dict[str, Any]] = []
    answered: dict[str, list[str]] = {domain: [] for domain in DOMAINS}
    # Some trajectories show much of an environment and some little.
    weights = {domain: [draw.paretovariate(1.2) for _ in pool] for domain, pool in members.items()}
    for question in questions:
        domain = question["domain"]
        anchor = None
        hops = []
        if question["question_type"].endswith("-abs") and draw.random() < 0.5:
            anchor = draw.choice(answered[domain])
        else:
            answered[domain].append(question["id"])
            for number in range(draw.choice((1, 1, 1, 2, 2, 3))):
                count = min(40, round(draw.paretovariate(0.8)))
                found = sorted(set(draw.choices(list(members[domain]), weights[domain], k=count)))
                entries = [
                    {
                        "trajectory_id": trajectory,
                        "state_indexes": [draw.randrange(members[domain][trajectory])],
                    }
                    for trajectory in found
                ]
                hops.append({"hop": f"hop {number}", "trajectories": entries})
        rows.append({"question_id": question["id"], "hops": hops, "anchor_question_id": anchor})
    return rows


if __name__ == "__main__":
    main()

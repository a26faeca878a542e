"""Describes a recorded dataset by its counts, as a Markdown document."""

import json
from collections import Counter
from pathlib import Path


def datacard(dataset: Path) -> str:
    """The counts of a dataset that `build_dataset` has written."""
    trajectories = _jsonl(dataset / "trajectories.jsonl")
    questions = _jsonl(dataset / "questions.jsonl")
    coverage = _jsonl(dataset / "coverage.jsonl")
    families = json.loads((dataset / "families.json").read_text(encoding="utf-8"))
    lengths = [len(row["states"]) for row in trajectories]
    size = sum(path.stat().st_size for path in dataset.rglob("*") if path.is_file())
    lines = [
        "# Recorded runs",
        "",
        "Scripted policies on live web applications, recorded with BrowserGym in Chromium. Thoughts are",
        "written by hand and mistakes are planned; pages and trees are real. Actions and thoughts belong to",
        "the state that they led to. Later runs on an application see what earlier ones have changed.",
        "",
        f"- {len(trajectories)} trajectories, {sum(lengths)} states ({min(lengths)} to {max(lengths)}), "
        f"{len({entry['family'] for entry in families.values()})} task families, {size / 1e6:.1f} MB",
    ]
    for name in sorted({row["environment"] for row in trajectories}):
        mine = [row for row in trajectories if row["environment"] == name]
        outcomes = Counter(row["outcome"] for row in mine)
        asked = sum(row["environment"] == name for row in questions)
        lines.append(
            f"- {name} ({mine[0]['domain']}): {len(mine)} trajectories ({outcomes['success']} success, "
            f"{outcomes['failure']} failure), {asked} questions"
        )
    types = Counter(row["question_type"] for row in questions)
    lines += [
        f"- questions: {', '.join(f'{kind} {n}' for kind, n in sorted(types.items())) or 'none'}",
        f"- questions with more than one hop: {sum(len(row['hops']) > 1 for row in coverage)}",
    ]
    return "\n".join(lines) + "\n"


def _jsonl(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]

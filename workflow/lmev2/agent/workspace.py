"""What an agent finds: the haystack's folder, made once, and the question's folder around it.

- question.json: {"question": text} and, if there is one, "image": the picture's file name
- INSTRUCTION.md: what to do
- trajectories/<id>/: trajectory.json and screenshots/; with manifests also TRAJECTORY_SUMMARY_*.md
- scripts/: with the helper, inspect_trajectory.py
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lmev2 import accessibility
from lmev2.agent.inside import inspect_trajectory
from lmev2.image import Image
from lmev2.insert.files import link
from lmev2.process import is_alive, machine

HAYSTACKS = ".haystacks"  # in the store: links must stay on its file system
CONCISE, FULL = "TRAJECTORY_SUMMARY_CONCISE.md", "TRAJECTORY_SUMMARY_FULL.md"
_SAFE_NAME = re.compile(r"[\w.-]+", re.ASCII)
_LINE_ENDS = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")
_MARK = re.compile(r"\[(no )?(manifests|helper)\] ?")


class HaystackFolder:
    """The folder `trajectories/` of one haystack, assembled from links.

    Args:
        store: folder of the trajectory files.
        rows: rows of the table `files`, one a trajectory of the haystack.
        manifests: write the two summaries into it.

    Raises:
        FileNotFoundError: a trajectory's folder is gone from the store.
    """

    def __init__(self, store: str | Path, rows: Sequence[Mapping[str, Any]], *, manifests: bool) -> None:
        place = Path(store) / HAYSTACKS
        place.mkdir(exist_ok=True)
        _sweep(place)
        _sweep(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(dir=place, prefix=_prefix()))
        self.path.chmod(0o755)
        for row in rows:
            _link_tree(Path(store) / row["folder"], self.path / entry_name(row["trajectory_id"]))
        if manifests:
            for name, text in manifest_texts(rows).items():
                (self.path / name).write_text(text, encoding="utf-8", newline="")

    def close(self) -> None:
        """Remove it; the trajectory files stay."""
        shutil.rmtree(self.path, ignore_errors=True)


def entry_name(trajectory_id: str) -> str:
    """The trajectory's folder name in a haystack: its id.

    Raises:
        ValueError: the id cannot name a folder.
    """
    if not _SAFE_NAME.fullmatch(trajectory_id) or trajectory_id.startswith("."):
        raise ValueError(f"trajectory id {trajectory_id!r} cannot name a folder for an agent")
    return trajectory_id


def _link_tree(source: Path, target: Path) -> None:
    if not source.is_dir():
        raise FileNotFoundError(
            f"{source}: the trajectory's files are gone; remove results/insert/files.parquet and run again"
        )
    (target / "screenshots").mkdir(parents=True)
    link(source / "trajectory.json", target / "trajectory.json")
    with os.scandir(source / "screenshots") as files:
        for file in files:
            link(Path(file.path), target / "screenshots" / file.name)


def _prefix() -> str:
    return f"lmev2+{machine()}+{os.getpid()}+"


def _sweep(place: Path) -> None:
    """Remove folders that a killed process of this machine has left."""
    mine = _prefix().rsplit("+", 2)[0] + "+"
    for path in place.glob("lmev2+*"):
        process = path.name.removeprefix(mine).partition("+")[0]
        if path.name.startswith(mine) and process.isdecimal() and not is_alive(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def manifest_texts(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The two summaries of a haystack by file name, sorted by start url, goal and id."""
    ordered = sorted(rows, key=lambda row: (row["start_url"], row["goal"], row["trajectory_id"]))
    concise = [
        "# Trajectories of this memory",
        "",
        "| id | goal | outcome | states | start url |",
        "|---|---|---|---|---|",
    ]
    full = ["# Trajectories of this memory, with their actions"]
    for row in ordered:
        outcome = row["outcome"] or "unknown"
        cells = (row["trajectory_id"], row["goal"], outcome, row["n_states"], row["start_url"])
        concise.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
        full += [
            "",
            f"## {row['trajectory_id']}",
            f"- Goal: {_line(row['goal'])}",
            f"- Outcome: {outcome}",
            f"- States: {row['n_states']} (0 to {row['n_states'] - 1})",
            f"- Start url: {row['start_url']}",
            "- Actions (number: the state that the action led to):",
            *(f"  {number}. {_line(action)}" for number, action in enumerate(row["actions"]) if action),
        ]
    return {CONCISE: "\n".join(concise) + "\n", FULL: "\n".join(full) + "\n"}


def _line(text: Any) -> str:
    return _LINE_ENDS.sub(" ", str(text)).strip()


def _cell(text: Any) -> str:
    return _line(text).replace("|", "\\|")


def instruction(template: str, *, manifests: bool, helper: bool) -> str:
    """A template's text for what the folder holds.

    A line that begins with `[manifests]`, `[no manifests]`, `[helper]` or `[no helper]` (several may follow
    each other) is kept only where that is so.
    """
    holds = {"manifests": manifests, "helper": helper}
    lines = []
    for line in template.strip().split("\n"):
        keep = True
        while match := _MARK.match(line):
            keep &= holds[match[2]] != bool(match[1])
            line = line[match.end() :]
        if keep:
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


@contextmanager
def workspace(
    haystack: HaystackFolder, text: str, image: Image | None, instructions: str, *, helper: bool
) -> Iterator[Path]:
    """A new folder for one attempt, removed afterwards; it lies outside the project.

    Nothing of the question but its text and picture goes in (privacy rule, docs/benchmark.md).
    """
    with tempfile.TemporaryDirectory(prefix=_prefix(), ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        question = {"question": text}
        if image:
            question["image"] = f"question_image{image.path.suffix.lower()}"
            shutil.copyfile(image.path, folder / question["image"])
        (folder / "question.json").write_text(json.dumps(question, ensure_ascii=False), encoding="utf-8")
        (folder / "INSTRUCTION.md").write_text(instructions, encoding="utf-8")
        (folder / "trajectories").symlink_to(haystack.path.resolve(), target_is_directory=True)
        if helper:
            (folder / "scripts").mkdir()
            for module in (inspect_trajectory, accessibility):
                shutil.copyfile(module.__file__, folder / "scripts" / Path(module.__file__).name)
        yield folder

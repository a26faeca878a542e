"""Copies of the project in which tests run Snakemake, and what they look at afterwards."""

import ast
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from lmev2.records import TIMING_COLUMNS

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PARTS = ("Snakefile", "workflow", "config", "envs", "profiles", "pyproject.toml")
JOURNAL = "elsewhere-journal"  # tests/config/tiny.yaml

# Of the mini dataset: questions of several types and evaluators, and how many trajectories a domain.
QUESTIONS = (
    *("6e263257", "75267bfc", "a59806c9", "dbe3df0b"),  # gotchas, with images
    *("19e4461a", "d971cc6d", "d4228001", "e79d7804"),  # abstention
    *("3af4b576", "26c9e599", "24190790", "838a068e"),
)
TRAJECTORIES_PER_DOMAIN = 6


def copy_project(folder: Path) -> Path:
    """Copy the project without data and results to `folder`, and the test configs with it.

    tests/config/tiny.yaml is the copy's config/config.yaml.
    """
    folder.mkdir(parents=True)
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=ignore)
        else:
            shutil.copy2(ROOT / part, folder / part)
    shutil.copytree(TESTS / "config", folder / "tests" / "config")
    shutil.copy2(TESTS / "config" / "tiny.yaml", folder / "config" / "config.yaml")
    return folder


def clone(folder: Path, target: Path) -> Path:
    """A copy of a folder with a finished run, times of files included."""
    return Path(shutil.copytree(folder, target, symlinks=True))


def write_data(folder: Path) -> Path:
    """Write a part of the mini dataset as a dataset of its own."""
    mini = ROOT / "resources" / "mini"
    questions = [row for row in _rows(mini / "questions.jsonl") if row["id"] in QUESTIONS]
    assert len(questions) == len(QUESTIONS)
    members: dict[str, list[dict]] = {"web": [], "enterprise": []}
    for row in sorted(_rows(mini / "trajectories.jsonl"), key=lambda row: (len(row["states"]), row["id"])):
        if len(members[row["domain"]]) < TRAJECTORIES_PER_DOMAIN:
            members[row["domain"]].append(row)
    for row in questions:
        if row["image"]:
            _copy(mini, row["image"], folder)
    for state in (state for rows in members.values() for row in rows for state in row["states"]):
        if state["screenshot"]:
            _copy(mini, state["screenshot"], folder)
    _write_rows(folder / "questions.jsonl", questions)
    _write_rows(folder / "trajectories.jsonl", [row for rows in members.values() for row in rows])
    ids = {domain: [row["id"] for row in rows] for domain, rows in members.items()}
    haystacks = folder / "haystacks" / "lme_v2_small.json"
    haystacks.parent.mkdir()
    haystacks.write_text(json.dumps({row["id"]: ids[row["domain"]] for row in questions}))
    return folder


def add_trajectory(folder: Path) -> str:
    """Append one more trajectory of the mini dataset, in no haystack; return its id."""
    mini = ROOT / "resources" / "mini"
    present = {row["id"] for row in _rows(folder / "trajectories.jsonl")}
    row = next(row for row in _rows(mini / "trajectories.jsonl") if row["id"] not in present)
    for state in row["states"]:
        if state["screenshot"]:
            _copy(mini, state["screenshot"], folder)
    with (folder / "trajectories.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    return row["id"]


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def _write_rows(path: Path, rows: Iterable[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _copy(source: Path, name: str, target: Path) -> None:
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / name, target / name)


# -- running -----------------------------------------------------------------------------------------


def command(*arguments: str, configs: Iterable[str] = (), cores: int = 2) -> list[str]:
    """The Snakemake command line; `configs` are files of tests/config on top of config/config.yaml."""
    files = [f"tests/config/{name}" for name in configs]
    return [
        *(sys.executable, "-m", "snakemake", "--cores", str(cores)),
        *arguments,
        *(("--configfile", *files) if files else ()),
    ]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment in which the copy's own package is used, calls are counted and scripts are kept."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder / "workflow"), str(TESTS / "hooks")]),
        "DOOR_LOG": str(folder / "door.log"),
        "KEEP_SCRIPTS": str(folder / "kept_scripts"),
        **more,
    }


def snakemake(
    folder: Path, *arguments: str, check: bool = True, **how: object
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in a copy and wait for it."""
    done = subprocess.run(
        command(*arguments, **how),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0 or not check, done.stdout[-6000:]
    return done


_JOB = re.compile(r"^(?:local)?(?:rule|checkpoint) (\w+):\n((?:    .*\n)+)", re.MULTILINE)


def planned(folder: Path, *arguments: str, **how: object) -> set[str]:
    """The jobs that a dry run names: `rule`, or `rule:method` and `rule:pool` where there are several."""
    text = snakemake(folder, "--dry-run", *arguments, **how).stdout
    jobs = set()
    for rule, body in _JOB.findall(text):
        wildcard = re.search(r"wildcards:.*?\b(?:method|pool)=([\w@]+)", body)
        jobs.add(f"{rule}:{wildcard[1]}" if wildcard else rule)
    assert jobs or "Nothing to be done" in text, text
    return jobs - {"all"}


def snakemake_object(kept: Path):
    """The object in the preamble of a script as Snakemake ran it."""
    for node in ast.walk(ast.parse(kept.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pickle.loads":
            return pickle.loads(ast.literal_eval(node.args[0]))
    raise AssertionError(f"{kept} has no pickled object")


# -- looking at what was done ------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """One line of the door's log."""

    event: str
    rule: str
    process: int
    key: str


def calls(folder: Path) -> list[Call]:
    """What happened at the model door, in order."""
    log = folder / "door.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [
        Call(event, rule, int(process), key) for event, rule, process, key in (line.split() for line in lines)
    ]


def asked(folder: Path) -> Counter[str]:
    """How often each input went through the model door."""
    return Counter(call.key for call in calls(folder) if call.event == "begin")


def stage_files(folder: Path) -> dict[str, bytes]:
    """All files under results/ but logs and what a killed process left half-written, by path."""
    results = folder / "results"
    return {
        path.relative_to(results).as_posix(): path.read_bytes()
        for path in sorted(results.rglob("*"))
        if path.is_file() and path.relative_to(results).parts[0] != "logs" and not path.name.startswith(".")
    }


def untimed_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """All Parquet and CSV files of results/ without the columns that hold measured times."""
    tables = {}
    for path in sorted((folder / "results").rglob("*")):
        if path.suffix in (".parquet", ".csv"):
            table = pq.read_table(path).to_pandas() if path.suffix == ".parquet" else pd.read_csv(path)
            timed = [name for name in table if name.endswith(tuple(TIMING_COLUMNS))]
            tables[path.relative_to(folder).as_posix()] = table.drop(columns=timed)
    return tables


def assert_same_results(one: Path, other: Path, *, whole: bool = True) -> None:
    """Two runs agree in every column that is not a measured time, and in all meta files.

    Args:
        one: a finished run.
        other: a run that made the same, or with `whole=False` a part of it.
    """
    first, second = untimed_tables(one), untimed_tables(other)
    assert first.keys() == second.keys() if whole else first.keys() >= second.keys() > set()
    for name, table in second.items():
        pd.testing.assert_frame_equal(first[name], table, check_exact=True, obj=name)
    ones = stage_files(one)
    for name, data in stage_files(other).items():
        if name.endswith(".json"):
            # The inputs' digests are of files that hold measured times.
            mine, theirs = ({**json.loads(text), "inputs": None} for text in (ones[name], data))
            assert mine == theirs, name

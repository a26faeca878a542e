"""Trajectory files, haystacks and agents for the tests of coding agents."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from memory_data import make_trajectories
from PIL import Image as Picture

from lmev2.agent.interface import AgentSpec, Task
from lmev2.agent.spec import PROVIDERS
from lmev2.agent.workspace import HaystackFolder, workspace
from lmev2.insert.files import TrajectoryFiles, write_trajectory_files
from lmev2.store import write_table

TREES = {
    "t1": [
        "RootWebArea 'Start'\n\t[1] link 'Orders'",
        "RootWebArea 'Orders'\n\t[1] button 'Export'\n\t[2] link 'Depots'",
        "RootWebArea 'Depots'\n\t[1] textbox 'Gate code', required",
    ],
    "t2": ["RootWebArea 'Forum'\n\t[1] link 'Threads'", "RootWebArea 'Threads'\n\t[7] link 'Newest'"],
    "secret": ["RootWebArea 'Not of this haystack'"],
}
HAYSTACK = ("t1", "t2")
PROJECT = Path(__file__).parents[2]
CODEX = os.environ.get("LMEV2_CODEX", str(PROJECT / "build/agents/node_modules/.bin/codex"))

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
needs_codex = pytest.mark.skipif(
    shutil.which(CODEX) is None or shutil.which("bwrap") is None,
    reason="Codex or bubblewrap is not installed: tests/setup_agents.sh",
)
needs_sdk = pytest.mark.skipif(find_spec("agents") is None, reason="openai-agents is not installed")
GOOD = '{"memory_markdown": "found it", "trajectory_spans": []}'
WRITE_GOOD = f"echo '{GOOD}' > memory_module_output.json"


def make_files(folder: Path):
    """Ingested trajectories with screenshots, and their files."""
    trajectories = make_trajectories(folder, TREES)
    for id_, states in TREES.items():
        (folder / id_).mkdir()
        for index in range(len(states)):
            Picture.new("RGB", (64, 32), (index, 0, 0)).save(folder / id_ / f"{index}.png")
    table = folder / "insert" / "files.parquet"
    rows = write_trajectory_files(trajectories, table.parent / "files", lambda: None)
    write_table("files", rows, table)
    return trajectories, TrajectoryFiles(table)


def make_workspace(folder: Path, *, manifests=True, helper=True, text="What is the gate code?"):
    """A context manager: the folder of one attempt over HAYSTACK."""
    _, files = make_files(folder)
    haystack = HaystackFolder(files.store, files.rows(HAYSTACK), manifests=manifests)
    return workspace(haystack, text, None, "Find it.\n", helper=helper)


def spec(provider, isolation="bubblewrap", **more):
    defaults = {"codex": {"version": PROVIDERS["codex"][2], "command": (CODEX,)}}
    values = {"model": "gpt-5.4-mini", "version": "", **defaults.get(provider, {}), **more}
    return AgentSpec(provider=provider, isolation=isolation, **values)


def task(timeout_s=30.0, effort="xhigh", turns=10):
    return Task(prompt="Read INSTRUCTION.md.", effort=effort, timeout_s=timeout_s, turns=turns)

"""The workflow on a Slurm cluster through profiles/slurm: the same tables, whatever dies, and paid once.

Needs a cluster that answers and the plugin, and is run on demand only (docs/cluster.md, for developers).
"""

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter

import pytest
import yaml
from project import (
    JOURNAL,
    ROOT,
    TESTS,
    asked,
    assert_same_results,
    calls,
    clone,
    environment,
    stage_files,
)

from lmev2.journal import Journal

ARM = "rag_query_to_slice_notes"
LIMIT_S = 1800


def cluster_answers():
    if not (shutil.which("sinfo") and importlib.util.find_spec("snakemake_executor_plugin_slurm")):
        return False
    asked = subprocess.run(["sinfo", "--noheader"], capture_output=True, timeout=30, check=False)
    return asked.returncode == 0 and bool(asked.stdout.strip())


pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(
        os.environ.get("LMEV2_TEST_SLURM") != "1" or not cluster_answers(),
        reason="submits Slurm jobs: LMEV2_TEST_SLURM=1 and a cluster (tests/setup_slurm.sh)",
    ),
]


# -- running and looking -----------------------------------------------------------------------------


def write_config(folder, **config):
    """More config for a copy; returns the arguments that add it."""
    (folder / "more.yaml").write_text(yaml.safe_dump(config))
    return ["--configfile", "more.yaml"]


def start(folder, *arguments, **variables):
    """Start the workflow through the profile; jobs get the tests' hooks with the environment."""
    words = [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm"]
    words += ["--slurm-init-seconds-before-status-checks", "5", "--latency-wait", "20"]
    log = (folder / "run.log").open("a")
    return subprocess.Popen(
        [*words, *arguments],
        cwd=folder,
        env=environment(folder, **variables),
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def printed(folder):
    return (folder / "run.log").read_text()


def finish(process, folder):
    try:
        assert process.wait(timeout=LIMIT_S) == 0, printed(folder)[-6000:]
    finally:
        if process.poll() is None:
            process.terminate()  # it cancels its jobs
            process.wait(timeout=60)


def run(folder, *arguments, **variables):
    finish(start(folder, *arguments, **variables), folder)


def slurm(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def submitted(folder, rule):
    """Slurm ids of a rule's jobs, in order."""
    return re.findall(rf"with SLURM jobid (\d+) \(log: \S*/rule_{rule}/", printed(folder))


def states(ids):
    """How Slurm jobs ended."""
    lines = slurm("squeue", "--states=all", "--noheader", "--format=%i %T").splitlines()
    known = dict(line.split() for line in lines)
    return [known[id_] for id_ in ids]


def begun(folder, rule):
    return sum(call.event == "begin" and call.rule == rule for call in calls(folder))


def until(happened, process, folder):
    deadline = time.monotonic() + LIMIT_S
    while not happened():
        assert process.poll() is None, printed(folder)[-4000:]
        assert time.monotonic() < deadline
        time.sleep(0.1)


def assert_recorded_once(journal):
    """No part of a journal repeats a record of another, so nothing was made, and paid, twice."""
    for folder in (path for path in journal.iterdir() if path.is_dir()):
        keys = []
        for part in sorted([*folder.glob("*.jsonl"), *folder.glob("*.parquet")]):
            alone = folder.with_name("alone")
            alone.mkdir()
            os.link(part, alone / part.name)
            reader = Journal(alone, replay=True)
            assert reader.damaged == []
            keys += list(reader)
            shutil.rmtree(alone)
        assert [key for key, count in Counter(keys).items() if count > 1] == [], folder.name
        assert list(folder.glob("*.lease")) == []


# -- tests -------------------------------------------------------------------------------------------


def test_a_replay_makes_every_file_of_the_local_run_byte_for_byte(finished, unrun, tmp_path):
    """In shards as well; the journal is the local run's, so that measured times are the same, too."""
    folder = clone(unrun, tmp_path / "run")
    shutil.copytree(finished / JOURNAL, folder / JOURNAL)
    more = write_config(folder, methods={ARM: {"shards": 3}}, journal={"path": JOURNAL, "replay": True})
    run(folder, *more)
    made, expected = stage_files(folder), stage_files(finished)
    assert {name for name in made if not re.search(r"/\d+-of-3\.", name)} == expected.keys()
    assert [name for name in expected if made[name] != expected[name]] == []
    assert asked(folder) == {}
    assert len(submitted(folder, "query_memory_shard")) == 3


def test_jobs_that_die_go_on_from_the_journal_with_more(finished, unrun, tmp_path):
    """Out of memory, cancelled, out of time: the run comes to its end by itself, all the same."""
    folder = clone(unrun, tmp_path / "run")
    # Memory: the first attempt gets less than Python needs.
    resources = ["--set-resources", "write_notes:mem_mb=60 if attempt == 1 else 4000"]
    run(folder, "results/insert/notes.parquet", *resources)
    first, second = submitted(folder, "write_notes")
    assert states([first, second])[1] == "COMPLETED"
    assert states([first])[0] in ("FAILED", "OUT_OF_MEMORY", "CANCELLED")
    logs = folder / ".snakemake" / "slurm_logs" / "rule_write_notes"
    assert any("memory limit" in path.read_text() for path in logs.rglob(f"{first}.log"))

    # Cancelled in the middle of its questions; the next attempt gets twice as much.
    target = f"results/query/{ARM}/small.parquet"
    process = start(folder, target, DOOR_DELAY_S="0.5")
    until(lambda: begun(folder, "query_memory") >= 4, process, folder)
    (cancelled,) = submitted(folder, "query_memory")
    before = asked(folder)
    slurm("scancel", cancelled)
    finish(process, folder)
    assert states(submitted(folder, "query_memory")) == ["CANCELLED", "COMPLETED"]
    asked_for = r"mem_mb=(\d+),[^\n]*\nJob \d+ has been submitted [^\n]*/rule_query_memory/"
    assert re.findall(asked_for, printed(folder)) == ["4000", "8000"]
    repeated = [key for key, count in asked(folder).items() if count > 1]
    assert len(repeated) <= 1  # the call in flight; questions go one by one
    assert sum(before.values()) >= 4

    # Time: a minute is not enough for twelve questions of 8 s, two attempts are.
    target = f"results/read/{ARM}/small.parquet"
    limits = {"reader": {"limits": {"concurrency": 1}}}
    more = write_config(folder, models=limits)
    time_ = ["--set-resources", "read_answers:runtime=attempt"]
    run(folder, target, *time_, *more, DOOR_DELAY_S="8")
    ended = states(submitted(folder, "read_answers"))
    assert ended[0] == "TIMEOUT" and ended[-1] == "COMPLETED"
    repeated = [key for key, count in asked(folder).items() if count > 1]
    assert len(repeated) <= 1 + 1 + 1

    run(folder)
    assert_same_results(finished, folder)
    assert asked(folder).keys() == asked(finished).keys()
    assert_recorded_once(folder / JOURNAL)


def test_two_pipelines_share_a_journal_and_the_trajectory_files(finished, unrun, tmp_path):
    """From two working directories at once, with a coding agent, which reads the files."""
    journal, files = tmp_path / "journal", tmp_path / "files"
    files.mkdir()
    agent = {"class": "lmev2.memory.coding_agent:Codex", "label": "Codex", "family": "agents"}
    folders = [clone(unrun, tmp_path / name) for name in ("one", "two")]
    processes = []
    for folder, shards in zip(folders, (1, 3), strict=True):
        (folder / "results" / "insert").mkdir(parents=True)
        (folder / "results" / "insert" / "files").symlink_to(files)
        methods = {"codex": {**agent, "shards": shards}, ARM: {"shards": shards}}
        more = write_config(folder, methods=methods, journal={"path": str(journal)})
        log = str(tmp_path / "door.log")
        processes.append(start(folder, *more, DOOR_DELAY_S="0.02", DOOR_LOG=log))
    for process, folder in zip(processes, folders, strict=True):
        finish(process, folder)
    assert set(asked(tmp_path).values()) == {1}
    assert asked(tmp_path).keys() >= asked(finished).keys()
    assert len({call.process for call in calls(tmp_path) if call.rule == "embed_pool"}) > 1
    assert_recorded_once(journal)
    one, two = map(stage_files, folders)
    whole = {name for name in one if not re.search(r"/\d+-of-\d+\.", name)}
    assert [name for name in whole if one[name] != two[name]] == []
    assert not [path for path in files.iterdir() if path.name.startswith(".") and path.name != ".haystacks"]
    # No trajectory was written twice, and none is half there.
    names = [json.loads(path.read_text())["id"] for path in files.glob("*/trajectory.json")]
    assert len(names) == len(set(names)) == len(list(files.glob("[0-9a-f]*")))


def test_a_server_that_is_a_job_is_waited_for_and_found(finished, unrun, tmp_path):
    folder = clone(unrun, tmp_path / "run")
    address = folder / "server.address"
    model = {"provider": "openai", "base_url": "file:server.address", "api_key_env": None}
    more = write_config(folder, models={"reader": model})
    process = start(folder, f"results/read/{ARM}/small.parquet", *more)
    until(lambda: "waiting for a server" in printed_by_jobs(folder), process, folder)
    assert not address.exists()
    server = slurm(
        *("sbatch", "--parsable", "--time=30", "--mem=2000", "--chdir", str(folder)),
        *(f"--export=ALL,PYTHONPATH={folder / 'workflow'}:{TESTS}", "--output=server.log"),
        *(str(ROOT / "docs/examples/serve.sbatch"), str(address), sys.executable, "-m", "server"),
    ).strip()
    try:
        finish(process, folder)
        assert socket.gethostname() in address.read_text()
    finally:
        slurm("scancel", server)
    assert len(Journal(folder / JOURNAL / "reader", replay=True)) > 0
    deadline = time.monotonic() + 60
    while address.exists():
        assert time.monotonic() < deadline, "the server's job left its address"
        time.sleep(0.5)


def printed_by_jobs(folder):
    logs = (folder / ".snakemake" / "slurm_logs").rglob("*.log")
    return "".join(path.read_text(errors="replace") for path in logs)

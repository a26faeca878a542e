"""kill -9 of everything at ten moments, then the same command; and a replay from what the journal kept."""

import contextlib
import os
import random
import shutil
import subprocess
import time
from collections import Counter, defaultdict

import psutil
import pytest
from project import (
    JOURNAL,
    asked,
    assert_same_results,
    calls,
    clone,
    command,
    environment,
    snakemake,
    stage_files,
)

# stage -> (its rules, number of kills)
STAGES = {
    "insert": (("write_notes", "embed_pool"), 3),
    "query": (("query_memory",), 2),
    "read": (("read_answers",), 3),
    "judge": (("judge_answers",), 2),
}
SEED = 20261130
TARGET = "all_scores"  # all that asks a model
DELAY_S = 0.03  # per call: a kill lands inside a stage, often inside a call
LIMIT_S = 180  # for one attempt, on a busy machine


def begun(folder, rules):
    """How many distinct inputs have gone through the model door in `rules`."""
    return len({call.key for call in calls(folder) if call.event == "begin" and call.rule in rules})


def moments(finished, rng):
    """(stage, number of inputs begun in it) of each kill, in the order of the stages."""
    found = []
    for stage, (rules, kills) in STAGES.items():
        total = begun(finished, rules)
        assert total > kills, f"the small run has too few calls in {stage}"
        found += [(stage, count) for count in sorted(rng.sample(range(1, total), kills))]
    return found


def processes_of(mark):
    """Living processes whose environment holds `mark`."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("KILL_TEST") == mark:
                found.append(process)
    return found


def kill_all(snakemake_process, mark):
    """kill -9 of Snakemake's process group and of whatever it started in other groups."""
    os.killpg(snakemake_process.pid, 9)
    snakemake_process.wait()
    deadline = time.monotonic() + 10
    while rest := processes_of(mark):
        assert time.monotonic() < deadline, f"still alive: {rest}"
        for process in rest:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def start(folder, mark):
    log = (folder / "run.log").open("ab")
    return subprocess.Popen(
        command(TARGET),
        cwd=folder,
        env=environment(folder, DOOR_DELAY_S=str(DELAY_S), KILL_TEST=mark),
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def in_flight(happened):
    """Inputs of the last batch that each process began: the only ones that it may not have recorded."""
    batches = defaultdict(list)
    for call in happened:
        if call.event == "begin":
            # A batch is written at once: its lines follow each other without an end in between.
            if batches[call.process] and batches[call.process][-1] == "ended":
                batches[call.process] = []
            batches[call.process].append(call.key)
        elif batches[call.process][-1] != "ended":
            batches[call.process].append("ended")
    return {key for batch in batches.values() for key in batch if key != "ended"}


def run_and_kill(folder, finished):
    """Kill a run ten times and complete it; returns how often each input was in flight at a kill."""
    mark = str(folder)
    rng = random.Random(SEED)
    lost = Counter()
    for stage, count in moments(finished, rng):
        before = len(calls(folder))
        process = start(folder, mark)
        deadline = time.monotonic() + LIMIT_S
        while begun(folder, STAGES[stage][0]) < count:
            assert process.poll() is None, (folder / "run.log").read_text()[-4000:]
            assert time.monotonic() < deadline, f"{stage} never began {count} calls"
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 2 * DELAY_S))
        assert process.poll() is None, "the run ended before it was killed"
        kill_all(process, mark)
        lost.update(in_flight(calls(folder)[before:]))
    last = start(folder, mark)
    assert last.wait(timeout=2 * LIMIT_S) == 0, (folder / "run.log").read_text()[-4000:]
    return lost


@pytest.mark.slow
def test_a_run_killed_ten_times_repeats_only_what_was_in_flight_and_ends_with_the_same_results(
    finished, unrun, tmp_path
):
    folder = clone(unrun, tmp_path / "run")
    lost = run_and_kill(folder, finished)
    assert asked(folder).keys() == asked(finished).keys()
    for key, count in asked(folder).items():
        assert count <= 1 + lost[key], "an item was asked again that had been answered before the kill"
    assert list((folder / JOURNAL).glob("*/*.lease")) == []
    assert_same_results(finished, folder, whole=False)

    # A replay from what the journal kept gives the same bytes and asks nothing.
    before, asked_before = stage_files(folder), asked(folder)
    shutil.rmtree(folder / "results")
    shutil.rmtree(folder / ".snakemake")
    snakemake(folder, TARGET, configs=["replay.yaml"])
    after = stage_files(folder)
    assert after.keys() == before.keys()
    assert [name for name in before if before[name] != after[name]] == []
    assert asked(folder) == asked_before


def test_an_undisturbed_run_asks_each_thing_once(finished):
    assert set(asked(finished).values()) == {1}

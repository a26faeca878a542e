"""The sandbox, and a hostile agent in it; everything that fails inside must succeed without walls."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from agent_data import make_workspace, needs_bubblewrap, spec, task

from lmev2.agent.command import Command
from lmev2.agent.interface import AgentSetupError
from lmev2.agent.sandbox import Program, Sandbox

BOTH = [pytest.param("bubblewrap", marks=needs_bubblewrap), "none"]


def run(workspace, words, isolation="none", timeout_s=20.0, **options):
    sandbox = Sandbox(isolation, **options)
    return asyncio.run(sandbox.run(workspace, Program(words), timeout_s=timeout_s))


@pytest.mark.parametrize("isolation", BOTH)
def test_output_streams_and_exit_code_come_back(tmp_path, isolation):
    script = "echo out; echo err >&2; echo '{}' > memory_module_output.json; exit 3"
    attempt = run(tmp_path, ["/bin/sh", "-c", script], isolation)
    assert (attempt.exit_code, attempt.stdout, attempt.stderr) == (3, "out\n", "err\n")
    assert (attempt.output, attempt.fault) == (b"{}\n", "")


@pytest.mark.parametrize("isolation", BOTH)
def test_each_line_has_the_time_when_it_came(tmp_path, isolation):
    attempt = run(tmp_path, ["/bin/sh", "-c", "echo a; sleep 0.3; echo b"], isolation)
    first, second, *_ = attempt.line_seconds
    assert 0 < first < second <= attempt.seconds + 0.1
    assert second - first > 0.2


@pytest.mark.parametrize("isolation", BOTH)
def test_stdin_is_closed(tmp_path, isolation):
    attempt = run(tmp_path, ["/bin/cat"], isolation)
    assert attempt.exit_code == 0
    assert attempt.seconds < 10


def alive(marker):
    return subprocess.run(["pgrep", "-f", marker], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("isolation", BOTH)
def test_at_the_time_limit_the_whole_group_is_gone(tmp_path, isolation):
    marker = f"sleep 600.{os.getpid()}"
    attempt = run(tmp_path, ["/bin/sh", "-c", f"{marker} & {marker}"], isolation, timeout_s=0.7)
    assert attempt.exit_code is None
    assert attempt.fault == "out of time after 0.7 s"
    assert 0.7 <= attempt.seconds < 5
    assert not alive(marker)


@pytest.mark.parametrize("isolation", BOTH)
def test_when_the_run_is_cancelled_the_group_is_gone(tmp_path, isolation):
    marker = f"sleep 601.{os.getpid()}"

    async def cancelled():
        sandbox = Sandbox(isolation)
        work = asyncio.ensure_future(sandbox.run(tmp_path, Program(["/bin/sh", "-c", marker]), timeout_s=60))
        while not alive(marker):
            await asyncio.sleep(0.05)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    assert not alive(marker)


@pytest.mark.parametrize("isolation", BOTH)
def test_when_we_are_killed_the_agent_dies_too(tmp_path, isolation):
    marker = f"sleep 602.{os.getpid()}"
    program = textwrap.dedent(f"""
        import asyncio, pathlib
        from lmev2.agent.sandbox import Program, Sandbox
        program = Program(["/bin/sh", "-c", "{marker}; true"])
        folder = pathlib.Path({str(tmp_path)!r})
        asyncio.run(Sandbox({isolation!r}).run(folder, program, timeout_s=60))
    """)
    process = subprocess.Popen([sys.executable, "-c", program])
    deadline = time.monotonic() + 20
    while not alive(f"^{marker}") and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while alive(f"^{marker}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(f"^{marker}")


@pytest.mark.parametrize("isolation", BOTH)
@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("true", "was not written"),
        ("ln -s /etc/passwd memory_module_output.json", "plain file"),
        ("mkfifo memory_module_output.json", "not a plain file"),
        ("mkdir memory_module_output.json", "not a plain file"),
        ("head -c 2000000 /dev/zero > memory_module_output.json", "larger than"),
    ],
)
def test_only_a_plain_small_file_is_an_output(tmp_path, isolation, script, fault):
    attempt = run(tmp_path, ["/bin/sh", "-c", script], isolation)
    assert attempt.output is None
    assert fault in attempt.fault


@pytest.mark.parametrize("isolation", BOTH)
def test_endless_output_is_bounded(tmp_path, isolation):
    attempt = run(tmp_path, ["/bin/sh", "-c", "yes | head -c 20000000; yes | head -c 1000000 >&2"], isolation)
    assert attempt.exit_code == 0
    assert (len(attempt.stdout), len(attempt.stderr)) == (4_000_000, 100_000)


@pytest.mark.parametrize("isolation", BOTH)
def test_a_shell_keeps_its_files_between_commands(tmp_path, isolation):
    async def session():
        async with Sandbox(isolation).shell(tmp_path) as shell:
            limits = {"timeout_s": 5, "most_bytes": 50}
            replies = [
                await shell.run("echo a > f; cat; exit 4", **limits),
                await shell.run("cat f; yes | head -500", **limits),
                await shell.run("sleep 60", timeout_s=0.3, most_bytes=9),
                await shell.run("echo x > memory_module_output.json", **limits),
            ]
            return replies, await shell.close()

    replies, (output, fault, _) = asyncio.run(session())
    assert replies[0] == {"exit_code": 4, "output": "", "cut": 0}
    assert replies[1] == {"exit_code": 0, "output": "a\n" + "y\n" * 24, "cut": 952}
    assert replies[2]["exit_code"] is None
    assert (output, fault) == (b"x\n", "")


def test_without_bubblewrap_it_refuses_and_says_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(AgentSetupError, match=r"apt-get install bubblewrap.*isolation: none"):
        Sandbox("bubblewrap")


def test_a_bubblewrap_that_may_not_make_containers_is_named(tmp_path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(broken))
    with pytest.raises(AgentSetupError, match="No permissions to create new namespace"):
        Sandbox("bubblewrap").check()


# -- the hostile agent --------------------------------------------------------------------------------

HOSTILE = r"""
import json, os, pathlib, socket, subprocess, sys
secrets = json.loads(sys.argv[1])
done = {}

def attempt(name, act):
    try:
        done[name] = bool(act())
    except Exception as error:
        done[name] = f"{type(error).__name__}: {error}"

def reads(path):
    return lambda: secrets["answer"] in pathlib.Path(path).read_text()

def by_link():
    os.symlink(secrets["questions"], "link")
    return reads("link")()

def key():
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if secrets["key"].encode() in path.read_bytes():
                return True
        except OSError:
            pass
    return False

def write(path):
    pathlib.Path(path).write_text("was here")
    return True

def survivor():
    subprocess.Popen(["sleep", secrets["survivor"]], start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return True

def fill():
    try:
        with open("big", "wb", buffering=0) as file:
            return all([file.write(bytes(1_000_000)) == 1_000_000 for _ in range(30)])
    finally:
        os.remove("big")

def loopback():
    socket.create_connection(("127.0.0.1", secrets["port"]), 2).close()
    return True

def own(path):
    # What it may do: read its own haystack, write in its own folder.
    write("mine")
    return pathlib.Path(path).is_file()

def home():
    return secrets["answer"] in pathlib.Path(secrets["home"], ".secret").read_text()

questions = secrets["questions"]
attempt("own folder", lambda: own("trajectories/t1/trajectory.json"))
attempt("absolute path", reads(questions))
attempt("dots", reads("../" * 12 + questions.lstrip("/")))
attempt("dots after trajectories", reads("trajectories/" + "../" * 12 + questions.lstrip("/")))
attempt("link", by_link)
attempt("proc root", reads("/proc/self/root" + questions))
attempt("proc of the parent", lambda: any(
    os.path.exists(f"/proc/{pid}/root" + questions) for pid in os.listdir("/proc") if pid.isdigit()))
attempt("another trajectory", lambda: pathlib.Path(secrets["other"]).read_text())
attempt("home", home)
attempt("key", key)
attempt("write beside", lambda: write(secrets["outside"]))
attempt("write up", lambda: write("../" * 12 + secrets["outside"].lstrip("/") + "2"))
attempt("write into the haystack", lambda: write("trajectories/t1/new"))
attempt("survivor", survivor)
attempt("disk", fill)
attempt("loopback", loopback)
pathlib.Path("memory_module_output.json").write_text(
    json.dumps({"memory_markdown": json.dumps(done), "trajectory_spans": []}))
"""
KEY = "sk-hostile-test-2b1c"


def hostile_run(tmp_path, monkeypatch, isolation):
    """What the hostile agent managed, and the pid file of its survivor."""
    project = tmp_path / "project"
    (project / "results").mkdir(parents=True)
    questions = project / "results/questions.parquet"
    questions.write_text("the gold answer is 42")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".secret").write_text("the gold answer is 42")
    # The agent's program lies somewhere else than the project: it alone is shown.
    program = tmp_path / "agent.py"
    program.write_text(HOSTILE)
    monkeypatch.setenv("AGENT_KEY", KEY)
    files = tmp_path / "data"
    files.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, make_workspace(files) as workspace:
        other = next(
            path
            for path in (files / "insert/files").glob("*/trajectory.json")
            if '"secret"' in path.read_text()
        )
        secrets = {
            "answer": "42",
            "questions": str(questions),
            "home": str(home),
            "other": str(other),
            "key": KEY,
            "outside": str(project / "planted"),
            "survivor": f"603.{os.getpid()}",
            "port": server.getsockname()[1],
        }
        # The key is where the agent's own process would have it: in the environment of who starts it.
        holder = subprocess.Popen(["sleep", "60"])
        try:
            python = str(Path(sys.executable).resolve())
            agent = Command(
                spec("command", isolation, command=(python, str(program), json.dumps(secrets)), disk_mb=20),
                Sandbox(isolation, disk_mb=20, hidden=[project, home]),
            )
            attempt = asyncio.run(agent.run(workspace, task()))
        finally:
            holder.kill()
            holder.wait()
    assert attempt.output, attempt.stderr + attempt.fault
    done = json.loads(json.loads(attempt.output)["memory_markdown"])
    marker = f"sleep {secrets['survivor']}"
    done["survivor"] = done["survivor"] is True and alive(marker)
    subprocess.run(["pkill", "-f", marker], check=False)
    planted = sorted(path.name for path in project.glob("planted*"))
    return done, planted


@needs_bubblewrap
def test_a_hostile_agent_is_held(tmp_path, monkeypatch):
    done, planted = hostile_run(tmp_path, monkeypatch, "bubblewrap")
    assert done.pop("own folder") is True
    assert {name: result for name, result in done.items() if result is True} == {}
    assert planted == []


def test_without_walls_all_of_it_succeeds(tmp_path, monkeypatch):
    # Or the test above would prove nothing.
    done, planted = hostile_run(tmp_path, monkeypatch, "none")
    assert {name: result for name, result in done.items() if result is not True} == {}
    assert planted == ["planted", "planted2"]

"""All agents through the same scenarios, each as it really runs: Codex and the Agents SDK with a local
server that plays their model, a command that runs the same shell commands, the embedded searcher.
"""

import asyncio
import json
import os
import stat

import pytest
from agent_data import GOOD, WRITE_GOOD, make_workspace, needs_bubblewrap, needs_codex, needs_sdk, spec, task
from model_server import HANG, model_server

from lmev2.agent.codex import Codex
from lmev2.agent.events import read_stream
from lmev2.agent.interface import AgentSetupError
from lmev2.agent.sandbox import Sandbox
from lmev2.agent.spec import make_agent
from lmev2.agent.usage import attempt_usage

KEY = "sk-agents-test-77aa"
CODEX_PARAM = pytest.param("codex", marks=[needs_codex, pytest.mark.codex])
SDK_PARAM = pytest.param("openai_agents", marks=[needs_sdk, needs_bubblewrap])
COMMAND_PARAM = pytest.param("command", marks=needs_bubblewrap)
SCRIPTED = [CODEX_PARAM, SDK_PARAM, COMMAND_PARAM]
WITH_MODEL = [CODEX_PARAM, SDK_PARAM]


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", KEY)


def play(tmp_path, provider, script, *, timeout_s=30.0, effort="xhigh", status=200, turns=10):
    """One attempt of an agent whose model (or program) runs `script`, and the model's requests."""
    data = tmp_path / "data"
    data.mkdir()
    with make_workspace(data) as workspace, model_server(script, status) as server:
        more = {"base_url": server.url, "api_key_env": "AGENT_KEY"}
        if provider == "command":
            program = tmp_path / "agent.sh"
            lines = ["sleep 600" if step is HANG else step for step in script]
            program.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            more = {"command": (str(program),)}
        agent = make_agent(spec(provider, **more))
        attempt = asyncio.run(agent.run(workspace, task(timeout_s, effort, turns)))
        return attempt, server.requests


@pytest.mark.parametrize("provider", SCRIPTED)
def test_a_session_reads_calls_the_helper_and_writes(tmp_path, key, provider):
    script = [
        "cat question.json INSTRUCTION.md",
        "python3 scripts/inspect_trajectory.py t1 --match 'gate'",
        "cat trajectories/TRAJECTORY_SUMMARY_CONCISE.md",
        WRITE_GOOD,
    ]
    attempt, requests = play(tmp_path, provider, script)
    assert attempt.exit_code == 0, attempt.stderr
    assert json.loads(attempt.output) == json.loads(GOOD)
    assert attempt.unreachable == ""
    if provider == "command":
        assert "textbox 'Gate code'" in attempt.stdout
        return
    stream = read_stream(attempt.stdout)
    assert [command.command for command in stream.commands] == script
    # On a busy machine Codex may end before it tells the end of its last command.
    assert {command.exit_code for command in stream.commands[:-1]} == {0}
    assert stream.last_message == "Done."
    usage = attempt_usage(spec(provider, prices={"input": 1.0, "output": 10.0}), attempt)
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (5, 5000, 250)
    assert usage.cost == pytest.approx(0.0075)
    # The key came from outside the sandbox, and the effort arrived.
    assert {headers["authorization"] for _, headers, _ in requests} == {f"Bearer {KEY}"}
    bodies = [body for _, _, body in requests]
    efforts = {body.get("reasoning_effort") or body["reasoning"]["effort"] for body in bodies}
    assert efforts == {"xhigh"}
    assert "textbox 'Gate code'" in json.dumps(bodies[-1])


@pytest.mark.parametrize("provider", SCRIPTED)
def test_a_session_that_never_ends_is_ended(tmp_path, key, provider):
    attempt, _ = play(tmp_path, provider, ["ls", HANG], timeout_s=6.0)
    assert attempt.exit_code is None
    assert attempt.output is None
    assert attempt.fault == "out of time after 6 s"
    assert 6 <= attempt.seconds < 12


@pytest.mark.parametrize("provider", SCRIPTED)
def test_forbidden_paths_keys_and_networks_are_out_of_reach(tmp_path, key, provider):
    secret = tmp_path / "gold.txt"
    secret.write_text("gold 42")
    beside = tmp_path / "planted"
    python = "import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
    script = [
        f"cat {secret} ../..{secret} /proc/self/root{secret}",
        f"ln -s {secret} link; cat link",
        f"env; cat /proc/*/environ | tr '\\0' '\\n' | grep -a {KEY[:8]}",
        f"touch {beside} ../../..{beside}",
        f'python3 -c "{python.format(port=9)}"; cat /proc/net/tcp | wc -l',
        "ls trajectories",
        WRITE_GOOD,
    ]
    attempt, requests = play(tmp_path, provider, script)
    assert attempt.output, attempt.stderr
    told = attempt.stdout + json.dumps([body for _, _, body in requests])
    assert "gold 42" not in told
    assert KEY not in told
    assert not beside.exists()
    assert "secret" not in attempt.stdout.replace(str(secret), "")  # the trajectory of another haystack


@pytest.mark.parametrize("provider", WITH_MODEL)
@pytest.mark.parametrize("status", [401, 503])
def test_a_model_that_cannot_be_reached_is_not_the_agents_fault(tmp_path, key, provider, status):
    attempt, _ = play(tmp_path, provider, [WRITE_GOOD], status=status, timeout_s=60)
    assert attempt.output is None
    assert attempt.unreachable


@needs_sdk
@needs_bubblewrap
def test_turns_are_limited_where_the_loop_is_ours(tmp_path, key):
    attempt, requests = play(tmp_path, "openai_agents", ["ls"] * 9 + [WRITE_GOOD], turns=3)
    assert len(requests) == 3
    assert attempt.output is None
    stream = read_stream(attempt.stdout)
    assert stream.error == "3 turns were not enough"
    # What was asked until then has been paid for.
    assert (attempt.model_calls, stream.input_tokens, stream.output_tokens) == (3, 3000, 150)


@needs_sdk
@needs_bubblewrap
def test_a_conversation_that_is_out_of_time_has_cost_too(tmp_path, key):
    attempt, _ = play(tmp_path, "openai_agents", ["ls", HANG], timeout_s=4.0)
    stream = read_stream(attempt.stdout)
    assert (attempt.model_calls, stream.input_tokens, stream.output_tokens) == (1, 1000, 50)


@needs_codex
@pytest.mark.codex
def test_the_shell_commands_of_codex_cannot_even_reach_its_model(tmp_path, key):
    connect = "import socket; socket.create_connection(('127.0.0.1', 9), 2)"
    attempt, requests = play(tmp_path, "codex", [f'python3 -c "{connect}"', WRITE_GOOD])
    told = json.dumps(requests[1][2]["input"][-1])
    assert "PermissionError: [Errno 1] Operation not permitted" in told  # not a refused connection
    assert attempt.output


@needs_codex
@pytest.mark.codex
def test_another_version_of_codex_is_refused(tmp_path, key):
    with pytest.raises(AgentSetupError, match=r"0\.118\.0.*npm install -g @openai/codex@0\.118\.0"):
        Codex(spec("codex", version="0.118.0", base_url="http://x/v1"), Sandbox("bubblewrap"))


def test_a_codex_that_is_not_there_is_named(tmp_path):
    missing = spec("codex", isolation="none", command=(str(tmp_path / "codex"),), base_url="http://x/v1")
    with pytest.raises(AgentSetupError, match="npm install -g @openai/codex"):
        Codex(missing, Sandbox("none"))


@needs_sdk
def test_a_key_that_is_not_set_is_named_not_guessed(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(AgentSetupError, match="NO_SUCH_KEY is not set"):
        make_agent(spec("openai_agents", isolation="none", api_key_env="NO_SUCH_KEY"))


@pytest.mark.parametrize("isolation", [pytest.param("bubblewrap", marks=needs_bubblewrap), "none"])
@pytest.mark.parametrize(
    ("manifests", "helper"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_the_embedded_agent_uses_what_it_finds(tmp_path, isolation, manifests, helper):
    data = tmp_path / "data"
    data.mkdir()
    with make_workspace(data, manifests=manifests, helper=helper) as workspace:
        agent = make_agent(spec("embedded", isolation, model="searcher"))
        attempt = asyncio.run(agent.run(workspace, task()))
    assert attempt.exit_code == 0, attempt.stderr
    output = json.loads(attempt.output)
    # State 2 of t1 is where the gate code is.
    first = output["trajectory_spans"][0]
    assert first["trajectory_id"] == "t1"
    assert first["start_state_index"] <= 2 <= first["end_state_index"]
    assert "Gate code" in output["memory_markdown"]
    commands = " ".join(command.command for command in read_stream(attempt.stdout).commands)
    assert ("TRAJECTORY_SUMMARY" in commands) == manifests
    assert ("inspect_trajectory.py" in commands) == helper


def test_the_embedded_agent_is_deterministic_and_spends_its_effort(tmp_path):
    def run(name, effort):
        data = tmp_path / name
        data.mkdir()
        with make_workspace(
            data, text="Which link of the orders page leads to the newest depots?"
        ) as workspace:
            agent = make_agent(spec("embedded", "none", model="searcher"))
            return asyncio.run(agent.run(workspace, task(effort=effort)))

    first, second, low = run("a", "xhigh"), run("b", "xhigh"), run("c", "low")
    assert (first.stdout, first.output) == (second.stdout, second.output)
    counts = [len(read_stream(attempt.stdout).commands) for attempt in (low, first)]
    assert counts[0] <= counts[1]


def test_nothing_of_our_environment_reaches_an_agent(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_KEY", KEY)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    program = tmp_path / "agent.sh"
    program.write_text("#!/bin/sh\nenv\n")
    program.chmod(0o755)
    agent = make_agent(spec("command", "none", command=(str(program),)))
    attempt = asyncio.run(agent.run(tmp_path, task()))
    names = {line.partition("=")[0] for line in attempt.stdout.splitlines()}
    assert names <= {
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "LMEV2_PROMPT",
        "LMEV2_EFFORT",
    }
    assert KEY not in attempt.stdout
    assert os.environ["AGENT_KEY"] == KEY

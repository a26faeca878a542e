"""Coding agents as memory methods: attempts, outcomes, contexts, privacy, usage."""

import asyncio
import json

import pytest
from agent_data import (
    HAYSTACK,
    TREES,
    WRITE_GOOD,
    make_files,
    needs_bubblewrap,
    needs_codex,
    needs_sdk,
    spec,
)
from model_server import model_server

from lmev2.agent.interface import Attempt
from lmev2.agent.spec import make_agent
from lmev2.agent.usage import MeteredAgent
from lmev2.agent.workspace import HAYSTACKS
from lmev2.insert.files import TrajectoryFiles
from lmev2.journal import Journal
from lmev2.memory.coding_agent import AgentRunbookC, Codex
from lmev2.memory.oracle_agent import OracleFilesAgent
from lmev2.memory.oracle_questions import OracleQuestion
from lmev2.memory.protocol import Question
from lmev2.memory.services import Services
from lmev2.prompts import Prompts, prompt_params
from lmev2.query import Method, Runner
from lmev2.records import SCHEMAS, Status
from lmev2.rows import ItemsFailedError
from lmev2.stats.agent_commands import command_rows

QUESTIONS = {"the-id": Question("handle", "What is the gate code?", None)}
SPAN = {"trajectory_id": "t1", "start_state_index": 1, "end_state_index": 2}
EVENT = json.dumps(
    {"type": "item.completed", "item": {"type": "command_execution", "command": "ls", "exit_code": 0}}
)
USAGE = json.dumps({"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 3}})


def good(*spans, markdown="the gate code is on the depots page"):
    output = {"memory_markdown": markdown, "trajectory_spans": list(spans)}
    return Attempt(0, 2.0, f"{EVENT}\n{USAGE}", output=json.dumps(output).encode(), model_calls=2)


BROKEN = Attempt(0, 1.0, EVENT, output=b"not { json", model_calls=1)
LATE = Attempt(None, 5.0, EVENT, "half an error", fault="out of time after 5 s")


class Scripted:
    """An agent whose attempts are given; keeps what it saw of each folder."""

    spec = spec("embedded", "none", model="searcher", prices={"input": 1e6})

    def __init__(self, *attempts):
        self.attempts = list(attempts)
        self.folders, self.tasks, self.files = [], [], []

    async def run(self, workspace, task):
        self.folders.append(workspace)
        self.tasks.append(task)
        own = [path for path in workspace.iterdir() if path.is_file()]
        self.files.append({path.name: path.read_text() for path in own})
        await asyncio.sleep(0)
        return self.attempts.pop(0)


def ask(tmp_path, agent, cls=Codex, questions=QUESTIONS, haystacks=None, concurrency=3, **options):
    if not (tmp_path / "insert").exists():
        make_files(tmp_path)
    files = TrajectoryFiles(tmp_path / "insert/files.parquet")
    from lmev2.trajectory import Trajectories

    trajectories = Trajectories(tmp_path / "trajectories.parquet", tmp_path / "states.parquet", tmp_path)
    prompts = Prompts(prompt_params(("agent_", "oracle_"), {}))
    with Journal(tmp_path / "journal") as journal:
        runner = Runner(
            Method(cls, options, {"options": options}, concurrency=concurrency),
            trajectories,
            {},
            lambda repeat: Services(None, prompts, repeat=repeat, agent=MeteredAgent(agent), files=files),
            journal,
        )
        haystacks = haystacks or dict.fromkeys(questions, HAYSTACK)
        return asyncio.run(runner.run(questions, haystacks, 1, lambda: None))


def test_the_context_is_the_text_the_spans_and_their_states_with_screenshots(tmp_path):
    (row,) = ask(tmp_path, Scripted(good(SPAN)))
    assert row["status"] == "ok"
    kinds = [(item["kind"], item["source"], item["first_state"], item["last_state"]) for item in row["items"]]
    assert kinds == [
        ("text", "agent", None, None),
        ("text", "agent", None, None),
        ("text", "spans", None, None),
        ("text", "spans", 1, 2),
        ("text", "spans", 1, 1),
        ("image", "spans", 1, 1),
        ("text", "spans", 2, 2),
        ("image", "spans", 2, 2),
    ]
    texts = [item["text"] for item in row["items"]]
    assert texts[0] == "the gate code is on the depots page"
    assert texts[1] == "Spans of earlier runs:\n- trajectory t1, states 1-2"
    assert "Goal: goal of t1\nStart url: http://x/" in texts[3]
    assert (
        texts[6] == f"State 2\nURL: http://x/2\nAction: click('2')  # link 'Depots'\nTree:\n{TREES['t1'][2]}"
    )
    assert row["items"][7]["image_sha256"] == "sha-t1-2"


def test_the_row_has_the_schema_and_its_usage_adds_up(tmp_path):
    (row,) = ask(tmp_path, Scripted(BROKEN, good(SPAN)))
    row |= {"method": "codex", "operating_point": "", "tier": "small"}
    assert row.keys() == set(SCHEMAS["query"].names)
    assert (row["calls"], row["attempts"], row["input_tokens"], row["cost"]) == (3, 2, 7, 7.0)
    assert row["model_s"] == 3.0  # both attempts: the whole query, as the paper measures it
    assert [usage["role"] for usage in row["by_role"]] == ["agent"]


def test_two_broken_outputs_then_a_good_one(tmp_path):
    agent = Scripted(BROKEN, LATE, good(SPAN))
    (row,) = ask(tmp_path, agent)
    assert row["status"] == "ok"
    trace = json.loads(row["trace"])
    faults = [attempt["fault"].partition(":")[0] for attempt in trace["attempts"]]
    assert faults == ["the output is not JSON", "out of time after 5 s", ""]
    assert trace["attempts"][1]["stderr"] == "half an error"
    # Each attempt begins in a folder of its own, which is gone afterwards.
    assert len(set(agent.folders)) == 3
    assert not any(folder.exists() for folder in agent.folders)


def test_after_the_last_attempt_it_is_final_and_empty(tmp_path):
    agent = Scripted(BROKEN, BROKEN, LATE)
    (row,) = ask(tmp_path, agent)
    assert (row["status"], row["items"]) == (Status.AGENT_FAILED, [])
    assert row["error"].startswith("no usable output in 3 attempts: 1. the output is not JSON")
    assert len(json.loads(row["trace"])["attempts"]) == 3
    (again,) = ask(tmp_path, Scripted())  # journaled: it is not asked again
    assert again == row


def test_a_model_that_is_down_settles_nothing(tmp_path):
    down = Attempt(1, 1.0, fault="memory_module_output.json was not written", unreachable="HTTP 503")
    with pytest.raises(ItemsFailedError, match="HTTP 503"):
        ask(tmp_path, Scripted(down, down, down))
    (row,) = ask(tmp_path, Scripted(good(SPAN)))
    assert row["status"] == "ok"


def test_dropped_spans_are_counted_and_lenient_mends(tmp_path):
    reversed_ = {**SPAN, "start_state_index": 2, "end_state_index": 1}
    unknown = {**SPAN, "trajectory_id": "secret"}
    (row,) = ask(tmp_path, Scripted(good(reversed_, unknown)), output="lenient")
    trace = json.loads(row["trace"])
    assert len(trace["dropped"]) == len(trace["mended"]) == 1
    assert "Not of this haystack" not in json.dumps(row["items"])
    (strict,) = ask(tmp_path, Scripted(*[good(reversed_)] * 3), output="official")
    assert strict["status"] == Status.AGENT_FAILED


def test_limits_and_effort_reach_the_agent(tmp_path):
    agent = Scripted(good())
    ask(tmp_path, agent, effort="low", timeout_s=200, turns=12)
    (task,) = agent.tasks
    assert (task.effort, task.timeout_s, task.turns) == ("low", 200, 12)


@pytest.mark.parametrize(
    ("cls", "options", "has"),
    [
        (Codex, {}, (False, False, False)),
        (AgentRunbookC, {}, (True, True, True)),
        (AgentRunbookC, {"workflow": False}, (False, True, True)),
        (AgentRunbookC, {"manifests": False}, (True, False, True)),
        (AgentRunbookC, {"helper": False}, (True, True, False)),
    ],
)
def test_rows_and_ablations_find_what_they_should(tmp_path, cls, options, has):
    class Looking(Scripted):
        async def run(self, workspace, task):
            self.found = (
                (workspace / "trajectories/TRAJECTORY_SUMMARY_FULL.md").is_file(),
                (workspace / "scripts/inspect_trajectory.py").is_file(),
            )
            return await super().run(workspace, task)

    agent = Looking(good())
    ask(tmp_path, agent, cls, **options)
    instruction = agent.files[0]["INSTRUCTION.md"]
    workflow, manifests, helper = has
    assert ("Stop early" in instruction) == workflow
    assert agent.found == (manifests, helper)
    assert ("TRAJECTORY_SUMMARY_FULL" in instruction) == manifests
    assert ("inspect_trajectory.py" in instruction) == helper


def test_privacy_nothing_but_text_and_picture_reaches_the_agent(tmp_path):
    agent = Scripted(good())
    ask(tmp_path, agent, AgentRunbookC)
    assert json.loads(agent.files[0]["question.json"]) == {"question": "What is the gate code?"}
    seen = json.dumps([agent.files, [task.prompt for task in agent.tasks], list(map(str, agent.folders))])
    assert "the-id" not in seen
    assert "handle" not in seen


def test_at_most_so_many_at_a_time_over_all_haystacks_and_folders_go_away(tmp_path):
    questions = {f"q{number}": Question(f"h{number}", f"text {number}", None) for number in range(7)}
    # A haystack of its own for each, as in the tier medium.
    haystacks = {id_: ("t1", "t2") if number % 2 else ("t2", "t1") for number, id_ in enumerate(questions)}

    class Slow(Scripted):
        running = most = 0

        async def run(self, workspace, task):
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(0.01)
            self.running -= 1
            return await super().run(workspace, task)

    agent = Slow(*[good() for _ in questions])
    rows = ask(tmp_path, agent, questions=questions, haystacks=haystacks)
    assert agent.most == 3
    assert max(row["in_flight"] for row in rows) == 3
    assert list((tmp_path / "insert/files" / HAYSTACKS).iterdir()) == []


def test_commands_become_rows_with_rounds_over_all_attempts(tmp_path):
    (row,) = ask(tmp_path, Scripted(BROKEN, good(SPAN)))
    row |= {"method": "codex", "operating_point": "low", "tier": "small"}
    rows = list(command_rows([row]))
    assert [(found["attempt"], found["round"], found["class"]) for found in rows] == [
        (0, 0, "setup"),
        (1, 1, "setup"),
    ]
    assert rows[0].keys() == set(SCHEMAS["agent_commands"].names)
    assert list(command_rows([{**row, "trace": "{}"}])) == []


def test_manifests_are_rendered_once_for_all_questions_and_attempts(tmp_path, monkeypatch):
    rendered = []

    def counting(rows):
        rendered.append([row["trajectory_id"] for row in rows])
        return {}

    monkeypatch.setattr("lmev2.agent.workspace.manifest_texts", counting)
    questions = {f"q{number}": Question(f"h{number}", f"text {number}", None) for number in range(3)}
    ask(tmp_path, Scripted(BROKEN, *[good()] * 3), AgentRunbookC, questions)
    assert rendered == [list(HAYSTACK)]


def test_what_an_attempt_leaves_in_its_row_is_bounded(tmp_path):
    long = Attempt(1, 1.0, "x" * 3_000_000, "y" * 100_000, output=b"z" * 900_000)
    (row,) = ask(tmp_path, Scripted(long, long, long))
    assert len(row["trace"]) < 500_000
    kept = json.loads(row["trace"])["attempts"]
    assert [(len(one["stderr"]), len(one["output"])) for one in kept] == [(4_000, 20_000)] * 3


class InTurn:
    """An agent whose attempts meet one model after the other; each model plays a script."""

    def __init__(self, provider, *scripts):
        self.provider, self.scripts = provider, list(scripts)
        self.spec = spec(provider)

    async def run(self, workspace, task):
        with model_server(self.scripts.pop(0)) as server:
            agent = make_agent(spec(self.provider, base_url=server.url, api_key_env="AGENT_KEY"))
            return await agent.run(workspace, task)


@pytest.mark.parametrize(
    "provider",
    [
        pytest.param("codex", marks=[needs_codex, pytest.mark.codex]),
        pytest.param("openai_agents", marks=[needs_sdk, needs_bubblewrap]),
    ],
)
def test_a_model_that_writes_broken_json_twice_and_then_a_good_one(tmp_path, monkeypatch, provider):
    monkeypatch.setenv("AGENT_KEY", "sk-in-turn")
    broken = ["echo '{\"memory_markdown\":' > memory_module_output.json"]
    (row,) = ask(tmp_path, InTurn(provider, broken, broken, [WRITE_GOOD]))
    assert row["status"] == "ok", row["error"]
    faults = [attempt["fault"] for attempt in json.loads(row["trace"])["attempts"]]
    assert [fault.partition(":")[0] for fault in faults] == ["the output is not JSON"] * 2 + [""]
    assert (row["attempts"], row["calls"]) == (3, 6)


def answer(text):
    return Attempt(0, 2.0, EVENT, output=json.dumps({"answer": text}).encode())


def test_a_pilot_agent_finds_the_answer_trajectories_alone_and_answers_itself(tmp_path):
    class Looking(Scripted):
        async def run(self, workspace, task):
            self.seen = sorted(path.name for path in (workspace / "trajectories").iterdir())
            return await super().run(workspace, task)

    agent = Looking(good(SPAN), answer("  "), answer("4711 \ud800"))
    question = OracleQuestion("handle", "What is the gate code?", None, hops=({"t2": (0,), "secret": (0,)},))
    (row,) = ask(tmp_path, agent, OracleFilesAgent, {"the-id": question})
    assert agent.seen == ["t2"]  # not t1, which is in the haystack, nor what is not in it
    assert [(item["text"], item["source"]) for item in row["items"]] == [("4711 ?", "answer")]
    faults = [attempt["fault"] for attempt in json.loads(row["trace"])["attempts"]]
    assert faults == ['the output is not of the form {"answer": "…"}'] * 2 + [""]
    assert row["model"] == Scripted.spec.name
    assert set(agent.files[0]) == {"question.json", "INSTRUCTION.md"}
    assert '{"answer": "…"}' in agent.files[0]["INSTRUCTION.md"]
    assert "t2" not in agent.files[0]["INSTRUCTION.md"] + agent.files[0]["question.json"]
    assert list((tmp_path / "insert/files" / HAYSTACKS).iterdir()) == []


@needs_codex
@pytest.mark.codex
def test_codex_answers_a_question_end_to_end(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "sk-end-to-end")
    output = json.dumps({"memory_markdown": "see the depots page", "trajectory_spans": [SPAN]})
    script = [
        "cat question.json",
        "sed -n 1,60p trajectories/TRAJECTORY_SUMMARY_FULL.md",
        "python3 scripts/inspect_trajectory.py t1 --state 2",
        f"cat > memory_module_output.json <<'J'\n{output}\nJ",
    ]
    with model_server(script) as server:
        agent = make_agent(spec("codex", base_url=server.url, api_key_env="AGENT_KEY"))
        (row,) = ask(tmp_path, agent, AgentRunbookC)
    assert row["status"] == "ok", row["error"]
    assert row["items"][0]["text"] == "see the depots page"
    assert row["model"] == "codex:gpt-5.4-mini"
    assert row["calls"] == 5
    row |= {"method": "agentrunbook_c", "operating_point": "", "tier": "small"}
    classes = [found["class"] for found in command_rows([row])]
    assert classes == ["setup", "harness", "harness", "validation"]

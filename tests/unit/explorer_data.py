"""A made-up explorer of any size, and of any text: the package's own functions on made-up tables."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from dataset_factory import png
from stats_data import MODELS, method

from lmev2.explorer.answers import write_answers
from lmev2.explorer.dataset import write_dataset
from lmev2.explorer.screenshots import Screenshots, Settings
from lmev2.explorer.site import write_site
from lmev2.explorer.trajectories import write_trajectories
from lmev2.records import SCHEMAS
from lmev2.report.captions import Source
from lmev2.stats.accuracy import tabulate_accuracy, tabulate_latency
from lmev2.stats.retrieval import read_evidence
from lmev2.stats.significance import tabulate_significance
from lmev2.store import read_rows, write_table
from lmev2.trajectory import Trajectories

PHRASE = "norm_phrase_set_match|lower=true|normalize_hyphen=true|strip_punct=true|separators=,;"
JUDGED = "llm_abstention_checker|require_non_empty=true"


def plain(kind):
    """A text for a field that does no harm."""
    return f"some {kind}"


@dataclass
class Plan:
    """What to make.

    Attributes:
        text: what stands in a text field, by the field's name.
        questions, trajectories, states: how many (states: of each trajectory).
        arms: method ids; their first word decides what their answers look like: "runbook", "agent" or other.
        tree: of a state, by its number.
        screenshots: whether states have any.
    """

    text: object = plain
    questions: int = 4
    trajectories: int = 3
    states: int = 3
    tiers: tuple = ("small",)
    arms: tuple = ("plain", "runbook", "agent")
    haystack: int = 3
    tree: object = lambda text, state: f"RootWebArea '{text('tree')}'\n" + f"\t[{state}] button 'Go'\n" * 20
    screenshots: bool = True
    settings: Settings = field(default_factory=Settings)
    repeats: int = 1

    def question_id(self, number):
        return f"{self.text('id')}{number}"

    trajectory_id = question_id


def make_site(folder: Path, plan: Plan | None = None) -> Path:
    """Write the dataset and the tables to `folder` and the explorer to `folder`/site; returns its page."""
    plan = plan or Plan()
    tables, dataset, site = folder / "tables", folder / "dataset", folder / "site"
    _write_states(plan, tables, dataset)
    questions = _write_questions(plan, tables)
    trajectories = Trajectories(tables / "trajectories.parquet", tables / "states.parquet", dataset)
    write_trajectories(
        trajectories,
        set(trajectories),
        site / "data/trajectories",
        site / "pictures",
        Screenshots(site, plan.settings),
    )
    known = read_rows(tables / "trajectories.parquet")
    haystacks = {tier: _haystack(plan, number) for number, tier in enumerate(plan.tiers)}
    (tables / "images").mkdir()
    (tables / "images/question.png").write_bytes(png(90, (64, 40)))
    write_dataset(
        site / "data",
        site / "images",
        questions=read_rows(tables / "questions.parquet"),
        evidence=read_evidence(tables / "coverage.parquet"),
        anchors={},
        trajectories=known,
        haystacks=haystacks,
        question_images=tables / "images",
    )
    scores, retrieval = [], []
    for arm in plan.arms:
        for tier in plan.tiers:
            made = [
                _answer(plan, arm, tier, number, repeat, trajectories)
                for number in range(plan.questions)
                for repeat in range(plan.repeats)
            ]
            for stage in ("query", "read", "judge"):
                write_table(
                    stage, [answer[stage] for answer in made], tables / stage / arm / f"{tier}.parquet"
                )
            scores += [answer["scores"] for answer in made]
            retrieval += [answer["retrieval"] for answer in made]
            files = [tables / stage / arm / f"{tier}.parquet" for stage in ("query", "read", "judge")]
            pools = {"slices": tables / "slices.parquet"} if arm.startswith("runbook") else {}
            write_answers(questions, *files, trajectories, pools, site / "data/answers" / arm, tier)
    _write_page(plan, tables, site, scores, retrieval)
    return site / "index.html"


def _row(name, **values):
    usual = {
        "operating_point": "",
        "status": "ok",
        "error": "",
        "model": "m",
        "request": "",
        "calls": 1,
        "attempts": 1,
    }
    usual |= {
        "input_tokens": 10,
        "output_tokens": 5,
        "cost": 0.5,
        "latency_s": 0.25,
        "queue_wait_s": 0.0,
        "retry_wait_s": 0.0,
        "prompt_sha256": "",
    }
    return {column: values.get(column, usual.get(column)) for column in SCHEMAS[name].names}


def _write_states(plan, tables, dataset):
    trajectories, states = [], []
    dataset.mkdir(parents=True)
    for number in range(plan.trajectories):
        id_ = plan.trajectory_id(number)
        trajectories.append(
            _row(
                "trajectories",
                trajectory_id=id_,
                domain="web",
                environment=plan.text("environment"),
                goal=plan.text("goal"),
                outcome=("success", "failure", plan.text("outcome"))[number % 3],
                start_url=plan.text("url"),
                n_states=plan.states,
                fingerprint="",
                family=plan.text("family"),
            )
        )
        for state in range(plan.states):
            picture = png((7 * number + state) % 250, (80, 50))
            shot = {}
            if plan.screenshots and state != 1:
                name = f"shot {number % 5}-{state % 5}#.png"
                if not (dataset / name).exists():
                    (dataset / name).write_bytes(picture)
                shot = {
                    "screenshot": name,
                    "screenshot_sha256": hashlib.sha256((dataset / name).read_bytes()).hexdigest(),
                    "screenshot_width": 80,
                    "screenshot_height": 50,
                }
            states.append(
                _row(
                    "states",
                    trajectory_id=id_,
                    state_index=state,
                    step=state,
                    url=plan.text("url"),
                    action=f"click('{state - 1}')  {plan.text('action')}" if state else None,
                    thought=plan.text("thought"),
                    tree=plan.tree(plan.text, state),
                    tree_tokens=1,
                    page_title="",
                    **shot,
                )
            )
    write_table("trajectories", trajectories, tables / "trajectories.parquet")
    table = pa.Table.from_pylist(states, schema=SCHEMAS["states"])
    pq.write_table(table, tables / "states.parquet", row_group_size=plan.states)  # one a trajectory
    slices = [
        _row(
            "slices",
            entry_id=f"s{number}",
            trajectory_id=plan.trajectory_id(number),
            first_state=0,
            centre_state=1,
            last_state=2,
            digest="",
        )
        for number in range(plan.trajectories)
    ]
    write_table("slices", slices, tables / "slices.parquet")


def _write_questions(plan, tables):
    rows, coverage = [], []
    for number in range(plan.questions):
        abstention = number % 4 == 3
        rows.append(
            _row(
                "questions",
                question_id=plan.question_id(number),
                domain=("web", "enterprise")[number % 2],
                environment=plan.text("environment"),
                question_type="static-environment",
                ability=("static", "dynamic", "workflow", "gotchas")[number % 4],
                abstention=abstention,
                text=f"{plan.text('question')} {number}",
                image="question.png" if number == 0 else None,
                answer=plan.text("answer"),
                eval_function=JUDGED if abstention else PHRASE,
                evaluator=(JUDGED if abstention else PHRASE).split("|")[0],
            )
        )
        coverage.append(
            _row(
                "coverage",
                question_id=plan.question_id(number),
                hop=plan.text("hop"),
                trajectory_id=plan.trajectory_id(number % plan.trajectories),
                state_indexes=[1, 2],
            )
        )
    write_table("questions", rows, tables / "questions.parquet")
    write_table("coverage", coverage, tables / "coverage.parquet")
    return {row["question_id"]: row for row in rows}


def _haystack(plan, shift):
    return [
        {
            "question_id": plan.question_id(number),
            "position": position,
            "trajectory_id": plan.trajectory_id((number + shift + position) % plan.trajectories),
        }
        for number in range(plan.questions)
        for position in range(min(plan.haystack, plan.trajectories))
    ]


def _answer(plan, arm, tier, number, repeat, trajectories):
    key = {"question_id": plan.question_id(number), "method": arm, "tier": tier, "repeat": repeat}
    place = plan.arms.index(arm)
    score = int((number * 7 + place * 3) % 5 < 2)
    failed, unknown = (number + place) % 9 == 8, (number + place) % 7 == 6
    status = "agent_failed" if failed else "ok"
    score = 0 if failed or unknown else score
    items = [] if failed else _items(plan, number, trajectories)
    query = _row(
        "query",
        **key,
        status=status,
        error=plan.text("error") if failed else "",
        items=items,
        model_s=0.1,
        embed_s=0.05,
        search_s=0.05,
        render_s=0.03,
        other_s=0.02,
        insert_s=0.0,
        in_flight=2,
        trace=json.dumps(_trace(plan, arm, number)),
        by_role=[
            {
                "role": "controller",
                "model": plan.text("model"),
                "request": "",
                "calls": 1,
                "attempts": 1,
                "input_tokens": 9,
                "output_tokens": 3,
                "cost": 0.1,
                "latency_s": 0.1,
                "queue_wait_s": 0.0,
                "retry_wait_s": 0.0,
            }
        ],
    )
    response = f"{plan.text('response')} \\boxed{{{plan.text('prediction')}}} {plan.text('rest')}"
    read = _row(
        "read",
        **key,
        status=status,
        context_items=len(items),
        context_items_kept=max(0, len(items) - 1),
        context_tokens=1000,
        context_tokens_kept=900,
        was_truncated=True,
        response_raw="" if failed else response,
        reasoning=plan.text("reasoning"),
        prediction="UNKNOWN" if unknown else plan.text("prediction"),
        boxed="one",
        is_unknown=unknown,
        finish_reason="stop",
    )
    judge = _row(
        "judge",
        **key,
        evaluator="llm_abstention_checker",
        score=score,
        label=score,
        reason=plan.text("reason"),
        response_raw=plan.text("verdict"),
    )
    facts = {
        "domain": ("web", "enterprise")[number % 2],
        "environment": "e",
        "question_type": "static-environment",
        "ability": ("static", "dynamic", "workflow", "gotchas")[number % 4],
        "abstention": number % 4 == 3,
    }
    scores = _row(
        "scores",
        **key,
        **facts,
        evaluator="llm_abstention_checker" if number % 4 == 3 else "norm_phrase_set_match",
        judged=number % 4 == 3,
        prediction="p",
        is_unknown=unknown,
        score=score,
        status=status,
    )
    retrieval = _row(
        "retrieval",
        **key,
        ability=facts["ability"],
        abstention=facts["abstention"],
        domain=facts["domain"],
        rank_trajectory=1,
        rank_state=2,
    )
    return {"query": query, "read": read, "judge": judge, "scores": scores, "retrieval": retrieval}


def _items(plan, number, trajectories):
    id_ = plan.trajectory_id(number % plan.trajectories)
    states = trajectories[id_].states
    text = f"Slice of {plan.text('slice')}\n" + "\n".join(
        f"State {state.index}\n{state.tree}" for state in states[:3]
    )
    blank = {
        "text": None,
        "image": None,
        "image_sha256": None,
        "width": None,
        "height": None,
        "trajectory_id": None,
        "first_state": None,
        "last_state": None,
    }
    of = {"source": "slices", "trajectory_id": id_}
    items = [
        {
            **blank,
            "kind": "text",
            "text": f"{plan.text('notes')}\nsecond line",
            "source": plan.text("source"),
        },
        {**blank, "kind": "text", "text": "Slices", "source": "slices"},
        {**blank, "kind": "text", "text": text, **of, "first_state": 0, "last_state": 2},
    ]
    if shot := states[0].screenshot:
        items.append(
            {
                **blank,
                "kind": "image",
                "image": str(shot.path),
                "image_sha256": shot.sha256,
                "width": 80,
                "height": 50,
                **of,
                "first_state": 0,
                "last_state": 0,
            }
        )
    return [
        *items,
        {
            **blank,
            "kind": "text",
            "text": f"beyond the budget {plan.text('cut')}",
            **of,
            "first_state": 2,
            "last_state": 2,
        },
    ]


def _trace(plan, arm, number):
    hits = [[f"s{place}", 0.5 - place / 100] for place in range(min(3, plan.trajectories))]
    if arm.startswith("runbook"):
        query = plan.text("slice query")
        bundle = {
            "raw_state_queries": [query, "second"],
            "event_query": "",
            "note_query": plan.text("note query"),
        }
        return {
            "controller": "parsed",
            "bundle": bundle,
            "dropped": {"too_many": 1},
            "hits": {"slices": hits[:2]},
            "slice_hits": {query: hits, "second": []},
            "queries_without_vector": ["second"],
            "missing_screenshots": 0,
        }
    if arm.startswith("agent"):
        command = {
            "type": "command_execution",
            "command": f"cat trajectories/x/trajectory.json {plan.text('command')}",
            "exit_code": number % 2,
            "aggregated_output": plan.text("output"),
        }
        events = [
            {"type": "item.completed", "duration_s": 0.1 + number / 10, "item": {"id": "a", **command}},
            {"type": "item.completed", "item": {"id": "b", **command}},
        ]
        output = json.dumps({"memory_markdown": plan.text("markdown"), "trajectory_spans": []})
        return {
            "agent": plan.text("agent"),
            "effort": "low",
            "attempts": [
                {
                    "fault": plan.text("fault"),
                    "exit_code": 1,
                    "seconds": 1.5,
                    "error": plan.text("agent error"),
                    "last_message": plan.text("last words"),
                    "events": events,
                    "stderr": plan.text("stderr"),
                    "output": output,
                }
            ]
            * 2,
        }
    return {"custom": plan.text("custom trace")}


def _write_page(plan, tables, site, scores, retrieval):
    methods = [
        method(arm, label=f"{plan.text('label')} {arm}", family=plan.text("family")) for arm in plan.arms
    ]
    write_table("scores", scores, tables / "scores.parquet")
    write_table("retrieval", retrieval, tables / "retrieval.parquet")
    tabulate_accuracy(tables / "scores.parquet", tables / "accuracy.parquet")
    tabulate_latency(tables / "scores.parquet", tables / "latency.parquet")
    tabulate_significance(tables / "scores.parquet", methods, tables / "significance.parquet")
    (tables / "cost.csv").write_text(
        "stage,role,model,calls,input_tokens,output_tokens,cost\nread,reader,m,3,30,9,0.25\n"
    )
    (tables / "figure6.png").write_bytes(png(200, (400, 200)))
    meta = {
        "stage": "ingest_dataset",
        "params": {"prompts": {plan.text("prompt"): {"sha256": "0" * 64, "path": "p"}}},
        "counts": {"missing_screenshots": {"no such file": plan.trajectories}},
        "inputs": {plan.text("file"): "1" * 64},
        "git": {"commit": "abc", "dirty": True},
        "versions": {"lmev2": "0", "python": plan.text("version")},
    }
    (tables / "x.meta.json").write_text(json.dumps(meta))
    models = {
        **MODELS,
        "controller": {"provider": "openai", "model": plan.text("model"), "sampling": {"seed": 1}},
    }
    write_site(
        site / "index.html",
        site / "assets",
        site / "data/index.js",
        site / "figure6.png",
        questions=tables / "questions.parquet",
        **{
            name: tables / f"{name}.parquet"
            for name in ("scores", "retrieval", "accuracy", "latency", "significance")
        },
        cost=tables / "cost.csv",
        figure6=tables / "figure6.png",
        config={"models": models},
        metas=[tables / "x.meta.json"],
        methods=methods,
        tiers=plan.tiers,
        source=Source(plan.text("dataset"), models),
    )

import csv

import pytest
from PIL import Image
from stats_data import MODELS, bits, method, score_rows, write_scores

from lmev2.haystack.measures import measure_haystacks
from lmev2.records import SCHEMAS, Status
from lmev2.report.agent_figures import plot_agent_figures
from lmev2.report.captions import Source
from lmev2.report.dataset_figures import plot_figure2, plot_figure3, write_table1
from lmev2.report.figure4 import plot_figure4
from lmev2.report.figure7 import plot_figure7
from lmev2.report.retrieval import report_retrieval
from lmev2.stats.accuracy import tabulate_accuracy
from lmev2.stats.failures import Failure, classify
from lmev2.store import write_table

MINI = Source("mini", MODELS)
REAL = Source("lme", {"reader": {"provider": "openai", "model": "m"}}, released=True)
METHODS = [
    {**method("none", family="none", label="No retrieval"), "class": "lmev2.memory.no_retrieval:NoRetrieval"},
    {**method("rag"), "class": "x:Y"},
    {**method("rag", operating_point="low"), "class": "x:Y"},
    {**method("oracle", family="pilot", labels=True, label="Oracle slices"), "class": "x:Z"},
]
KW = {"methods": METHODS, "tiers": ["small", "medium"], "source": MINI}


def write(folder, stage, rows, name=None):
    folder.mkdir(exist_ok=True)
    path = folder / (name or stage)
    write_table(stage, [{c: row.get(c) for c in SCHEMAS[stage].names} for row in rows], path)
    return path


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_twice(draw, folder):
    """Draw in two folders: the same bytes in each file, none of them dated, the picture not empty."""
    found = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        draw(folder / name)
        found.append({path.name: path.read_bytes() for path in (folder / name).iterdir()})
    assert found[0] == found[1]
    for name, data in found[0].items():
        if name.endswith(".pdf"):
            assert b"CreationDate" not in data
        if name.endswith(".png"):
            with Image.open(folder / "first" / name) as image:
                assert len(image.convert("RGB").getcolors(1 << 20)) > 20
    return folder / "first"


def retrieval_row(question, name="rag", tier="small", **values):
    usual = {"question_id": question, "method": name, "operating_point": "", "tier": tier, "repeat": 0}
    usual |= {
        "ability": "static",
        "abstention": False,
        "domain": "web",
        "status": "ok",
        "context_tokens": 1000,
    }
    return usual | values


def hits(family, trajectory=False, state=False, gold=None, url=False):
    return {
        **{"holds_family": family, "holds_trajectory": trajectory, "holds_state": state, "holds_url": url},
        **{"holds_every_hop": state, "holds_gold": gold, "rank_trajectory": 2 if trajectory else None},
        "rank_state": 3 if state else None,
    }


def test_retrieval_shares(tmp_path):
    rows = [
        retrieval_row("q1", **hits(True, True, True, gold=True)),
        retrieval_row("q1", repeat=1, **hits(True, True, False, gold=True)),
        retrieval_row("q2", **hits(False), ability="gotchas", context_tokens=3000),
        retrieval_row("q3", ability="workflow"),
    ]
    path = write(tmp_path, "retrieval", rows)
    folder = check_twice(
        lambda out: report_retrieval(path, *(out / f"retrieval.{e}" for e in ("csv", "png", "pdf")), **KW),
        tmp_path,
    )
    table = read_csv(folder / "retrieval.csv")
    assert [row["column"] for row in table] == ["overall", "static", "workflow", "gotchas"]
    overall = table[0]
    assert (overall["n"], overall["n_labelled"], overall["n_gold"]) == ("3", "2", "1")
    # Repeats are averaged within q1 first.
    assert (overall["holds_family"], overall["holds_state"], overall["holds_gold"]) == (
        "0.5000",
        "0.2500",
        "1.0000",
    )
    assert (overall["rank_trajectory"], overall["rank_state"]) == ("2.00", "3.00")
    assert overall["context_tokens"] == "1667"
    workflow = table[2]
    assert (workflow["holds_family"], workflow["n_labelled"], workflow["note"]) == (
        "",
        "0",
        "No evidence labels.",
    )


def test_retrieval_without_any_labels(tmp_path):
    path = write(tmp_path, "retrieval", [retrieval_row("q1", holds_gold=True)])
    report_retrieval(path, *(tmp_path / f"r.{e}" for e in ("csv", "png", "pdf")), **KW)
    (overall, _) = read_csv(tmp_path / "r.csv")
    assert (overall["holds_gold"], overall["holds_family"], overall["note"]) == (
        "1.0000",
        "",
        "No evidence labels.",
    )


@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        ({"status": str(Status.REFUSAL), "abstention": True}, Failure.NO_ANSWER),
        ({"abstention": True, "ability": "static"}, Failure.PREMISE),
        ({"ability": "gotchas", "holds_trajectory": True}, Failure.GOTCHA),
        ({"holds_family": True, "holds_trajectory": True}, Failure.READING),
        ({"holds_family": False, "holds_url": True}, Failure.READING),
        ({"holds_gold": True}, Failure.READING),
        ({"holds_family": True, "holds_trajectory": False}, Failure.MISS_MINOR),
        ({"holds_family": False, "holds_trajectory": False, "holds_gold": False}, Failure.MISS_MAJOR),
        ({"holds_gold": False}, Failure.UNKNOWN),
    ],
)
def test_causes_of_wrong_answers(changes, failure):
    usual = {"status": "ok", "abstention": False, "ability": "static"}
    unknown = dict.fromkeys(("holds_family", "holds_trajectory", "holds_url", "holds_gold"))
    assert classify({**usual, **unknown, **changes}) == failure


def test_figure7_counts_wrong_answers(tmp_path):
    scores = write_scores(
        tmp_path / "scores",
        score_rows("rag", {"q1": [0, 1], "q2": [0, 0]}) + score_rows("oracle", bits("0", "q1")),
    )
    rows = [
        *(retrieval_row("q1", repeat=r, **hits(True, True)) for r in (0, 1)),
        *(retrieval_row("q2", repeat=r, **hits(bool(r))) for r in (0, 1)),
        retrieval_row("q10", name="oracle", **hits(True)),
    ]
    path = write(tmp_path, "retrieval", rows)
    folder = check_twice(
        lambda out: plot_figure7(scores, path, *(out / f"f.{e}" for e in ("csv", "png", "pdf")), **KW),
        tmp_path,
    )
    table = read_csv(folder / "f.csv")
    assert "oracle" not in {row["method"] for row in table}
    mine = {
        r["cause"]: r for r in table if (r["method"], r["operating_point"], r["tier"]) == ("rag", "", "small")
    }
    counts = {cause: row["questions"] for cause, row in mine.items() if row["questions"] != "0"}
    assert counts == {
        "retrieval miss, major": "0.5",
        "retrieval miss, minor": "0.5",
        "reading failure": "0.5",
    }
    assert mine["reading failure"]["share"] == "0.3333"


def test_figure4_has_the_pilots_on_answerable_questions(tmp_path):
    kind = {"abstention": lambda q: q == "q0"}
    rows = score_rows("none", bits("1100"), **kind) + score_rows("rag", bits("1111"), **kind)
    rows += score_rows("oracle", {"q1": 1, "q2": 1, "q3": 0}, **kind)
    scores = write_scores(tmp_path / "scores", rows)
    tabulate_accuracy(scores, tmp_path / "accuracy")
    folder = check_twice(
        lambda out: plot_figure4(
            tmp_path / "accuracy", *(out / f"f.{e}" for e in ("csv", "png", "pdf")), **KW
        ),
        tmp_path,
    )
    table = read_csv(folder / "f.csv")
    ours = {(r["setting"], r["column"]): r for r in table if r["source"] == "ours"}
    assert {setting for setting, _ in ours} == {"No retrieval", "Oracle slices"}
    assert (ours["No retrieval", "overall"]["accuracy"], ours["No retrieval", "overall"]["n"]) == (
        "0.3333",
        "3",
    )
    assert ours["Oracle slices", "overall"]["accuracy"] == "0.6667"
    assert ours["Oracle slices", "static"]["note"].startswith("Nothing is comparable")
    paper = [r for r in table if r["source"] == "paper, figure4"]
    assert (paper[0]["model"], paper[0]["accuracy"]) == ("Qwen3.5-9B", ".016")
    assert sum(r["source"] == "paper, table6" for r in table) == 7 * 5
    plot_figure4(
        tmp_path / "accuracy", *(tmp_path / f"g.{e}" for e in ("csv", "png", "pdf")), **KW | {"source": REAL}
    )
    assert {r["model"] for r in table if r["source"] == "ours"} == {"extractive"}
    assert (tmp_path / "g.png").read_bytes() != (folder / "f.png").read_bytes()


def test_figure4_names_the_agent_that_answered_itself(tmp_path):
    scores = write_scores(
        tmp_path / "scores", score_rows("none", bits("10")) + score_rows("files", bits("11"))
    )
    tabulate_accuracy(scores, tmp_path / "accuracy")
    methods = [METHODS[0], method("files", family="pilot", labels=True, answers=True)]
    models = MODELS | {"agent": {"provider": "codex", "model": "gpt-5.4-mini"}}
    out = [tmp_path / f"f.{e}" for e in ("csv", "png", "pdf")]
    plot_figure4(tmp_path / "accuracy", *out, **KW | {"methods": methods, "source": Source("mini", models)})
    ours = {(r["setting"], r["model"]) for r in read_csv(out[0]) if r["source"] == "ours"}
    assert ours == {("No retrieval", "extractive"), ("files", "gpt-5.4-mini")}


@pytest.fixture
def dataset(tmp_path):
    questions = [
        {
            "question_id": "q1",
            "domain": "web",
            "question_type": "static-environment",
            "evaluator": "mc_choice_match",
        },
        {"question_id": "q2", "domain": "web", "question_type": "procedure-abs", "image": "i.png"},
    ]
    questions[1]["evaluator"] = "llm_abstention_checker"
    states = [
        {"trajectory_id": t, "state_index": i, "tree_tokens": tokens}
        for t, n, tokens in (("t1", 3, 1000), ("t2", 1, 500), ("t3", 2, 10))
        for i in range(n)
    ]
    trajectories = [
        {"trajectory_id": t, "domain": "web", "goal": t, "outcome": outcome, "family": t}
        for t, outcome in (("t1", "success"), ("t2", "failure"), ("t3", "success"))
    ]
    labels = [
        {"question_id": "q1", "hop": "0", "trajectory_id": t, "state_indexes": [0]}
        for t in ("t1", "t2", "t9")
    ] + [{"question_id": "q2"}]
    haystack = [
        {"question_id": q, "position": p, "trajectory_id": t}
        for q, members in (("q1", ("t1", "t2")), ("q2", ("t3",)))
        for p, t in enumerate(members)
    ]
    return {
        "questions": write(tmp_path, "questions", questions),
        "trajectories": write(tmp_path, "trajectories", trajectories),
        "states": write(tmp_path, "states", states),
        "coverage": write(tmp_path, "coverage", labels),
        "haystacks": {"small": write(tmp_path, "haystack", haystack)},
    }


def test_haystack_sizes(dataset, tmp_path):
    rows = measure_haystacks(**dataset)
    found = {row["measure"]: (row["mean"], row["least"], row["most"], row["questions"]) for row in rows}
    assert found == {
        "trajectories": (1.5, 1, 2, 2),
        "states": (3, 2, 4, 2),
        "tokens": (1760, 20, 3500, 2),
        "families": (1.5, 1, 2, 2),
        "share of successes": (0.75, 0.5, 1, 2),
        "answer trajectories": (2, 2, 2, 1),  # t9 is not in the haystack, q2 has no labels
    }
    folder = check_twice(
        lambda out: plot_figure3(rows, *(out / f"f.{e}" for e in ("csv", "png", "pdf")), source=MINI),
        tmp_path,
    )
    assert read_csv(folder / "f.csv")[2]["mean"] == "1760.00"
    without = [row for row in rows if row["measure"] != "answer trajectories"]
    plot_figure3(without, *(tmp_path / f"f.{e}" for e in ("csv", "png", "pdf")), source=MINI)
    assert len(read_csv(tmp_path / "f.csv")) == 5


def test_question_counts_and_table1(dataset, tmp_path):
    folder = check_twice(
        lambda out: plot_figure2(
            dataset["questions"], *(out / f"f.{e}" for e in ("csv", "png", "pdf")), source=MINI
        ),
        tmp_path,
    )
    rows = [(row["kind"], row["value"], row["questions"]) for row in read_csv(folder / "f.csv")]
    assert rows == [
        ("domain", "web", "2"),
        ("type", "static-environment", "1"),
        ("type", "procedure-abs", "1"),
        ("answer format", "llm_abstention_checker", "1"),
        ("answer format", "mc_choice_match", "1"),
    ]
    write_table1(dataset["questions"], measure_haystacks(**dataset), tmp_path / "table1", source=MINI)
    mine = read_csv(tmp_path / "table1")[-1]
    assert (mine["benchmark"], mine["sessions"], mine["questions"]) == ("mini small", "1-2", "2")
    assert (mine["question_multimodal"], mine["static"], mine["gotchas"], mine["premise"]) == (
        *("yes", "yes", "no", "yes"),
    )


def test_agent_commands(tmp_path):
    scores = write_scores(tmp_path / "scores", score_rows("rag", bits("11")) + score_rows("none", bits("00")))
    arm = {"method": "rag", "operating_point": "", "tier": "small", "repeat": 0, "attempt": 0, "kind": ""}
    commands = [
        {**arm, "question_id": "q0", "round": i, "class": kind}
        for i, kind in enumerate(("setup", "harness", "raw", "other"))
    ] + [{**arm, "question_id": "q1", "round": 0, "class": "raw"}]
    path = write(tmp_path, "agent_commands", commands)
    names = [f"figure{n}_{ending}" for n in (8, 9) for ending in ("csv", "png", "pdf")]
    folder = check_twice(
        lambda out: plot_agent_figures(
            path,
            scores,
            {name: out / f"{name}.{name[-3:]}" for name in names},
            **KW | {"methods": METHODS[1:3]},
        ),
        tmp_path,
    )
    means = {
        row["class"]: row["commands_per_query"]
        for row in read_csv(folder / "figure8_csv.csv")
        if (row["operating_point"], row["tier"]) == ("", "small")
    }
    assert means == {
        "set-up, reading the task": "0.500",
        "harness-guided (manifest, helper)": "0.500",
        "raw trajectory exploration": "1.000",
        "visual inspection": "0.000",
        "validation, other": "0.500",
    }
    shares = [row for row in read_csv(folder / "figure9_csv.csv") if row["tier"] == "small"]
    assert {row["method"] for row in shares} == {"rag"} and {row["round"] for row in shares} == set(
        "12345678"
    )
    first = {row["class"]: row["share"] for row in shares if row["round"] == "1"}
    assert (first["raw trajectory exploration"], first["set-up, reading the task"]) == ("0.5000", "0.5000")
    assert {row["share"] for row in shares if row["round"] == "8"} == {"0.0000"}

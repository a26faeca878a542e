"""A run that is fit for the leaderboard, in our tables, and the official folder that it becomes."""

import json
import math
from dataclasses import replace

from stats_data import fill

from lmev2.llm.reply import usage_columns
from lmev2.official.export import export_run
from lmev2.official.refusals import Run
from lmev2.prompts import prompt_params

PHRASE = "norm_phrase_set_match|lower=true|separators=,;"
ABSTENTION = "llm_abstention_checker|require_non_empty=true"
# id, question type, evaluator, answer, response, score
QUESTIONS = [
    ("q1", "static-environment", PHRASE, "Amber", "It is \\boxed{Amber — “ü”}", 1),
    ("q2", "dynamic-environment", PHRASE, "Left, Right", "\\boxed{Left}", 0),
    ("q3", "static-environment-abs", ABSTENTION, "None", "\\boxed{There is none}", 1),
    ("q4", "procedure", "mc_choice_match", "B", "\\boxed{UNKNOWN}", 0),
    ("q5", "procedure-abs", ABSTENTION, "It is not", "\\boxed{Press it}", 0),
]
DIGESTS = {
    "questions.jsonl": "a" * 64,
    "trajectories.jsonl": "b" * 64,
    "haystacks/lme_v2_small.json": "c" * 64,
}
SAMPLING = {"temperature": 0.6, "max_tokens": 20000}


def question_rows(domain="web"):
    return [
        {
            "question_id": f"{domain}-{id_}",
            "domain": domain,
            "environment": "shop",
            "question_type": kind,
            "ability": "static",
            "abstention": kind.endswith("-abs"),
            "text": f"What of {id_} – and why?",
            "image": None,
            "image_sha256": None,
            "answer": answer,
            "eval_function": evaluator,
            "evaluator": evaluator.partition("|")[0],
        }
        for id_, kind, evaluator, answer, _, _ in QUESTIONS
    ]


def item(text=None, image=None, **place):
    empty = dict.fromkeys(("image_sha256", "width", "height", "trajectory_id", "first_state", "last_state"))
    kind = "text" if text else "image"
    return {"kind": kind, "text": text, "image": image, "source": "slices", **empty, **place}


ITEMS = [
    item("Slice of trajectory t1, states 0-1", trajectory_id="t1", first_state=0, last_state=1),
    item(image="data/screenshots/t1/1.png", image_sha256="d" * 64, width=8, height=6, trajectory_id="t1"),
    item("dropped by truncation"),
]


def arm(**changes):
    def model(name):
        return {"provider": "openai", "model": name, "sampling": SAMPLING}

    return {
        "name": "mine",
        "id": "mine",
        "operating_point": "",
        "class": "lmev2.memory.rag:RagSlices",
        "options": {"top_slices": 6},
        "chain": {
            "reader": model("Qwen/Qwen3.5-9B"),
            "judge": model("gpt-5.2"),
            "embedding": model("Qwen/Qwen3-Embedding-8B"),
        },
        "leaderboard_safe": True,
        "labels": False,
        "answers": False,
        "runs_agent": False,
        "repeats": 1,
        "shards": 1,
        "rewritten": False,
        "context_tokens": 200_000,
        "domains": {},
        "prompts": prompt_params(("reader.",), {}),
    } | changes


def fit_run(domain="web", *, latency_s=0.25, **changes):
    """A run without any reason to be refused; `changes` are of the arm."""
    questions = question_rows(domain)
    stages = {"query": [], "read": [], "judge": []}
    for number, (row, (*_, response, score)) in enumerate(zip(questions, QUESTIONS, strict=True)):
        key = {"question_id": row["question_id"], "method": "mine", "error": "", "prompt_sha256": ""}
        usage = {**usage_columns([]), "input_tokens": 100 + number, "output_tokens": 10}
        prediction = response.partition("{")[2].rstrip("}")
        unknown = prediction == "UNKNOWN"
        stages["query"].append(
            fill("query", **key, items=ITEMS, in_flight=1, insert_s=0.5, trace="{}", by_role=[])
            | usage_columns([])
            | {"latency_s": latency_s * (number + 1)}
        )
        stages["read"].append(
            fill("read", **key)
            | usage
            | {
                "context_items": 3,
                "context_items_kept": 2,
                "context_tokens": 300,
                "context_tokens_kept": 200,
                "was_truncated": True,
                "response_raw": response,
                "prediction": prediction,
                "is_unknown": unknown,
                "boxed": "one",
            }
        )
        stages["judge"].append(fill("judge", **key, evaluator=row["evaluator"]) | {"score": score})
    haystack = {row["question_id"]: ("t1", "t2") for row in questions}
    return Run(
        arm=arm(**changes),
        tier="small",
        questions=questions,
        stages=stages,
        haystack=haystack,
        digests=DIGESTS,
        haystack_file={id_: list(ids) for id_, ids in haystack.items()},
    )


def export(folder, run=None, domain="web", **how):
    """Write a run folder below `folder` and return its path."""
    run = run or fit_run(domain)
    target = folder / f"{run.arm['name']}_{domain}_{run.tier}"
    options = {"images": {}, "dataset": folder / "data", "allow_unfit": False, **how}
    run = replace(run, stages={**run.stages, "query": [_located(row, folder) for row in run.stages["query"]]})
    export_run(target, run, domain, DIGESTS, **options)
    return target


def _located(row, folder):
    items = [{**item, "image": item["image"] and str(folder / item["image"])} for item in row["items"]]
    return {**row, "items": items}


def records(folder):
    return [json.loads(line) for line in (folder / "per_question.jsonl").read_text().split("\n") if line]


def write_records(folder, rows):
    text = "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
    (folder / "per_question.jsonl").write_text(text)


# What somebody else's program, or a hand that slipped, may have put in the place of a value.
ODD = [
    *(None, True, -1, 1.5, math.nan, math.inf, 10**400, 2**40, "", "x", "\ud800"),
    *([], [[]], {}, {"a": 1}, [None], ["x"]),
]
UNREADABLE = [b"", b"[" * 100_000, b"\xff", b"null", b"[]", b'{"a": ' + b"9" * 5000 + b"}", b"\0"]


def places(value, place=()):
    """Where something can be put into a JSON value; of a list into its first element."""
    yield place
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    )
    for key, part in inner:
        yield from places(part, (*place, key))


def put(value, place, odd):
    """A copy of a JSON value with something else at a place."""
    if not place:
        return odd
    copy = value.copy()
    copy[place[0]] = put(value[place[0]], place[1:], odd)
    return copy

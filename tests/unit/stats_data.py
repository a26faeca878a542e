"""Small made-up stage tables for the tests of statistics and report."""

from lmev2.records import SCHEMAS
from lmev2.store import write_table

MODELS = {
    "reader": {"provider": "embedded", "model": "extractive"},
    "judge": {"provider": "openai", "model": "gpt-5.2"},
}


def fill(name, **values):
    """A row of stage `name` with typical values."""
    usual = {
        "operating_point": "",
        "tier": "small",
        "repeat": 0,
        "status": "ok",
        "domain": "web",
        "environment": "shop",
        "question_type": "static-environment",
        "ability": "static",
        "abstention": False,
        "evaluator": "norm_phrase_set_match",
        "judged": False,
        "is_unknown": False,
        "prediction": "p",
    }
    return {column: values.get(column, usual.get(column)) for column in SCHEMAS[name].names}


def score_rows(method, scores, **values):
    """Rows of `scores`; `scores` maps a question to one score or to a list, one a repeat."""
    return [
        fill("scores", question_id=question, method=method, repeat=repeat, score=score, latency_s=1.0)
        | {key: value(question) if callable(value) else value for key, value in values.items()}
        for question, per_repeat in scores.items()
        for repeat, score in enumerate(per_repeat if isinstance(per_repeat, list) else [per_repeat])
    ]


def write_scores(path, rows):
    write_table("scores", rows, path)
    return path


def method(name, family="rag", ablation_of=None, operating_point="", label=None, labels=False, answers=False):
    return {
        "id": name,
        "operating_point": operating_point,
        "label": label or name,
        "family": family,
        "ablation_of": ablation_of,
        "labels": labels,
        "answers": answers,
    }


def bits(text, prefix="q"):
    """'110' -> {'q0': 1, 'q1': 1, 'q2': 0}."""
    return {f"{prefix}{i}": int(bit) for i, bit in enumerate(text)}

"""Sentences that every table and figure carries: what the numbers were made with."""

from collections.abc import Mapping, Sequence
from typing import Any


def describe_models(models: Mapping[str, Mapping[str, Any]]) -> str:
    """All roles with provider and model in one line: `reader openai:Qwen/Qwen3.5-9B; judge ...`.

    Args:
        models: the config's `models` section: role to settings with `provider` and `model`.
    """
    return "; ".join(
        f"{role} {settings['provider']}:{settings['model']}" for role, settings in models.items()
    )


def explain_models(models: Mapping[str, Mapping[str, Any]]) -> str:
    """A plain sentence where embedded models made the numbers, else an empty text."""
    embedded = [role for role, settings in models.items() if settings["provider"] == "embedded"]
    if not embedded:
        return ""
    return (
        f"These numbers are of the embedded engine ({', '.join(embedded)}): "
        "they show that the pipeline runs and compare with nothing published."
    )


def explain_latencies(labels: Sequence[str]) -> str:
    """A plain sentence that names the arms with missing latencies, else an empty text."""
    if not labels:
        return ""
    return f"No latency is given for {', '.join(labels)}: some of its queries have none recorded."


def closing_words(config: Mapping[str, Any]) -> str:
    """What a finished run says: where the results are, what they were made with."""
    lines = [
        "Results: results/table2.csv (.md), results/figure6.png (.pdf, .csv); all stages' tables beside them.",
        f"Dataset: {config['dataset']['path']}. Models: {describe_models(config['models'])}.",
    ]
    return "\n".join([*lines, *filter(None, [explain_models(config["models"])])])

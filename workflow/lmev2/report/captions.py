"""Sentences that every table and figure carries: what the numbers were made with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmev2.stats.options import StatsOptions

Models = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Source:
    """What the numbers were made with.

    Attributes:
        dataset: name of the dataset.
        models: the config's `models` section: role to settings with `provider` and `model`.
        released: the dataset is the released one.
        imported: the arms of official runs: `id`, `operating_point`, `label`, `models` (role to name).
    """

    dataset: str
    models: Models
    released: bool = False
    imported: Sequence[Mapping[str, Any]] = ()

    def models_of(self, method: str, operating_point: str = "") -> str:
        """The models behind an arm's numbers in one line: the config's, or those of an official run."""
        for arm in self.imported:
            if (arm["id"], arm["operating_point"]) == (method, operating_point):
                return _name_imported(arm)
        return describe_models(self.models)


def describe_models(models: Models) -> str:
    """All roles with provider and model in one line: `reader openai:Qwen/Qwen3.5-9B; judge ...`.

    Args:
        models: the config's `models` section: role to settings with `provider` and `model`.
    """
    return "; ".join(
        f"{role} {settings['provider']}:{settings['model']}" for role, settings in models.items()
    )


def embedded_roles(models: Models) -> list[str]:
    """The roles that an embedded model plays."""
    return [role for role, settings in models.items() if settings["provider"] == "embedded"]


def explain_models(models: Models) -> str:
    """A plain sentence where embedded models made the numbers, else an empty text."""
    embedded = embedded_roles(models)
    if not embedded:
        return ""
    return (
        f"These numbers are of the embedded engine ({', '.join(embedded)}): "
        "they show that the pipeline runs and compare with nothing published."
    )


def explain_imports(source: Source) -> str:
    """Which arms were made elsewhere, and by which models; empty where none was."""
    arms = dict.fromkeys(f"{arm['label']}: {_name_imported(arm)}" for arm in source.imported)
    return f"Made elsewhere, by models of their own: {'. '.join(arms)}." if arms else ""


def _name_imported(arm: Mapping[str, Any]) -> str:
    return "; ".join(f"{role} {name}" for role, name in sorted(arm["models"].items(), reverse=True))


def explain_comparison(source: Source) -> str:
    """Why nothing here compares with the paper's figures; empty where it does."""
    reasons = []
    if not source.released:
        reasons.append(f"the dataset ({source.dataset}) is not the released one")
    if embedded := embedded_roles(source.models):
        reasons.append(f"embedded models made the numbers ({', '.join(embedded)})")
    return f"Nothing is comparable with the paper: {' and '.join(reasons)}." if reasons else ""


def explain_latencies(labels: Sequence[str]) -> str:
    """A plain sentence that names the arms with missing latencies, else an empty text."""
    if not labels:
        return ""
    return f"No latency is given for {', '.join(labels)}: some of its queries have none recorded."


def explain_intervals(options: StatsOptions) -> str:
    """What the intervals of accuracies are, e.g. `95 % intervals (Wilson)`."""
    kinds = {"wilson": "Wilson", "percentile": "percentile bootstrap", "bca": "BCa bootstrap"}
    return f"{100 * options.confidence:g} % intervals ({kinds[options.interval]})"


def origin(source: Source) -> list[str]:
    """The sentences under every figure: the dataset, the models, and what embedded models mean."""
    sentences = [
        f"Dataset: {source.dataset}. Models: {describe_models(source.models)}.",
        explain_models(source.models),
        explain_imports(source),
    ]
    return [sentence for sentence in sentences if sentence]


def closing_words(config: Mapping[str, Any]) -> str:
    """What a finished run says: where the results are, what they were made with."""
    lines = [
        "Results: results/table*.csv (.md, .tex, .html), results/figure*.png (.pdf, .csv); all beside them.",
        "Every answer: open results/explorer/index.html in a browser.",
        f"Dataset: {config['dataset']['path']}. Models: {describe_models(config['models'])}.",
    ]
    return "\n".join([*lines, *filter(None, [explain_models(config["models"])])])

"""What the rules need of the config: the arms, and for each stage the params that change its result."""

import math
import os
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from lmev2.agent.spec import agent_spec
from lmev2.configuration import Arm, ConfigError, arms, keep_order, resolve
from lmev2.ingest.agentlab.runs import Run, content_digest, find_runs, watched_files
from lmev2.ingest.coverage import FILE as COVERAGE
from lmev2.ingest.source import AGENTLAB, open_source
from lmev2.llm.embedded.provider import ENGINES
from lmev2.llm.models import ROLES, model_of
from lmev2.memory.oracle_questions import TABLE as ORACLE_TABLE
from lmev2.memory.paper_mode import TABLE
from lmev2.memory.registry import (
    AGENT,
    MethodClassError,
    code_of,
    file_of_class,
    memory_class,
    needs_of,
    options_of,
)
from lmev2.official.importing.plan import ImportedArm, imported_arms
from lmev2.prompts import prompt_params
from lmev2.provenance import code_digest, file_sha256
from lmev2.report.paper import RELEASED_QUESTIONS_SHA256, paper_file
from lmev2.tokenizer import tokenizer_file

# Parts of the package that carry calls and files but decide no result of a memory method.
INFRASTRUCTURE = (
    *("llm", "money", "prompts"),
    *("errors.py", "journal.py", "provenance.py", "records.py", "store.py"),
)

# What every script has around its one call, and the engines behind the door: their versions are part of the
# models in the params, so that an edited engine reruns the stages that ask it, and no other.
CARRIERS = ("job.py", *(f"llm/embedded/{module}" for _, module in ENGINES.values()))

# What the label of an arm ends with that sees more of a question than the privacy rule allows.
UNSAFE = " (not leaderboard-safe)"

# Jobs of a stage that share a role's requests in flight; more of them wait for one to end.
JOBS_AT_ONCE = 4


class Flow:
    """The experiment that a config describes, as the Snakefile sees it.

    Args:
        config: the config as Snakemake merged it; checked and completed in place.
        root: folder of the Snakefile.

    Raises:
        ConfigError: the config has faults.
    """

    def __init__(self, config: dict[str, Any], root: str | Path) -> None:
        root = Path(root)
        base = yaml.safe_load((root / "config" / "config.yaml").read_text(encoding="utf-8"))
        keep_order(config, base)
        resolve(config, root / "config" / "config.schema.yaml")
        self.config = config
        self.scripts = root / "workflow" / "scripts"
        self.dataset = Path(config["dataset"]["path"])
        self.tiers: list[str] = config["tiers"]
        self.arms = {arm.name: arm for arm in arms(config)}
        self.memories = self._memories()
        self.notices = self._leave_out_pilots()
        self.notices += [
            f"{name} is not set: what needs that key will stop"
            for name in self.key_variables
            if name not in os.environ
        ]
        if config["dataset"]["path"] != base["dataset"]["path"] and config["domains"] == base.get("domains"):
            self.notices.append(
                "domains: the reader is told of the default dataset's; describe yours (config/README.md)"
            )
        self.imported = self._imported()
        self.tokenizer = self._tokenizer()

    def _imported(self) -> dict[str, ImportedArm]:
        """The arms whose tables come from official runs, by name."""
        faults: list[str] = []
        found = imported_arms(self.config["official_runs"], self.tiers, self.config["methods"], faults)
        if faults:
            raise ConfigError.listing(faults)
        return found

    def dataset_files(self, *names: str) -> list[str]:
        """Those of the dataset's files that are there; ingest names the missing ones itself."""
        return [str(path) for name in names if (path := self.dataset / name).is_file()]

    @property
    def assembles(self) -> bool:
        """Whether haystacks are made from the evidence labels."""
        return self.config["haystack"]["mode"] == "assemble"

    @property
    def given_tiers(self) -> list[str]:
        """The tiers whose haystacks are the dataset's own files."""
        return [] if self.assembles else self.tiers

    @property
    def haystack(self) -> dict[str, Any]:
        """How the haystacks of the run's tiers are made; nothing where they are the dataset's own."""
        section = self.config["haystack"]
        if not self.assembles:
            return {}
        return {
            "seed": section["seed"],
            "tiers": {tier: section["tiers"][tier] for tier in self.tiers},
            "core": section["core"],
        }

    def code(self, rule: str, *more: Path) -> str:
        """Digest of the rule's script and all that it imports of this project, and of `more` files."""
        return code_digest(self.scripts / f"{rule}.py", *more, leave_out=CARRIERS)

    def models(self, *roles: str, sampling: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What results depend on of the models of `roles`."""
        try:
            return {
                role: model_of(role, self.config, (sampling or {}).get(role)).identity() for role in roles
            }
        except ValueError as error:
            raise ConfigError(str(error)) from error

    @property
    def total_slots(self) -> dict[str, int]:
        """Snakemake resource -> requests in flight to a role's endpoint over all jobs."""
        models = self.config["models"]
        return {f"{role}_slots": models[role]["limits"]["concurrency"] for role in (*ROLES, AGENT)}

    def slots(self, role: str, jobs: int = 1) -> int:
        """How many of them one of `jobs` equal jobs asks for; none for an embedded engine."""
        if self.config["models"][role]["provider"] == "embedded":
            return 0
        return math.ceil(self.total_slots[f"{role}_slots"] / min(jobs, JOBS_AT_ONCE))

    def query_slots(self, name: str, role: str) -> int:
        """Those of an arm's query job: one for each of its queries that run side by side."""
        if role not in self.memories[name][1]["roles"]:
            return 0
        return min(self.slots(role), self.arms[name].concurrency)

    @property
    def key_variables(self) -> list[str]:
        """Environment variables that hold the keys of the run; a replay needs none."""
        if self.config["journal"]["replay"]:
            return []
        agents = any(map(self.runs_agent, self.arms))
        remote = [
            model
            for role, model in self.config["models"].items()
            if model["provider"] != "embedded" and (role != AGENT or agents)
        ]
        return sorted({model["api_key_env"] for model in remote if model["api_key_env"]})

    def prompts(self, *stems: str) -> dict[str, Any]:
        """The prompt templates whose names begin with one of `stems`."""
        return prompt_params(stems, self.config["prompts"])

    def _tokenizer(self) -> dict[str, Any]:
        """How the reader's context is counted; a tokenizer file counts by its content."""
        section = self.config["read"]["tokenizer"]
        path = tokenizer_file(section["name"])
        return {**section, "sha256": file_sha256(path)} if path else section

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """How texts become vectors; how many vectors make a score is the search's business."""
        return {
            key: value for key, value in self.config["insert"]["embedding"].items() if key != "best_chunks"
        }

    def pools(self, name: str) -> tuple[str, ...]:
        """The shared pools that an arm reads."""
        return self.memories[name][1]["pools"]

    def private_tables(self, name: str) -> tuple[str, ...]:
        """Tables that an arm reads although the privacy rule keeps them from methods (`mode: paper`)."""
        return self.memories[name][1]["private_tables"]

    @property
    def judges(self) -> list[str]:
        """The model roles that judge."""
        return [role for role in ("judge", "second_judge") if role in self.config["models"]]

    @property
    def asks_again(self) -> bool:
        """Whether verdicts are asked beside those of record, to see how far the judge can be relied on."""
        return self.config["judge"]["repeats"] > 1 or len(self.judges) > 1

    @property
    def has_labels(self) -> bool:
        """Whether the dataset comes with evidence labels."""
        return bool(self.dataset_files(COVERAGE))

    @property
    def pilots(self) -> list[str]:
        """Methods that read the evidence labels and are asked the non-abstention questions only."""
        return sorted({arm.id for name, arm in self.arms.items() if self.reads_labels(name)})

    def reads_labels(self, name: str) -> bool:
        """Whether an arm is a pilot study: it reads the evidence labels and competes with no method."""
        return ORACLE_TABLE in self.private_tables(name)

    def answers_itself(self, name: str) -> bool:
        """Whether an arm is a pilot study whose agent answers without the reader."""
        return getattr(memory_class(self.arms[name].reference), "answers", False)

    def query(self, name: str) -> dict[str, Any]:
        """Params of the query stage of one arm."""
        arm, (options, needs) = self.arms[name], self.memories[name]
        file = file_of_class(arm.reference)
        return {
            "method": {"id": arm.id, "operating_point": arm.operating_point, "class": arm.reference},
            "options": options,
            "pools": list(needs["pools"]),
            "leaderboard_safe": not needs["private_tables"],
            "models": self.models(*(role for role in needs["roles"] if role != AGENT), sampling=arm.sampling),
            "agent": self.agent if AGENT in needs["roles"] else {},
            "prompts": self.prompts(*needs["prompts"]) if needs["prompts"] else {},
            "sampling": {role: dict(values) for role, values in arm.sampling.items()},
            # The code that a finished query depends on; how calls are journaled is not part of it.
            "method_code": code_digest(file, leave_out=INFRASTRUCTURE)
            + code_of(memory_class(arm.reference), options),
            "code": self.code("query_memory", file),
        }

    @cached_property
    def agent(self) -> dict[str, Any]:
        """What results depend on of the coding agent."""
        try:
            return agent_spec(self.config).identity()
        except ValueError as error:
            raise ConfigError(str(error)) from error

    def runs_agent(self, name: str) -> bool:
        """Whether an arm's queries run a coding agent, and so need the trajectories' files."""
        return AGENT in self.memories[name][1]["roles"]

    def _memories(self) -> dict[str, tuple[dict[str, Any], dict[str, tuple[str, ...]]]]:
        """Each arm's complete options and what its class needs."""
        found, faults = {}, []
        for name, arm in self.arms.items():
            try:
                cls = memory_class(arm.reference)
                options = options_of(cls, arm.options)
                found[name] = options, needs_of(cls, options)
            except MethodClassError as error:
                faults.append(f"{_place(arm)}: {error}")
        if faults:
            raise ConfigError.listing(faults)
        return found

    def _leave_out_pilots(self) -> list[str]:
        """Take out the pilot studies that cannot be made here; says which and why."""
        without = {}
        for name in filter(self.reads_labels, self.arms):
            if not self.has_labels:
                without[name] = f"{self.dataset} has no evidence labels ({COVERAGE})"
            elif self.answers_itself(name) and self.config["models"][AGENT]["provider"] == "embedded":
                without[name] = "the embedded agent finds evidence but answers no question (models.agent)"
        for name in without:
            del self.arms[name]
        if without and not self.arms:
            raise ConfigError(f"methods: only pilot studies, and {next(iter(without.values()))}")
        return [f"{name} is left out: {reason}" for name, reason in without.items()]

    @cached_property
    def all_pools(self) -> list[str]:
        """The shared pools that any arm reads."""
        return sorted({pool for name in self.arms for pool in self.pools(name)})

    @property
    def dataset_section(self) -> dict[str, str]:
        """Which dataset: its path and kind."""
        return {key: self.config["dataset"][key] for key in ("path", "source")}

    @property
    def ingest_section(self) -> dict[str, Any]:
        """`dataset_section` with all else that decides the tables of the dataset."""
        section, more = self.config["dataset"], {}
        if section["source"] == AGENTLAB:
            more = {"agentlab": section["agentlab"], "runs": content_digest(self.runs)}
        if section["goal_rewrites"]:
            more["goal_rewrites"] = section["goal_rewrites"]
        return {**self.dataset_section, **more}

    @cached_property
    def runs(self) -> list[Run]:
        """The experiments whose results are the dataset (`dataset.source: agentlab`)."""
        return find_runs(self.dataset).runs

    @property
    def trajectory_files(self) -> list[str]:
        """The files, in whatever form the trajectories have, that ingest reads and Snakemake watches."""
        section = self.config["dataset"]
        rewrites = [path for path in [section["goal_rewrites"]] if path and Path(path).is_file()]
        if section["source"] == AGENTLAB:
            return [*watched_files(self.runs), *rewrites]
        return [*self.dataset_files("trajectories.jsonl"), *rewrites]

    @property
    def ingest_reports(self) -> dict[str, str]:
        """The reports of ingest by name of an output; none for a dataset in the released form as it is."""
        reports = open_source(self.config["dataset"]).reports
        return {Path(name).stem: f"results/ingest/{name}" for name in reports}

    @property
    def dataset_name(self) -> str:
        """How tables and figures name the dataset."""
        return self.config["dataset"]["name"] or self.dataset.name

    @property
    def model_names(self) -> dict[str, dict[str, str]]:
        """How tables and figures name the models."""
        models = {
            role: {key: model[key] for key in ("provider", "model")}
            for role, model in self.config["models"].items()
            if role != AGENT or any(map(self.runs_agent, self.arms))
        }
        if AGENT in models:
            models[AGENT]["model"] = agent_spec(self.config).name.partition(":")[2]
        return models

    @cached_property
    def is_released(self) -> bool:
        """Whether the questions are those of the released dataset, so that the paper's figures compare."""
        questions = self.dataset / "questions.jsonl"
        return questions.is_file() and file_sha256(questions) == RELEASED_QUESTIONS_SHA256

    @staticmethod
    def paper(*names: str) -> dict[str, str]:
        """Digests of data files with the paper's figures, by which a rule reruns when one is mended."""
        return {name: file_sha256(paper_file(name)) for name in names}

    @property
    def source(self) -> dict[str, Any]:
        """What tables and figures say that their numbers were made with."""
        source = {"dataset": self.dataset_name, "models": self.model_names, "released": self.is_released}
        imported = [{**arm.row(), "models": arm.models} for arm in self.imported.values()]
        return {**source, **({"imported": imported} if imported else {})}

    def stats(self, *keys: str) -> dict[str, Any]:
        """Those keys of the config's `stats` section; all of them by default."""
        section = self.config["stats"]
        return {key: section[key] for key in keys or section}

    @property
    def saved_config(self) -> dict[str, Any]:
        """The resolved config without what never changes a result: endpoints, limits, the journal's place."""
        without = ("limits", "base_url", "api_key_env")
        models = {
            role: {key: value for key, value in model.items() if key not in without}
            for role, model in self.config["models"].items()
        }
        methods = {
            id_: {key: value for key, value in method.items() if key not in ("concurrency", "shards")}
            for id_, method in self.config["methods"].items()
        }
        rest = {key: value for key, value in self.config.items() if key not in ("journal", "budget")}
        return {**rest, "models": models, "methods": methods}

    def methods(self, names: Collection[str] | None = None) -> list[dict[str, Any]]:
        """The arms (or those of `names`) as statistics and report need them, in the config's order.

        All arms include those of official runs, which come last.
        """
        imported = [arm.row() for arm in self.imported.values()] if names is None else []
        return [
            {
                "id": arm.id,
                "operating_point": arm.operating_point,
                "label": arm.label + UNSAFE * (TABLE in self.private_tables(arm.name)),
                "family": arm.family,
                "ablation_of": arm.ablation_of,
                "labels": self.reads_labels(arm.name),
                "answers": self.answers_itself(arm.name),
                "class": arm.reference,
            }
            for arm in self.arms.values()
            if names is None or arm.name in names
        ] + imported


def _place(arm: Arm) -> str:
    point = f".operating_points.{arm.operating_point}" if arm.operating_point else ""
    return f"methods.{arm.id}{point}"

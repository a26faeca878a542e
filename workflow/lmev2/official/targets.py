"""What the rules of exports and imports need of the config (`workflow/rules/official.smk`)."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lmev2.configuration import ConfigError
from lmev2.flow import Flow
from lmev2.memory.registry import AGENT, file_of_class
from lmev2.official.run_folder import DEFAULT_POINT, DOMAINS, RUN_FILES, run_name, safe_arm_name


class Official:
    """Exports and imports of an experiment, as input functions and params of rules.

    Args:
        flow: the experiment.

    Raises:
        ConfigError: the config names a method to export that the run does not have.
    """

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.section = flow.config["official_export"]
        self.methods = list(dict.fromkeys(arm.id for arm in flow.arms.values()))
        # An arm's name in the names of folders -> its name.
        self.arms = {safe_arm_name(name): name for name in flow.arms}
        self.packages = self._packages()

    def _packages(self) -> list[str]:
        """The methods that `leaderboard` packs: those named, else all but ablations and pilot studies."""
        faults = [
            f"official_export.{key}: {id_!r} is no method of this run; there is {', '.join(self.methods)}"
            for key in ("methods", "descriptions", "code_files")
            for id_ in self.section[key]
            if id_ not in self.methods
        ]
        if faults:
            raise ConfigError.listing(faults)
        arms = self.flow.arms
        left_out = {arm.id for name, arm in arms.items() if arm.ablation_of or self.flow.reads_labels(name)}
        return self.section["methods"] or [id_ for id_ in self.methods if id_ not in left_out]

    # -- run folders -------------------------------------------------------------------------------

    def tables(self, wildcards: Any) -> dict[str, str]:
        """The stage files of the arm that a run folder is made from."""
        name = self.arms[wildcards.run]
        stages = ("query", "read", "judge")
        return {stage: f"results/{stage}/{name}/{wildcards.tier}.parquet" for stage in stages}

    def dataset_files(self, wildcards: Any) -> list[str]:
        """The dataset's own files that a run is compared with."""
        return self.flow.dataset_files("questions.jsonl", f"haystacks/lme_v2_{wildcards.tier}.json")

    def run_params(self, wildcards: Any) -> dict[str, Any]:
        """What a run folder says of its arm."""
        return self.describe(self.arms[wildcards.run])

    def describe(self, name: str) -> dict[str, Any]:
        """All that an official run says of an arm, and by which it is fit for the leaderboard or not.

        `chain` are the models whose output is in its contexts or scores: reader, judge, those that its class
        may ask, and those behind the shared pools that it reads.
        """
        flow, arm = self.flow, self.flow.arms[name]
        options, needs = flow.memories[name]
        roles = {"reader", "judge", *needs["roles"]}
        if needs["pools"]:
            roles.add("embedding")
        if {"notes", "events"} & set(needs["pools"]):
            roles.add("controller")
        chain = flow.models(*sorted(roles - {AGENT}), sampling=arm.sampling)
        if AGENT in roles:
            agent = flow.config["models"][AGENT]
            chain[AGENT] = {key: agent[key] for key in ("provider", "model", "version")}
        return {
            "name": safe_arm_name(name),
            "id": arm.id,
            "operating_point": arm.operating_point,
            "class": arm.reference,
            "options": options,
            "chain": chain,
            "leaderboard_safe": not needs["private_tables"],
            "labels": flow.reads_labels(name),
            "answers": flow.answers_itself(name),
            "runs_agent": flow.runs_agent(name),
            "repeats": flow.config["repeats"],
            "shards": arm.shards,
            "rewritten": bool(flow.config["dataset"]["goal_rewrites"]),
            "context_tokens": flow.config["read"]["context_tokens"],
            "domains": flow.config["domains"],
            "prompts": flow.prompts("reader."),
        }

    # -- packages ----------------------------------------------------------------------------------

    def package_runs(self, wildcards: Any) -> dict[str, dict[str, str]]:
        """Operating point -> domain -> the run folder that goes into a package."""
        return {
            arm.operating_point or DEFAULT_POINT: {
                domain: f"results/official/{run_name(safe_arm_name(name), domain, wildcards.tier)}"
                for domain in DOMAINS
            }
            for name, arm in self.flow.arms.items()
            if arm.id == wildcards.package
        }

    def package_files(self, wildcards: Any) -> list[str]:
        """Every file of those run folders."""
        return [
            f"{folder}/{name}"
            for domains in self.package_runs(wildcards).values()
            for folder in domains.values()
            for name in RUN_FILES
        ]

    def code_file(self, wildcards: Any) -> str:
        """The one code file of a package: the config's, else the file of the method's class."""
        given = self.section["code_files"].get(wildcards.package)
        return given or str(file_of_class(self.flow.arms[wildcards.package].reference))

    def description(self, wildcards: Any) -> str:
        """SYSTEM_DESCRIPTION.md: the user's file, else what the config says of the method.

        Raises:
            ConfigError: the user's file cannot be read.
        """
        method = wildcards.package
        given = self.section["descriptions"].get(method)
        if given is None:
            return "\n".join(self._description(method)) + "\n"
        try:
            return Path(given).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"official_export.descriptions.{method}: {given}: {error}") from error

    def _description(self, method: str) -> Iterator[str]:
        about = self.describe(method)
        yield from (f"# {self.flow.arms[method].label}", "", f"Memory class: `{about['class']}`.", "")
        yield from ("Models:", "", *map(_model, sorted(about["chain"].items())), "")
        yield from ("Options:", "", "```yaml", yaml.safe_dump(about["options"]).strip(), "```")
        for arm in self.flow.arms.values():
            if arm.id == method and arm.operating_point:
                changed = {
                    "options": {**arm.options},
                    "sampling": {k: {**v} for k, v in arm.sampling.items()},
                }
                text = yaml.safe_dump(changed, default_flow_style=True, width=1000).strip()
                yield from ("", f"Operating point `{arm.operating_point}`: `{text}`")

    # -- imports -----------------------------------------------------------------------------------

    def imported_files(self, stage: str) -> list[str]:
        """The files of a stage over all imported arms, each in the tiers that it has runs of."""
        return [
            f"results/{stage}/{name}/{tier}.parquet"
            for name, arm in self.flow.imported.items()
            for tier in arm.runs
        ]

    def tiers(self, wildcards: Any) -> list[str]:
        """The tiers of an arm: all, but for an imported one."""
        arm = self.flow.imported.get(wildcards.method)
        return list(arm.runs) if arm else self.flow.tiers

    def arm_files(self, stage: str) -> Callable[[Any], list[str]]:
        """An input function: the files of a stage over the tiers of one arm, imported or not."""
        return lambda wildcards: [
            f"results/{stage}/{wildcards.method}/{tier}.parquet" for tier in self.tiers(wildcards)
        ]

    def import_files(self, wildcards: Any) -> list[str]:
        """The files that the import of an arm and tier reads."""
        runs = self.flow.imported[wildcards.method].runs[wildcards.tier]
        return list(dict.fromkeys(file for run in runs for file in run.files))

    def import_params(self, wildcards: Any) -> dict[str, Any]:
        """The imported arm, and its runs of the tier."""
        arm = self.flow.imported[wildcards.method]
        return {
            "method": arm.id,
            "operating_point": arm.operating_point,
            "tier": wildcards.tier,
            "label": arm.label,
            **arm.models,
            "partial": arm.partial,
            "runs": [run.params for run in arm.runs[wildcards.tier]],
        }


def _model(entry: tuple[str, Mapping[str, Any]]) -> str:
    role, model = entry
    return f"- {role}: {model['provider']}:{model['model']}"

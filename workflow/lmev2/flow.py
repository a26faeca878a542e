"""What the rules need of the config: the arms, and for each stage the params that change its result."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from lmev2.configuration import ConfigError, arms, resolve
from lmev2.llm.models import model_of
from lmev2.memory.registry import memory_class, needs_of
from lmev2.prompts import prompt_params
from lmev2.provenance import code_digest, file_of_class

# Parts of the package that carry calls and files but decide no result of a memory method.
INFRASTRUCTURE = ("llm", "journal.py", "prompts", "provenance.py", "records.py", "store.py", "errors.py")


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
        resolve(config, root / "config" / "config.schema.yaml")
        self.config = config
        self.scripts = root / "workflow" / "scripts"
        self.dataset = Path(config["dataset"]["path"])
        self.tiers: list[str] = config["tiers"]
        self.arms = {arm.name: arm for arm in arms(config)}

    def dataset_files(self, *names: str) -> list[str]:
        """Those of the dataset's files that are there; ingest names the missing ones itself."""
        return [str(path) for name in names if (path := self.dataset / name).is_file()]

    def code(self, rule: str, *more: Path) -> str:
        """Digest of the rule's script and all that it imports of this project, and of `more` files."""
        return code_digest(self.scripts / f"{rule}.py", *more)

    def models(self, *roles: str, sampling: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What results depend on of the models of `roles`."""
        try:
            return {
                role: model_of(role, self.config, (sampling or {}).get(role)).identity() for role in roles
            }
        except ValueError as error:
            raise ConfigError(str(error)) from error

    def prompts(self, *stems: str) -> dict[str, Any]:
        """The prompt templates whose names begin with one of `stems`."""
        return prompt_params(stems, self.config["prompts"])

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """How texts become vectors; how many vectors make a score is the search's business."""
        return {
            key: value for key, value in self.config["insert"]["embedding"].items() if key != "best_chunks"
        }

    def pools(self, name: str) -> tuple[str, ...]:
        """The shared pools that an arm reads."""
        return self._needs(name)["pools"]

    def query(self, name: str) -> dict[str, Any]:
        """Params of the query stage of one arm."""
        arm, needs = self.arms[name], self._needs(name)
        file = file_of_class(arm.reference)
        return {
            "method": {"id": arm.id, "operating_point": arm.operating_point, "class": arm.reference},
            "options": dict(arm.options),
            "pools": list(needs["pools"]),
            "models": self.models(*needs["roles"], sampling=arm.sampling),
            "prompts": self.prompts(*needs["prompts"]) if needs["prompts"] else {},
            "sampling": {role: dict(values) for role, values in arm.sampling.items()},
            # The code that a finished query depends on; how calls are journaled is not part of it.
            "method_code": code_digest(file, leave_out=INFRASTRUCTURE),
            "code": self.code("query_memory", file),
        }

    def _needs(self, name: str) -> dict[str, tuple[str, ...]]:
        arm = self.arms[name]
        try:
            return needs_of(memory_class(arm.reference), arm.options)
        except ValueError as error:
            raise ConfigError(f"methods.{arm.id}: {error}") from error

    @cached_property
    def all_pools(self) -> list[str]:
        """The shared pools that any arm reads."""
        return sorted({pool for name in self.arms for pool in self.pools(name)})

    @property
    def dataset_section(self) -> dict[str, str]:
        """Which dataset: its path and kind."""
        return {key: self.config["dataset"][key] for key in ("path", "source")}

    @property
    def dataset_name(self) -> str:
        """How tables and figures name the dataset."""
        return self.config["dataset"]["name"] or self.dataset.name

    @property
    def model_names(self) -> dict[str, dict[str, str]]:
        """How tables and figures name the models."""
        models = self.config["models"]
        return {role: {key: model[key] for key in ("provider", "model")} for role, model in models.items()}

    @property
    def saved_config(self) -> dict[str, Any]:
        """The resolved config without what never changes a result: endpoints, limits, the journal's place."""
        without = ("limits", "base_url", "api_key_env")
        models = {
            role: {key: value for key, value in model.items() if key not in without}
            for role, model in self.config["models"].items()
        }
        return {**{key: value for key, value in self.config.items() if key != "journal"}, "models": models}

    def methods(self) -> list[dict[str, Any]]:
        """The arms as statistics and report need them, in the config's order."""
        return [
            {
                "id": arm.id,
                "operating_point": arm.operating_point,
                "label": arm.label,
                "family": arm.family,
                "ablation_of": arm.ablation_of,
            }
            for arm in self.arms.values()
        ]

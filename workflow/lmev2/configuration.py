"""The config: checked against its closed schema, defaults filled in, and cut into what each stage needs."""

import difflib
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from lmev2.errors import UserError

Schema = Mapping[str, Any]


class ConfigError(UserError):
    """The config is wrong; the message lists every fault with its key and the remedy."""


@dataclass(frozen=True)
class Arm:
    """One method at one operating point: a row of the results, a wildcard value of the rules."""

    id: str
    operating_point: str
    reference: str  # class
    options: Mapping[str, Any]
    label: str
    family: str
    ablation_of: str | None
    concurrency: int
    sampling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # role -> values that win

    @property
    def name(self) -> str:
        """`id` at the default operating point, else `id@point`: how files are named."""
        return f"{self.id}@{self.operating_point}" if self.operating_point else self.id


def resolve(config: MutableMapping[str, Any], schema_file: str | Path) -> None:
    """Check `config` and fill in its defaults, in place.

    Raises:
        ConfigError: with every fault found, each naming its key.
    """
    schema = yaml.safe_load(Path(schema_file).read_text(encoding="utf-8"))
    _fill_defaults(config, schema, schema)
    validator = jsonschema.Draft202012Validator(schema)
    faults = [line for error in validator.iter_errors(config) for line in _explain(error, schema)]
    faults += _beyond_schema(config) if not faults else []
    if faults:
        raise ConfigError(
            "the config has {} fault{}:\n".format(len(faults), "s" * (len(faults) > 1))
            + "\n".join(f"  {number}. {fault}" for number, fault in enumerate(sorted(faults), 1))
        )


def arms(config: Mapping[str, Any]) -> list[Arm]:
    """All enabled arms in the order of the config, each method's default operating point first."""
    found = []
    for id_, method in config["methods"].items():
        if not method["enabled"]:
            continue
        for point, changes in {"": {"options": {}, "sampling": {}}, **method["operating_points"]}.items():
            found.append(
                Arm(
                    id=id_,
                    operating_point=point,
                    reference=method["class"],
                    options={**method["options"], **changes["options"]},
                    label=method["label"],
                    family=method["family"],
                    ablation_of=method["ablation_of"],
                    concurrency=method["concurrency"],
                    sampling=changes["sampling"],
                )
            )
    return found


SCHEMA_FILE = Path(__file__).parents[2] / "config" / "config.schema.yaml"


def config_for_models(file: str | Path | None) -> dict[str, Any]:
    """A resolved config of which only models, prompts, prices, retry_statuses and journal matter.

    For commands that ask a model but run no experiment: roles that `file` does not name are embedded.

    Args:
        file: a config file, whole or in part; None for all defaults.

    Raises:
        ConfigError: the file has faults.
    """
    given = yaml.safe_load(Path(file).read_text(encoding="utf-8")) if file else {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"{file}: a config is a mapping of sections, not {type(given).__name__}")
    chat = {"provider": "embedded", "model": "extractive"}
    models = {role: dict(chat) for role in ("reader", "controller", "judge")}
    models["embedding"] = {"provider": "embedded", "model": "wordllama-256"}
    nothing = {"none": {"class": "lmev2.memory.no_retrieval:NoRetrieval", "label": "none", "family": "none"}}
    config = {"dataset": {"path": "."}, "tiers": ["none"], "methods": nothing, **given}
    config["models"] = {**models, **(given.get("models") or {})}
    resolve(config, SCHEMA_FILE)
    return config


def _fill_defaults(value: Any, schema: Schema, root: Schema) -> None:
    schema = _dereferenced(schema, root)
    if not isinstance(value, MutableMapping):
        return
    for key, part in schema.get("properties", {}).items():
        part = _dereferenced(part, root)
        if key not in value and "default" in part:
            default = part["default"]
            value[key] = default.copy() if isinstance(default, dict | list) else default
        if key in value:
            _fill_defaults(value[key], part, root)
    further = schema.get("additionalProperties")
    if isinstance(further, Mapping):
        for key in value.keys() - schema.get("properties", {}).keys():
            _fill_defaults(value[key], further, root)


def _dereferenced(schema: Schema, root: Schema) -> Schema:
    if "$ref" in schema:
        return root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def _explain(error: jsonschema.ValidationError, root: Schema) -> Iterator[str]:
    place = ".".join(map(str, error.absolute_path)) or "the config"
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        known = error.schema.get("properties", {})
        for key in error.instance.keys() - known.keys():
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]!r}?" if near else f"it may have {', '.join(sorted(known))}"
            yield f"{'' if place == 'the config' else place + '.'}{key}: unknown key; {hint}"
    elif error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                yield f"{'' if place == 'the config' else place + '.'}{key}: missing"
    elif error.validator == "pattern":
        yield f"{place}: {error.instance!r} does not match {error.validator_value}"
    elif error.validator == "enum":
        yield f"{place}: {error.instance!r} is not one of {', '.join(map(repr, error.validator_value))}"
    else:
        yield f"{place}: {error.message if len(error.message) < 300 else error.message[:300] + '…'}"


def _beyond_schema(config: Mapping[str, Any]) -> Iterator[str]:
    """Faults that a schema cannot state."""
    methods = config["methods"]
    if not any(method["enabled"] for method in methods.values()):
        yield "methods: none is enabled"
    for id_, method in methods.items():
        parent = method["ablation_of"]
        if parent is not None and parent not in methods:
            near = difflib.get_close_matches(parent, methods, n=1)
            yield f"methods.{id_}.ablation_of: there is no method {parent!r}" + (
                f"; did you mean {near[0]!r}?" if near else ""
            )
    for role, model in config["models"].items():
        if model["provider"] == "openai":
            yield (
                f"models.{role}.provider: 'openai' is not available in this version; "
                "use 'embedded' (docs/embedded-models.md)"
            )

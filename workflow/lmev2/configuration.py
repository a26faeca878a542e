"""The config: checked against its closed schema, defaults filled in, and cut into what each stage needs."""

import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import yaml

from lmev2.errors import UserError
from lmev2.prompts import template_names

Schema = Mapping[str, Any]


class ConfigError(UserError):
    """The config is wrong; the message lists every fault with its key and the remedy."""

    @classmethod
    def listing(cls, faults: Collection[str]) -> "ConfigError":
        """The error that lists `faults`, each once, in order of their keys."""
        faults = sorted(set(faults))
        lines = [f"  {number}. {fault}" for number, fault in enumerate(faults, 1)]
        return cls("\n".join([f"the config has {len(faults)} fault{'s' * (len(faults) > 1)}:", *lines]))


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
    shards: int = 1  # jobs that share its questions

    @property
    def name(self) -> str:
        """`id` at the default operating point, else `id@point`: how files are named."""
        return f"{self.id}@{self.operating_point}" if self.operating_point else self.id


def keep_order(config: MutableMapping[str, Any], base: Mapping[str, Any]) -> None:
    """Order the keys of `config` as in `base`, and further keys after them, in place and at every depth.

    Snakemake puts the keys of an added config file first. Without this, a file that changes one option of
    a method would move its row in every table, and a changed endpoint would rerun the report.
    """
    for key in [*(key for key in base if key in config), *(key for key in config if key not in base)]:
        config[key] = value = config.pop(key)
        if isinstance(value, MutableMapping) and isinstance(base.get(key), Mapping):
            keep_order(value, base[key])


def resolve(config: MutableMapping[str, Any], schema_file: str | Path) -> None:
    """Check `config` and fill in its defaults, in place.

    Raises:
        ConfigError: with every fault found, each naming its key.
    """
    schema = yaml.safe_load(Path(schema_file).read_text(encoding="utf-8"))
    _fill_defaults(config, schema, schema)
    validator = jsonschema.Draft202012Validator(schema)
    errors = list(validator.iter_errors(config))
    faults = [line for error in errors for line in _explain(error)]
    faults += [*_unquoted(config), *_boundless(config)]
    # What a schema cannot state is checked in the sections that it finds sound.
    sound = config.keys() - {error.absolute_path[0] for error in errors if error.absolute_path}
    faults += _beyond_schema({key: config[key] for key in sound})
    if faults:
        raise ConfigError.listing(faults)


# Rows of Table 2; pilot studies (Figure 4) before them.
PAPER_ORDER = (
    "oracle_trajectories",
    "oracle_slices_notes",
    "oracle_files_agent",
    "no_retrieval",
    "rag_query_to_slice",
    "rag_query_to_slice_notes",
    "agentrunbook_r",
    "agentrunbook_r_no_slices",
    "agentrunbook_r_no_events",
    "agentrunbook_r_no_notes",
    "codex",
    "agentrunbook_c",
    "agentrunbook_c_no_workflow",
    "agentrunbook_c_no_manifests",
    "agentrunbook_c_no_helper",
)


def arms(config: Mapping[str, Any]) -> list[Arm]:
    """All enabled arms, each method's default operating point first.

    The paper's methods come first, in its order, whatever order overlaid config files give; then
    the user's own, in the config's.
    """
    found = []
    place = {id_: number for number, id_ in enumerate(PAPER_ORDER)}
    for id_, method in sorted(config["methods"].items(), key=lambda entry: place.get(entry[0], len(place))):
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
                    shards=method["shards"],
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
        ConfigError: the file cannot be read or has faults.
    """
    try:
        given = yaml.safe_load(Path(file).read_text(encoding="utf-8")) if file else {}
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{file}: not YAML text: {error}") from error
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
        return {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}  # a default may stand beside
    return schema


def _explain(error: jsonschema.ValidationError) -> Iterator[str]:
    """One line a fault: the key, what is wrong with it, what it should be."""
    place = ".".join(map(str, error.absolute_path))
    value, expected = f"{error.instance!r:.200}", error.validator_value
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        for key in error.instance.keys() - known.keys():
            hint = _hint(str(key), known) or f"; there is {', '.join(sorted(known))}"
            yield f"{_join(place, key)}: unknown key{hint}"
    elif error.validator == "required":
        for key in expected:
            if key not in error.instance:
                yield f"{_join(place, key)}: missing"
    elif "propertyNames" in error.absolute_schema_path:
        yield f"{_join(place, error.instance)}: the name should be {error.schema['description']}"
    else:
        yield f"{place or 'the config'}: {value} {_expectation(error)}"


def _expectation(error: jsonschema.ValidationError) -> str:
    expected = error.validator_value
    match error.validator:
        case "type":
            kinds = [expected] if isinstance(expected, str) else expected
            return f"should be {' or '.join(_KINDS[kind] for kind in kinds)}"
        case "pattern":
            return f"should be {error.schema['description']}"
        case "enum":
            return f"is not one of {', '.join(map(repr, expected))}{_hint(str(error.instance), expected)}"
        case "minimum":
            return f"should be at least {expected}"
        case "maximum":
            return f"should be at most {expected}"
        case "exclusiveMinimum":
            return f"should be more than {expected}"
        case "exclusiveMaximum":
            return f"should be less than {expected}"
        case "minLength" | "minItems" | "minProperties":
            return "should not be empty"
        case "uniqueItems":
            return "has an entry twice"
    raise AssertionError(f"config.schema.yaml uses {error.validator}, for which there is no message")


_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping of keys to values",
    "string": "a text",
}


def _hint(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _join(place: str, key: Any) -> str:
    return f"{place}.{key}" if place else str(key)


def _unquoted(value: Any, place: str = "") -> Iterator[str]:
    """Keys that YAML takes for something else than text: numbers, dates, yes and no."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield f"{_join(place, key)}: YAML reads this key as {type(key).__name__}; put it in quotes"
            yield from _unquoted(inner, _join(place, key))


def _boundless(value: Any, place: str = "") -> Iterator[str]:
    """Numbers that no bound of the schema stops: `.nan`, and `.inf` where there is no greatest value."""
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{place}: {value} should be a number that ends"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _boundless(inner, _join(place, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _boundless(inner, _join(place, number))


def _beyond_schema(config: Mapping[str, Any]) -> Iterator[str]:
    """Faults that a schema cannot state, in the sections given."""
    methods = config.get("methods", {})
    if methods and not any(method["enabled"] for method in methods.values()):
        yield "methods: none is enabled"
    labels: dict[tuple[str, str | None], str] = {}  # two rows of one name could not be told apart
    for id_, method in methods.items():
        label = method["label"], method["ablation_of"]
        if method["enabled"] and (other := labels.setdefault(label, id_)) != id_:
            yield f"methods.{id_}.label: {label[0]!r} is methods.{other}'s label too; give each its own"
        parent = method["ablation_of"]
        if parent == id_:
            yield f"methods.{id_}.ablation_of: a method is no ablation of itself"
        elif parent is not None and parent not in methods:
            yield f"methods.{id_}.ablation_of: there is no method {parent!r}{_hint(parent, methods)}"
    yield from _haystack_faults(config.get("haystack", {}), config.get("tiers", []))
    templates = template_names()
    for name in config.get("prompts", {}):
        if name not in templates:
            hint = _hint(name, templates) or f"; there is {', '.join(templates)}"
            yield f"prompts.{name}: there is no such template{hint}"
    for role, model in config.get("models", {}).items():
        if model["provider"] in ("openai", "codex", "openai_agents"):
            yield from _endpoint_faults(f"models.{role}", model["base_url"], model["api_key_env"])
        priced = model["provider"] == "embedded" or model["model"] in config.get("prices", {})
        if config.get("budget") is not None and not priced:
            yield (
                f"prices: a budget is set, but {model['model']!r} (models.{role}) has no price; give its "
                "input and output price for a million tokens, 0 for a server of your own"
            )


def _haystack_faults(haystack: Mapping[str, Any], tiers: Collection[str]) -> Iterator[str]:
    """What is wrong with haystacks that are to be assembled."""
    if haystack.get("mode") != "assemble":
        return
    for tier in tiers:
        section = haystack["tiers"].get(tier)
        if section is None:
            yield f"haystack.tiers.{tier}: missing; give the tier a size{_hint(tier, haystack['tiers'])}"
        elif section["least"] is not None and section["least"] > section["size"]:
            yield (
                f"haystack.tiers.{tier}.least: {section['least']} is more than the tier's size, "
                f"{section['size']}"
            )


def _endpoint_faults(place: str, base_url: str | None, api_key_env: str | None) -> Iterator[str]:
    """What is wrong with an endpoint; the values are not repeated, as either may hold a secret."""
    if api_key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", api_key_env):
        yield (
            f"{place}.api_key_env: should be the name of an environment variable, such as OPENAI_API_KEY, "
            "never the key itself"
        )
    if base_url is None:
        if api_key_env is None:
            yield (
                f"{place}: without base_url the model is OpenAI's, which wants a key: name its environment "
                "variable in api_key_env, or give the base_url of your own server, such as "
                "http://localhost:8000/v1"
            )
        return
    if base_url.startswith("file:"):  # lmev2.llm.address
        if base_url == "file:":
            yield f"{place}.base_url: should name the file, such as file:/shared/server.txt"
        return
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield f"{place}.base_url: should be like http://localhost:8000/v1"
    if parts.username or parts.password or parts.query or parts.fragment:
        yield (
            f"{place}.base_url: should hold no user, password or query, as addresses are printed; put the "
            "secret in the environment variable that api_key_env names"
        )

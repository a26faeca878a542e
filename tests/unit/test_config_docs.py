"""config/README.md has every key of the schema with its default, and no other."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# How the document names the keys of a mapping that the user names.
PLACEHOLDERS = {
    "domains": "<domain>",
    "methods": "<id>",
    "operating_points": "<point>",
    "prompts": "<template>",
    "tiers": "<tier>",
    "prices": "<model>",
    "official_runs": "<id>",
    "descriptions": "<id>",
    "code_files": "<id>",
}
# How the document shows that there is no default; values stand in backticks.
REQUIRED, ABSENT = ("required",), ("none",)
ROLES = ("reader", "controller", "judge", "second_judge", "embedding")


def values(schema: Mapping[str, Any], definitions: Mapping[str, Any], place: str = "") -> Iterator[tuple]:
    """Key and default of every value of the schema, sections apart."""
    parts = dict(schema.get("properties", {}))
    if isinstance(further := schema.get("additionalProperties"), Mapping):
        parts[PLACEHOLDERS[place.rpartition(".")[2]]] = further
    for name, part in parts.items():
        if "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
        key = f"{place}.{name}" if place else name
        inner = list(values(part, definitions, key))
        default = REQUIRED if name in schema.get("required", ()) else part.get("default", ABSENT)
        yield from inner or [(key, default)]


@pytest.fixture(scope="module")
def in_schema():
    schema = yaml.safe_load((ROOT / "config" / "config.schema.yaml").read_text(encoding="utf-8"))
    found = dict(values(schema, schema["$defs"]))
    for role in ROLES:  # the document has one row for all roles; what only embedding has is its own
        for key in [key for key in found if key.startswith(f"models.{role}.")]:
            common = key.replace(role, "<role>", 1)
            if role != "embedding" or common in found:
                default = found.pop(key)
                assert found.setdefault(common, default) == default, f"the roles differ in {key}"
    return found


@pytest.fixture(scope="module")
def in_document():
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| (.*) \| (.*?) \|$", text, re.MULTILINE)
    assert len({key for key, *_ in rows}) == len(rows), "a key stands twice"
    return {key: (default, meaning, reruns) for key, default, meaning, reruns in rows}


def test_every_key_of_the_schema_is_in_the_document_and_no_other(in_schema, in_document):
    assert sorted(in_document) == sorted(in_schema)


def test_the_defaults_are_those_of_the_schema(in_schema, in_document):
    for key, default in in_schema.items():
        shown = in_document[key][0]
        if default == "":
            assert shown == "empty", key
        elif default in (REQUIRED, ABSENT):
            assert shown == default[0], key
        else:
            value = default if isinstance(default, str) else json.dumps(default)
            assert shown == f"`{value}`", key


def test_every_key_says_what_a_change_reruns(in_document):
    assert all(reruns for _, _, reruns in in_document.values())


def test_every_choice_is_named(in_schema, in_document):
    schema = yaml.safe_load((ROOT / "config" / "config.schema.yaml").read_text(encoding="utf-8"))
    embedding = schema["properties"]["insert"]["properties"]["embedding"]["properties"]
    for value in embedding["long_text"]["enum"]:
        assert f"`{value}`" in in_document["insert.embedding.long_text"][1]
    for value in schema["properties"]["retry_statuses"]["items"]["enum"]:
        assert f"`{value}`" in in_document["retry_statuses"][1]

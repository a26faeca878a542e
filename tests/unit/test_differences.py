"""docs/differences.md names only settings that there are, and what they may be set to."""

import re

import jsonschema
import pytest
import yaml
from test_config_docs import ROOT, values

from lmev2.memory.registry import memory_class
from lmev2.prompts import template_names

TEXT = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| place"))
]
# A setting stands in backticks, with a value where one value restores the original.
SETTINGS = sorted({setting for row in ROWS for setting in re.findall(r"`([^`]+)`", row[-1])})
ELSEWHERE = {"lmev2 prompts", "paper-bytes.yaml"}


@pytest.fixture(scope="module")
def schema():
    return yaml.safe_load((ROOT / "config" / "config.schema.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def options():
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    classes = [memory_class(method["class"]) for method in config["methods"].values()]
    return {key: value for cls in classes for key, value in getattr(cls, "defaults", {}).items()}


def test_the_tables_are_whole():
    assert len(ROWS) > 40
    assert {len(row) for row in ROWS} == {5}
    assert all(all(row) for row in ROWS)


@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if setting not in ELSEWHERE])
def test_every_setting_exists_and_takes_the_value(setting, schema, options):
    key, _, text = setting.partition(": ")
    value = yaml.safe_load(text) if text else None
    if key.startswith("options."):
        name = key.removeprefix("options.")
        assert name in options
        assert not text or isinstance(value, type(options[name]))
        return
    known = dict(values(schema, schema["$defs"]))
    if key.startswith("prompts.") and "<" not in key:
        assert key.removeprefix("prompts.") in template_names()
        return
    pattern = re.escape(key).replace("<role>", r"\w+")
    found = [name for name in known if re.fullmatch(pattern, name)]
    assert found, f"{key} is no key of the config"
    if text:
        part = schema
        for name in found[0].split("."):
            part = part["properties"][name]
            part = schema["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        jsonschema.validate(value, part)

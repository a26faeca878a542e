import math
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from lmev2.configuration import ConfigError, arms, resolve
from lmev2.flow import Flow

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "config" / "config.schema.yaml"
EMBEDDED = {"provider": "embedded", "model": "extractive"}
SOUND = {
    "dataset": {"path": "data"},
    "tiers": ["small"],
    "models": {
        **{role: dict(EMBEDDED) for role in ("reader", "controller", "judge")},
        "embedding": {"provider": "embedded", "model": "wordllama-256"},
    },
    "methods": {
        "rag": {"class": "lmev2.memory.rag:RagSlices", "label": "RAG", "family": "rag"},
    },
}


def config(changes=None):
    """The sound config, merged with `changes`; a value of None removes its key."""

    def merge(into, more):
        for key, value in more.items():
            if value is None:
                del into[key]
            elif isinstance(value, Mapping) and isinstance(into.get(key), Mapping):
                merge(into[key], value)
            else:
                into[key] = value

    result = deepcopy(SOUND)
    merge(result, changes or {})
    return result


def faults(changes):
    with pytest.raises(ConfigError) as caught:
        resolve(config(changes), SCHEMA)
    head, *lines = str(caught.value).split("\n")
    assert head == f"the config has {len(lines)} fault{'s' * (len(lines) > 1)}:"
    return [line.partition(". ")[2] for line in lines]


def test_the_shipped_config_is_sound():
    shipped = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    resolve(shipped, SCHEMA)
    assert arms(shipped)


def test_defaults_are_filled_in_and_given_values_kept():
    resolved = config({"models": {"reader": {"limits": {"concurrency": 3}}}, "repeats": 2})
    resolve(resolved, SCHEMA)
    assert resolved["repeats"] == 2
    assert resolved["models"]["reader"]["limits"]["concurrency"] == 3
    assert resolved["models"]["reader"]["limits"]["read_timeout_s"] == 600
    assert resolved["methods"]["rag"]["enabled"] is True
    assert resolved["insert"]["slices"]["radius"] == 1
    assert resolved["journal"] == {"path": "journal", "replay": False}


def test_filled_in_defaults_are_values_of_their_own():
    resolved = config({"methods": {"b": {**SOUND["methods"]["rag"], "label": "B"}}})
    resolve(resolved, SCHEMA)
    resolved["methods"]["b"]["options"]["x"] = 1
    assert resolved["methods"]["rag"]["options"] == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"datasat": {}}, "datasat: unknown key; did you mean 'dataset'?"),
        ({"models": {"reader": {"temperature": 1}}}, "models.reader.temperature: unknown key; there is"),
        (
            {"models": {"reader": {"sampling": {"temprature": 1}}}},
            "models.reader.sampling.temprature: unknown key; did you mean 'temperature'?",
        ),
        ({"methods": {"rag": {"clas": "a:B"}}}, "methods.rag.clas: unknown key; did you mean 'class'?"),
        ({"dataset": None}, "dataset: missing"),
        ({"methods": {"rag": {"label": None}}}, "methods.rag.label: missing"),
        ({"repeats": "two"}, "repeats: 'two' should be a whole number"),
        ({"repeats": 1.5}, "repeats: 1.5 should be a whole number"),
        ({"repeats": 0}, "repeats: 0 should be at least 1"),
        ({"tiers": []}, "tiers: [] should not be empty"),
        ({"tiers": "small"}, "tiers: 'small' should be a list"),
        ({"tiers": ["a", "a"]}, "tiers: ['a', 'a'] has an entry twice"),
        ({"tiers": ["Small"]}, "tiers.0: 'Small' should be lower-case letters, digits and underscores"),
        ({"stats": {"alpha": 1}}, "stats.alpha: 1 should be less than 1"),
        ({"stats": {"alpha": 0}}, "stats.alpha: 0 should be more than 0"),
        (
            {"models": {"judge": {"sampling": {"top_p": 2}}}},
            "models.judge.sampling.top_p: 2 should be at most 1",
        ),
        ({"dataset": {"path": ""}}, "dataset.path: '' should not be empty"),
        (
            {"methods": {"rag": {"options": []}}},
            "methods.rag.options: [] should be a mapping of keys to values",
        ),
        ({"methods": {"rag": {"enabled": "no"}}}, "methods.rag.enabled: 'no' should be true or false"),
        (
            {"methods": {"rag": {"ablation_of": 3}}},
            "methods.rag.ablation_of: 3 should be a text or null",
        ),
        (
            {"methods": {"rag": {"class": "RagSlices"}}},
            "methods.rag.class: 'RagSlices' should be 'package.module:Name', 'path/to/file.py:Name' or "
            "'official'",
        ),
        (
            {"methods": {"My-RAG": SOUND["methods"]["rag"]}},
            "methods.My-RAG: the name should be lower-case letters, digits and underscores, a letter first",
        ),
        (
            {"methods": {"rag": {"operating_points": {"x@y": {}}}}},
            "methods.rag.operating_points.x@y: the name should be lower-case letters, digits and underscores",
        ),
        (
            {"insert": {"embedding": {"long_text": "chunk"}}},
            "'centre_first', 'chunks'; did you mean 'chunks'?",
        ),
        ({"methods": {"rag": {"enabled": False}}}, "methods: none is enabled"),
        (
            {"methods": {"rag": {"ablation_of": "rga"}}},
            "methods.rag.ablation_of: there is no method 'rga'; did you mean 'rag'?",
        ),
        (
            {"methods": {id_: {"class": "a:B", "label": "Mine", "family": "rag"} for id_ in ("one", "two")}},
            "methods.two.label: 'Mine' is methods.one's label too; give each its own",
        ),
        (
            {"methods": {"rag": {"ablation_of": "rag"}}},
            "methods.rag.ablation_of: a method is no ablation of itself",
        ),
        (
            {"prompts": {"reader.sytem": "x.md"}},
            "prompts.reader.sytem: there is no such template; did you mean 'reader.system'?",
        ),
        ({"domains": {False: "x"}}, "domains.False: YAML reads this key as bool; put it in quotes"),
        (
            {"haystack": {"core": {"preferences": {"reach": math.nan}}}},
            "haystack.core.preferences.reach: nan should be a number that ends",
        ),
    ],
)
def test_a_fault_is_named_with_its_key_and_remedy(changes, expected):
    (fault,) = faults(changes)
    assert expected in fault


def test_no_methods_at_all():
    wrong = config()
    wrong["methods"] = {}
    with pytest.raises(ConfigError, match=r"methods: \{\} should not be empty"):
        resolve(wrong, SCHEMA)


def test_all_faults_are_named_at_once_each_once_in_order():
    found = faults(
        {
            "repeats": 0,
            "tiers": None,
            "datset": 1,
            "methods": {"rag": {"label": None, "family": None, "ablation_of": "none"}},
            "prompts": {"raeder.system": "x"},
        }
    )
    assert found == [
        "datset: unknown key; did you mean 'dataset'?",
        "methods.rag.family: missing",
        "methods.rag.label: missing",
        "prompts.raeder.system: there is no such template; did you mean 'reader.system'?",
        "repeats: 0 should be at least 1",
        "tiers: missing",
    ]


def test_every_rule_of_the_schema_has_a_message():
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    structure = {"$schema", "$defs", "$ref", "properties", "additionalProperties", "items", "default"}
    known = {
        *("type", "required", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "minItems", "minProperties", "uniqueItems", "description", "pattern", "propertyNames"),
    }

    def names(node):
        """Rules of a schema: its keys, where they are not names of the config's keys."""
        for key, value in node.items():
            yield key
            if key in ("properties", "$defs"):
                for part in value.values():
                    yield from names(part)
            elif isinstance(value, Mapping) and key != "default":
                yield from names(value)

    assert set(names(schema)) <= structure | known

    def without_description(node):
        if isinstance(node, Mapping):
            if "pattern" in node and "description" not in node:
                yield node
            for value in node.values():
                yield from without_description(value)

    assert not list(without_description(schema))


def test_operating_points_become_arms_of_their_own():
    resolved = config(
        {
            "methods": {
                "rag": {
                    "options": {"top_slices": 6, "strip_answer_format": True},
                    "operating_points": {
                        "few": {"options": {"top_slices": 2}},
                        "cold": {"sampling": {"controller": {"temperature": 0}}},
                    },
                },
                "off": {**SOUND["methods"]["rag"], "enabled": False},
                "part": {**SOUND["methods"]["rag"], "ablation_of": "off"},
            }
        }
    )
    resolve(resolved, SCHEMA)
    found = {arm.name: arm for arm in arms(resolved)}
    assert list(found) == ["rag", "rag@few", "rag@cold", "part"]
    assert found["rag"].options == {"top_slices": 6, "strip_answer_format": True}
    assert found["rag@few"].options == {"top_slices": 2, "strip_answer_format": True}
    assert (found["rag@few"].id, found["rag@few"].operating_point) == ("rag", "few")
    assert found["rag@cold"].sampling == {"controller": {"temperature": 0}}
    assert found["rag"].sampling == {}
    assert found["part"].ablation_of == "off"


def test_wrong_classes_and_options_of_all_methods_are_named_at_once():
    methods = {
        "one": {"class": "nowhere.py:Mine", "label": "1", "family": "f"},
        "rag": {
            "options": {"top_slice": 6},
            "operating_points": {"few": {"options": {"top_slices": "two"}}},
        },
    }
    with pytest.raises(ConfigError) as caught:
        Flow(config({"methods": methods}), ROOT)
    lines = str(caught.value).split("\n")
    assert lines[0] == "the config has 3 faults:"
    assert lines[1].startswith("  1. methods.one: class 'nowhere.py:Mine': there is no file ")
    assert lines[
        2
    ] == "  2. methods.rag.operating_points.few: options.top_slice: unknown option; did you mean " + (
        "'top_slices'?; options.top_slices: 'two' should be a value like 6 (int)"
    )
    assert lines[3] == "  3. methods.rag: options.top_slice: unknown option; did you mean 'top_slices'?"


def test_a_query_depends_on_complete_options():
    short = Flow(config(), ROOT).query("rag")
    spelled = Flow(config({"methods": {"rag": {"options": {"top_slices": 6}}}}), ROOT).query("rag")
    assert short == spelled
    assert short["options"]["top_slices"] == 6


def test_what_never_changes_a_result_is_not_in_the_saved_config():
    changes = {
        "models": {"reader": {"limits": {"concurrency": 99}}},
        "methods": {"rag": {"concurrency": 7}},
        "journal": {"path": "elsewhere"},
    }
    assert Flow(config(changes), ROOT).saved_config == Flow(config(), ROOT).saved_config


def test_the_papers_methods_keep_its_order_whatever_the_overlay_names_first():
    entry = {"class": "a:B", "label": "x", "family": "f", "enabled": True, "options": {}, "ablation_of": None}
    entry |= {"concurrency": 1, "shards": 1, "operating_points": {}}
    names = ["mine", "codex", "rag_query_to_slice", "other", "no_retrieval"]
    found = [arm.id for arm in arms({"methods": dict.fromkeys(names, entry)})]
    assert found == ["no_retrieval", "rag_query_to_slice", "codex", "mine", "other"]

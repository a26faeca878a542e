"""Remote models in the config: what is refused, how jobs share an endpoint, which keys a run needs."""

from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from lmev2.configuration import ConfigError, resolve
from lmev2.flow import Flow

ROOT = Path(__file__).parents[2]
EMBEDDED = {"provider": "embedded", "model": "extractive"}
CONFIG = {
    "dataset": {"path": "data"},
    "tiers": ["small"],
    "models": {
        **dict.fromkeys(("reader", "controller", "judge"), EMBEDDED),
        "embedding": {"provider": "embedded", "model": "wordllama-256"},
    },
    "methods": {
        "rag": {"class": "lmev2.memory.rag:RagSlices", "label": "R", "family": "r"},
        "none": {"class": "lmev2.memory.no_retrieval:NoRetrieval", "label": "N", "family": "n"},
    },
}


def config(*, replay=False, **models):
    made = deepcopy(CONFIG)
    for role, changes in models.items():
        made["models"][role] = {"provider": "openai", "model": "m", **changes}
    made["journal"] = {"replay": replay}
    return made


def refusal(**models):
    with pytest.raises(ConfigError) as caught:
        resolve(config(**models), ROOT / "config" / "config.schema.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    "sound",
    [
        {"base_url": "http://localhost:8000/v1"},
        {"base_url": "https://host/v1", "api_key_env": "MY_KEY"},
        {"api_key_env": "OPENAI_API_KEY"},
    ],
)
def test_sound_endpoints(sound):
    resolve(config(reader=sound, embedding=sound), ROOT / "config" / "config.schema.yaml")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "models.reader: without base_url the model is OpenAI's, which wants a key"),
        (
            {"base_url": "localhost:8000/v1"},
            "models.reader.base_url: should be like http://localhost:8000/v1",
        ),
        ({"base_url": "ftp://host/v1"}, "models.reader.base_url: should be like"),
        ({"base_url": "http://"}, "models.reader.base_url: should be like"),
        ({"base_url": "http://me:canary@host/v1"}, "models.reader.base_url: should hold no user"),
        ({"base_url": "http://canary@host/v1"}, "models.reader.base_url: should hold no user"),
        ({"base_url": "http://host/v1?key=canary"}, "models.reader.base_url: should hold no user"),
        (
            {"api_key_env": "sk-canary"},
            "models.reader.api_key_env: should be the name of an environment variable",
        ),
    ],
)
def test_faulty_endpoints_are_refused_without_repeating_a_secret(wrong, message):
    text = refusal(reader=wrong)
    assert message in text and "canary" not in text


def test_the_keys_of_a_run_are_those_of_its_remote_models():
    made = {"api_key_env": "B_KEY"}, {"api_key_env": "A_KEY", "base_url": "http://x/v1"}
    assert Flow(config(reader=made[0], judge=made[1], embedding=made[0]), ROOT).key_variables == [
        "A_KEY",
        "B_KEY",
    ]
    assert Flow(config(reader=made[0], replay=True), ROOT).key_variables == []
    assert Flow(config(), ROOT).key_variables == []
    assert Flow(config(reader={"base_url": "http://x/v1"}), ROOT).key_variables == []


def test_a_missing_key_is_told_and_stops_no_one_who_needs_none(monkeypatch):
    monkeypatch.setenv("A_KEY", "canary")
    monkeypatch.delenv("B_KEY", raising=False)
    flow = Flow(config(reader={"api_key_env": "A_KEY"}, judge={"api_key_env": "B_KEY"}), ROOT)
    assert [notice for notice in flow.notices if "_KEY" in notice] == [
        "B_KEY is not set: what needs that key will stop"
    ]


def test_the_default_domains_of_another_dataset_are_told():
    def notices(**changes):
        return [text for text in Flow({**config(), **changes}, ROOT).notices if "domains" in text]

    default = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    mini, other, domains = default["dataset"], {"path": "elsewhere"}, default["domains"]
    assert notices(dataset=mini, domains=domains) == notices(dataset=other, domains={"web": "a shop"}) == []
    assert len(notices(dataset=other, domains=domains)) == 1


def test_jobs_share_an_endpoint():
    limited = {"base_url": "http://x/v1", "limits": {"concurrency": 10}}
    flow = Flow(config(reader=limited, embedding=limited), ROOT)
    totals = {
        role: flow.total_slots[f"{role}_slots"] for role in ("reader", "controller", "embedding", "judge")
    }
    assert totals == {"reader": 10, "controller": 8, "embedding": 10, "judge": 8}
    assert [flow.slots("reader", jobs) for jobs in (1, 2, 3, 4, 100)] == [10, 5, 4, 3, 3]
    assert flow.slots("judge") == 0  # embedded
    assert [flow.query_slots(arm, "embedding") for arm in ("rag", "none")] == [1, 0]
    assert flow.query_slots("rag", "controller") == 0


def test_endpoints_and_limits_are_in_no_params_and_no_saved_config():
    flows = [
        Flow(config(reader={"base_url": url, "api_key_env": key, "limits": {"attempts": n}}), ROOT)
        for url, key, n in (("http://one/v1", "ONE", 3), ("http://two/v1", None, 4))
    ]
    assert flows[0].models("reader") == flows[1].models("reader")
    assert flows[0].saved_config == flows[1].saved_config

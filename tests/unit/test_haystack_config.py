"""The `haystack` section of the config."""

import copy

import pytest
import yaml

from lmev2.configuration import SCHEMA_FILE, ConfigError
from lmev2.flow import Flow

ROOT = SCHEMA_FILE.parents[1]
TINY = yaml.safe_load((ROOT / "tests" / "config" / "tiny.yaml").read_text(encoding="utf-8"))


def flow(names, **haystack):
    return Flow({**copy.deepcopy(TINY), "tiers": names, "haystack": haystack}, ROOT)


def test_the_datasets_own_haystacks_are_the_default():
    made = flow(["small"])
    assert not made.assembles
    assert made.given_tiers == ["small"]
    assert made.haystack == {}


def test_the_papers_tiers_are_known():
    made = flow(["medium", "small"], mode="assemble")
    assert made.given_tiers == []
    assert made.haystack["tiers"] == {
        "medium": {"size": 500, "shared": False, "least": None},
        "small": {"size": 100, "shared": True, "least": None},
    }


def test_only_what_the_run_needs_counts():
    """Another tier in the config makes nothing again."""
    one = flow(["tiny"], mode="assemble", tiers={"tiny": {"size": 3}})
    two = flow(["tiny"], mode="assemble", tiers={"tiny": {"size": 3}, "other": {"size": 9, "shared": True}})
    assert one.haystack == two.haystack
    assert one.haystack["tiers"] == {"tiny": {"size": 3, "shared": False, "least": None}}


@pytest.mark.parametrize(
    ("haystack", "expected"),
    [
        ({"mode": "assemble"}, "haystack.tiers.smal: missing; give the tier a size; did you mean 'small'?"),
        ({"mode": "assemble", "tiers": {"smal": {}}}, "haystack.tiers.smal.size: missing"),
        (
            {"mode": "assemble", "tiers": {"smal": {"size": 3, "least": 4}}},
            "haystack.tiers.smal.least: 4 is more than the tier's size, 3",
        ),
        ({"mode": "assembled"}, "did you mean 'assemble'?"),
        ({"core": {"node_limit": 10**10}}, "haystack.core.node_limit: 10000000000 should be at most"),
        (
            {"core": {"preferences": {"balance": -1}}},
            "haystack.core.preferences.balance: -1 should be at least 0",
        ),
    ],
)
def test_faults(haystack, expected):
    with pytest.raises(ConfigError) as caught:
        flow(["smal"], **haystack)
    assert expected in str(caught.value)

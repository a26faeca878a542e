from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from lmev2.agent.spec import agent_spec
from lmev2.configuration import ConfigError, resolve
from lmev2.flow import Flow

ROOT = Path(__file__).parents[2]


def config(**agent):
    found = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    found["models"]["agent"] = {"provider": "embedded", "model": "searcher", **agent}
    resolve(found, ROOT / "config/config.schema.yaml")
    return found


CODEX = {"provider": "codex", "model": "gpt-5.4-mini", "api_key_env": "SOME_KEY"}


def test_every_agent_but_ours_is_walled_in_unless_the_config_says_otherwise_and_then_its_name_does():
    assert agent_spec(config()).name == "embedded:searcher"
    assert agent_spec(config()).isolation == "none"
    codex = agent_spec(config(**CODEX))
    assert (codex.isolation, codex.version, codex.name) == ("bubblewrap", "0.117.0", "codex:gpt-5.4-mini")
    bare = agent_spec(config(**CODEX, isolation="none"))
    assert bare.name == "codex:gpt-5.4-mini (no isolation)"
    assert bare.identity() != codex.identity()


def test_address_key_and_limits_are_no_part_of_the_identity():
    one = agent_spec(config(**CODEX))
    other = {**CODEX, "base_url": "http://x/v1", "api_key_env": "OTHER", "command": ["/opt/codex"]}
    two = agent_spec(config(**other, limits={"concurrency": 1, "disk_mb": 5}))
    assert one.identity() == two.identity()


@pytest.mark.parametrize(
    "change", [{"model": "other"}, {"version": "0.118.0"}, {"provider": "openai_agents"}]
)
def test_what_changes_results_is(change):
    assert agent_spec(config(**CODEX)).identity() != agent_spec(config(**{**CODEX, **change})).identity()


def test_faults_are_named():
    with pytest.raises(ConfigError, match=r"models\.agent\.api_key_env: should be the name"):
        config(**{**CODEX, "api_key_env": "sk-123-abc"})
    with pytest.raises(ValueError, match="no embedded agent 'finder'; there is 'searcher'"):
        agent_spec(config(model="finder"))


def test_limits_of_time_and_turns_make_other_queries_and_the_agent_concerns_its_methods_only():
    changed = config()
    changed["methods"]["codex"]["options"]["timeout_s"] = 200
    plain, limited, other = (
        Flow(values, ROOT) for values in (config(), changed, config(**{**CODEX, "isolation": "none"}))
    )
    assert plain.query("codex") != limited.query("codex")
    assert plain.query("codex") != other.query("codex")
    for arm in ("rag_query_to_slice", "no_retrieval"):
        assert plain.query(arm) == limited.query(arm) == other.query(arm)
    assert other.key_variables == ["SOME_KEY"]
    assert other.model_names["agent"]["model"] == "gpt-5.4-mini (no isolation)"


def test_the_config_of_the_later_agent_has_its_limits_by_effort():
    found = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    update_config(found, yaml.safe_load((ROOT / "config/agents-v2.yaml").read_text()))
    flow = Flow(found, ROOT)
    limits = {
        (name.partition("@")[0], flow.query(name)["options"]["effort"]): flow.query(name)["options"][
            "timeout_s"
        ]
        for name in flow.arms
        if flow.runs_agent(name)
    }
    for id_ in ("codex", "agentrunbook_c"):
        assert [limits[id_, effort] for effort in ("low", "medium", "xhigh")] == [200, 800, 1200]
    assert {limits[id_, "xhigh"] for id_, _ in limits} == {1200}
    assert {flow.query(name)["options"]["turns"] for name in flow.arms if flow.runs_agent(name)} == {30}
    assert flow.agent["provider"] == "openai_agents"


def test_an_edit_of_how_agents_run_does_not_ask_other_methods_anew():
    from lmev2.flow import INFRASTRUCTURE
    from lmev2.memory import coding_agent, rag
    from lmev2.provenance import code_digest

    whole, without = (
        [code_digest(module.__file__, leave_out=(*INFRASTRUCTURE, *more)) for module in (rag, coding_agent)]
        for more in ((), ("agent", "insert/files.py"))
    )
    assert whole[0] == without[0]
    assert whole[1] != without[1]

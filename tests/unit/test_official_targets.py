"""What the rules of exports and imports take from a config."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from official_data import export

from lmev2.configuration import ConfigError
from lmev2.flow import Flow
from lmev2.official.targets import Official
from lmev2.report.captions import Source, explain_imports

ROOT = Path(__file__).parents[2]


def official(**sections):
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    for key, section in sections.items():
        config[key] = {**config[key], **section} if isinstance(config.get(key), dict) else section
    return Official(Flow(config, ROOT))


@pytest.fixture(scope="module")
def usual():
    return official()


def wildcards(**values):
    return SimpleNamespace(**{"tier": "small", **values})


def test_the_chain_has_every_model_behind_contexts_and_scores(usual):
    chains = {name: set(usual.describe(name)["chain"]) for name in usual.flow.arms}
    always = {"reader", "judge"}
    assert chains["no_retrieval"] == always
    assert chains["rag_query_to_slice"] == always | {"embedding"}
    assert chains["rag_query_to_slice_notes"] == always | {"embedding", "controller"}  # who wrote the notes
    assert chains["codex"] == always | {"agent"}
    for name in usual.flow.arms:
        about = usual.describe(name)
        assert about["labels"] == name.startswith("oracle")
        assert about["leaderboard_safe"] != about["labels"]


def test_a_point_has_its_own_sampling_and_an_allowed_name(usual):
    about = usual.describe("agentrunbook_r@thinking_off")
    assert (about["name"], about["id"]) == ("agentrunbook_r-thinking_off", "agentrunbook_r")
    assert about["chain"]["controller"]["sampling"] == {"thinking": False}
    assert usual.arms["agentrunbook_r-thinking_off"] == "agentrunbook_r@thinking_off"
    assert usual.tables(wildcards(run="agentrunbook_r-thinking_off"))["read"] == (
        "results/read/agentrunbook_r@thinking_off/small.parquet"
    )


def test_paper_mode_is_not_leaderboard_safe():
    method = {
        "class": "lmev2.memory.runbook:AgentRunbookR",
        "label": "Theirs",
        "family": "rag",
        "options": {"mode": "paper"},
    }
    assert not official(methods={"theirs": method}).describe("theirs")["leaderboard_safe"]


def test_packages_have_all_points_of_a_method_and_no_ablations_and_pilots(usual):
    assert usual.packages == [
        *("no_retrieval", "rag_query_to_slice", "rag_query_to_slice_notes"),
        *("agentrunbook_r", "codex", "agentrunbook_c"),
    ]
    runs = usual.package_runs(wildcards(package="codex", tier="medium"))
    assert list(runs) == ["default", "low", "medium"]
    assert runs["low"]["web"] == "results/official/codex-low_web_medium"
    assert len(usual.package_files(wildcards(package="codex"))) == 3 * 2 * 5
    assert usual.code_file(wildcards(package="codex")).endswith("lmev2/memory/coding_agent.py")
    text = usual.description(wildcards(package="codex"))
    assert "# Codex" in text and "- agent: embedded:searcher" in text and "`low`" in text


def test_the_config_says_what_goes_into_packages(tmp_path):
    (tmp_path / "about.md").write_text("# Ours\n")
    section = {
        "methods": ["codex"],
        "descriptions": {"codex": str(tmp_path / "about.md")},
        "code_files": {"codex": "mine.py"},
    }
    found = official(official_export=section)
    assert found.packages == ["codex"]
    assert found.description(wildcards(package="codex")) == "# Ours\n"
    assert found.code_file(wildcards(package="codex")) == "mine.py"
    (tmp_path / "about.md").unlink()
    with pytest.raises(ConfigError, match=r"official_export\.descriptions\.codex"):
        found.description(wildcards(package="codex"))
    with pytest.raises(ConfigError, match=r"official_export\.methods: 'codecs' is no method of this run"):
        official(official_export={"methods": ["codecs"]})


def test_imported_arms_come_last_and_only_in_their_tiers(tmp_path):
    runs = [str(export(tmp_path, domain=domain)) for domain in ("web", "enterprise")]
    entry = {"runs": runs, "label": "Theirs", "family": "rag"}
    found = official(official_runs={"theirs": entry})
    flow = found.flow
    assert "theirs" not in flow.arms  # nothing is asked for it
    assert flow.methods()[-1]["label"] == "Theirs (official run)"
    assert [row["id"] for row in flow.methods(["codex"])] == ["codex"]
    assert found.imported_files("judge") == ["results/judge/theirs/small.parquet"]
    assert found.tiers(wildcards(method="theirs")) == ["small"]
    assert found.tiers(wildcards(method="codex")) == ["small", "medium"]
    assert found.arm_files("query")(wildcards(method="codex"))[1] == "results/query/codex/medium.parquet"
    params = found.import_params(wildcards(method="theirs"))
    assert [run["domain"] for run in params["runs"]] == ["enterprise", "web"]
    assert {Path(file).name for file in found.import_files(wildcards(method="theirs"))} == {
        *("run_args.json", "per_question.jsonl", "aggregated_metrics.json")
    }
    source = Source(**flow.source)
    assert source.models_of("theirs") == "reader Qwen/Qwen3.5-9B; judge gpt-5.2"
    assert source.models_of("codex").startswith("reader embedded:extractive; controller")
    assert explain_imports(source) == (
        "Made elsewhere, by models of their own: Theirs (official run): "
        "reader Qwen/Qwen3.5-9B; judge gpt-5.2."
    )
    with pytest.raises(ConfigError, match=r"official_runs\.codex: methods\.codex has that id too"):
        official(official_runs={"codex": entry})


def test_without_official_runs_the_source_is_as_before(usual):
    assert "imported" not in usual.flow.source

"""What can be said of the workflow without running a job."""

import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from project import ROOT, TESTS, clone, planned, snakemake

RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
_RULE = re.compile(r"^rule (\w+):\n((?:(?: .*)?\n)+)", re.MULTILINE)


def rules():
    """Rule name -> its text."""
    return {name: body for path in RULES for name, body in _RULE.findall(path.read_text() + "\n")}


def script_rules():
    return {name: body for name, body in rules().items() if "script:" in body}


def bad_configs():
    return sorted(path.name for path in (TESTS / "config").glob("bad_*.yaml"))


def project_configs():
    return sorted(path.name for path in (ROOT / "config").glob("*.yaml") if "schema" not in path.name)


def gate(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_check():
    gate(sys.executable, "-m", "ruff", "check", "--no-cache", ".")


def test_ruff_format():
    gate(sys.executable, "-m", "ruff", "format", "--check", "--no-cache", ".")


def test_snakefmt():
    gate(sys.executable, "-m", "snakefmt", "--check", "Snakefile", "workflow/rules")


@pytest.mark.slow
def test_snakemake_lint(unrun):
    done = snakemake(unrun, "--lint", check=False)
    assert done.returncode == 0, done.stdout
    assert "Congratulations" in done.stdout


def test_another_folder_to_run_in_has_the_projects_config(unrun, tmp_path):
    more = tmp_path / "my.yaml"
    more.write_text("repeats: 2\n")
    elsewhere = ("--directory", str(tmp_path), "--configfile", str(more))
    assert planned(unrun, *elsewhere) == planned(unrun)


@pytest.fixture
def project(unrun, tmp_path):
    """A copy with the project's own config."""
    folder = clone(unrun, tmp_path / "project")
    shutil.copy2(ROOT / "config" / "config.yaml", folder / "config" / "config.yaml")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", project_configs())
def test_every_config_of_the_project_plans_the_whole_chain(project, name, monkeypatch):
    for key in re.findall(r"api_key_env: ([A-Z]\w+)", (ROOT / "config" / name).read_text()):
        monkeypatch.setenv(key, "any")
    jobs = planned(project, "--configfile", f"config/{name}")
    assert {"ingest_dataset", "write_table2", "plot_figure6"} <= jobs


def test_the_test_config_plans_the_whole_chain(unrun):
    assert {"ingest_dataset", "write_notes", "write_table2", "plot_figure6"} <= planned(unrun)


@pytest.mark.parametrize("name", bad_configs())
def test_a_bad_config_fails_with_a_readable_message(unrun, name):
    first = (TESTS / "config" / name).read_text().splitlines()[0]
    expected = first.removeprefix("# expect: ").format(root=unrun)
    done = snakemake(unrun, "--dry-run", configs=[name], check=False)
    assert done.returncode != 0
    assert expected in done.stdout
    assert "Traceback" not in done.stdout


def test_every_script_is_named_as_its_rule_and_used():
    for name, body in script_rules().items():
        assert re.search(r'script:\n\s+"\.\./scripts/(\w+)\.py"', body)[1] == name
    scripts = {path.stem for path in (ROOT / "workflow" / "scripts").glob("*.py")}
    assert scripts == script_rules().keys()


def test_every_rule_has_the_digest_of_its_own_code(finished):
    for name, body in script_rules().items():
        # The digest of query_memory is in `arm`; a rule without output has nothing that could grow old.
        if name != "query_memory" and "    output:" in body:
            assert f'code=FLOW.code("{name}")' in body, name
    meta = json.loads((finished / "results/query/no_retrieval/small.meta.json").read_text())
    assert re.fullmatch("[0-9a-f]{16}", meta["params"]["code"])


def test_every_rule_is_described_and_no_rule_runs_inline_code():
    for name, body in rules().items():
        assert re.match(r'\s+"""\S', body), name
        assert not re.search(r"^    (run|shell):", body, re.MULTILINE), name


def test_what_never_changes_a_result_is_in_no_params(finished):
    """Endpoints, limits and the journal's place are sentinels in tests/config/tiny.yaml."""
    records = [path for path in (finished / ".snakemake" / "metadata").rglob("*") if path.is_file()]
    params = [json.loads(path.read_text())["params"] for path in records]
    assert sum(bool(values) for values in params) > 20
    text = json.dumps(params)
    assert "extractive" in text  # the model is there: the sentinels would be, too
    for sentinel in ("elsewhere", "ELSEWHERE", "4321", "87.5", "concurrency", "base_url"):
        assert sentinel not in text, sentinel
    for sentinel in ("elsewhere", "ELSEWHERE", "4321", "87.5"):
        assert sentinel not in (finished / "results" / "config.json").read_text(), sentinel


def test_the_environment_has_the_versions_of_the_package():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    environment = yaml.safe_load((ROOT / "envs" / "lmev2.yaml").read_text())["dependencies"]
    (pip,) = [entry["pip"] for entry in environment if isinstance(entry, dict)]
    assert sorted(pip) == sorted(package["dependencies"])
    assert f"python {package['requires-python']}" in environment


def test_the_snakefile_and_the_common_part_are_short():
    assert len((ROOT / "Snakefile").read_text().splitlines()) <= 60
    assert len((ROOT / "workflow/rules/common.smk").read_text().splitlines()) <= 120

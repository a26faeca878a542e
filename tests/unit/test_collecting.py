"""The scripts of `snakemake collect` with a stand-in for the collector, which needs a browser."""

import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from project import ROOT
from snakemake.iocontainers import Namedlist

from lmev2 import collecting

# Says how it was called, and makes what the true one makes.
STAND_IN = """
import json, pathlib, sys
command, *rest = sys.argv[1:]
print(json.dumps(sys.argv[1:]))
if command == "record":
    (pathlib.Path(rest[1]) / "raw").mkdir(parents=True)
    for name in "ab":
        (pathlib.Path(rest[1]) / "raw" / f"{name}.json").write_text("{}")
if command == "build":
    pathlib.Path(rest[0]).mkdir()
    (pathlib.Path(rest[0]) / "trajectories.jsonl").write_text("{}\\n" * 3)
if "broken" in rest:
    sys.exit("it broke")
"""


@pytest.fixture
def script(tmp_path, monkeypatch, root_logger):
    """Runs a script of the workflow; returns how it called the collector, and its meta file."""
    (tmp_path / "stand_in").mkdir()
    (tmp_path / "stand_in" / "__main__.py").write_text(STAND_IN)
    monkeypatch.setattr(collecting, "COLLECTOR", tmp_path / "stand_in")
    monkeypatch.chdir(tmp_path)

    def run(name, params, output, given=None, **wildcards):
        job = SimpleNamespace(
            **{"rule": name, "params": params, "config": {}, "log": ["log"]},
            input=Namedlist(fromdict=given or {}),
            output=Namedlist(fromdict=output),
            wildcards=SimpleNamespace(**wildcards),
        )
        runpy.run_path(str(ROOT / "workflow" / "scripts" / f"{name}.py"), init_globals={"snakemake": job})
        call = next(line for line in Path("log").read_text().split("\n") if line.startswith("["))
        return json.loads(call), json.loads(Path(output["meta"]).read_text())

    return run


def test_environments_are_made(script):
    output = {"meta": "out/environments.meta.json"}
    call, _ = script("install_collector", {"applications": ["desk", "shop"]}, output)
    assert call == ["install", "--environments", "out/environments", "desk", "shop"]


@pytest.mark.parametrize("only", [[], ["d-close"]])
def test_an_application_is_recorded_in_the_browsers_environment(script, tmp_path, only):
    python = tmp_path / "out" / "environments" / "browser" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    given = {"environments": "out/environments.meta.json"}
    output = {"meta": "out/desk/recorded.meta.json"}
    call, meta = script("record_trajectories", {"only": only}, output, given, application="desk")
    beginning = ["record", "desk", "out/desk", "--environments", "out/environments"]
    assert call == [*beginning, *(["--only", *only] if only else [])]
    assert meta["counts"]["trajectories"] == 2


@pytest.mark.parametrize("partial", [False, True])
def test_a_dataset_is_built(script, tmp_path, partial):
    (tmp_path / "out").mkdir()
    output = {"dataset": "out/dataset", "meta": "out/dataset.meta.json"}
    params = {"applications": ["desk", "shop"], "partial": partial}
    call, meta = script("build_recorded_dataset", params, output)
    assert call == ["build", "out/dataset", "out/desk", "out/shop", *["--partial"] * partial]
    assert meta["counts"]["trajectories"] == 3


def test_a_failed_collector_ends_the_job_and_names_its_log(script, capsys):
    with pytest.raises(SystemExit):
        script("install_collector", {"applications": ["broken"]}, {"meta": "out/environments.meta.json"})
    assert "`python -m collector install` failed; its words are in log" in capsys.readouterr().err
    assert "it broke" in Path("log").read_text()
    assert not Path("out/environments.meta.json").exists()

"""Each script, run in this process with the `snakemake` object of a finished run, makes its outputs again.

The objects are taken from what Snakemake itself ran (tests/hooks keeps it), so they fit the rules.
"""

import runpy
import shutil
from pathlib import Path

import pytest
from project import ROOT, TESTS, clone, snakemake, snakemake_object

from lmev2.store import read_table

SCRIPTS = sorted(path.stem for path in (ROOT / "workflow" / "scripts").glob("*.py"))
# Made by rules that the small run has no use for.
FURTHER = (
    "results/insert/events.parquet",
    "results/insert/files.parquet",
    "results/ingest/oracle_questions.parquet",
    "results/ingest/paper_questions.parquet",
    "results/judge_reliability.csv",
    "results/figure4.csv",
    "results/figure7.csv",
)
# Scripts that need a remote model, a coding agent, a browser or a terminal, and the test that runs them.
ELSEWHERE = {
    "install_collector": "unit/test_collecting.py",
    "record_trajectories": "unit/test_collecting.py",
    "build_recorded_dataset": "unit/test_collecting.py",
    "assemble_haystacks": "workflow/test_haystack_assembly.py",
    "download": "integration/test_release.py",
    "validate": "integration/test_release.py",
    "estimate": "integration/test_money.py",
    "export_official_run": "integration/test_official.py",
    "build_leaderboard_package": "integration/test_official.py",
    "import_official_run": "integration/test_official.py",
    "gather_shards": "integration/test_shards.py",
    "check_endpoints": "integration/test_money.py",
    "tabulate_agent_commands": "unit/test_coding_agent.py",
    "plot_agent_figures": "unit/test_figures.py",
}


@pytest.fixture(scope="module")
def run(finished, tmp_path_factory):
    """A copy of the finished run in which every script has run."""
    folder = clone(finished, tmp_path_factory.mktemp("scripts") / "run")
    snakemake(folder, "--", *FURTHER)
    return folder


def remove(path: Path):
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in ELSEWHERE])
def test_a_script_makes_its_declared_outputs_and_its_log(run, monkeypatch, root_logger, name):
    kept = run / "kept_scripts" / f"{name}.py"
    assert kept.exists(), f"no run of the tests uses the script {name}: add a method or a target that does"
    job = snakemake_object(kept)
    assert job.rule == name
    monkeypatch.chdir(run)
    tables = {path: read_table(path) for path in job.output if path.endswith(".parquet")}
    for path in (*job.output, *job.log):
        remove(Path(path))
    runpy.run_path(str(ROOT / "workflow" / "scripts" / f"{name}.py"), init_globals={"snakemake": job})
    for path in (*job.output, *job.log):
        assert Path(path).exists(), path
    for path, table in tables.items():
        assert read_table(path).equals(table), path  # from the journal: measured times, too
    assert not [log for log in job.log if "Traceback" in Path(log).read_text()]


def test_a_fault_of_the_input_ends_a_script_with_its_message_and_no_traceback(
    run, monkeypatch, root_logger, capsys, tmp_path
):
    job = snakemake_object(run / "kept_scripts" / "read_answers.py")
    folder = clone(run, tmp_path / "run")
    monkeypatch.chdir(folder)
    job.config["journal"].update(replay=True, path="empty-journal")
    with pytest.raises(SystemExit, match="1"):
        runpy.run_path(str(ROOT / "workflow/scripts/read_answers.py"), init_globals={"snakemake": job})
    shown = capsys.readouterr().err
    assert "[read " in shown and "a replay makes no call" in shown
    assert "Traceback" not in shown
    assert "a replay makes no call" in Path(job.log[0]).read_text()


def test_scripts_that_are_run_elsewhere_are_run_there():
    for name, test in ELSEWHERE.items():
        assert name in SCRIPTS
        assert name.removeprefix("tabulate_") in (TESTS / test).read_text(), f"{test} says nothing of {name}"

"""`snakemake collect` can be planned, and nothing of it is part of another target."""

import shutil

import pytest
from project import ROOT, clone, planned


@pytest.mark.slow
def test_the_target_records_every_application(unrun, tmp_path):
    folder = clone(unrun, tmp_path / "project")
    shutil.copytree(ROOT / "collector", folder / "collector")
    jobs = planned(folder, "collect")
    assert jobs == {"install_collector", "record_trajectories", "build_recorded_dataset", "collect"}


def test_no_other_rule_needs_what_is_recorded():
    for path in (ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")):
        if path.stem != "collect_trajectories":
            assert "results/collect" not in path.read_text(), path

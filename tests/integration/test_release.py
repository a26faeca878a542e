"""A user gets the release with Snakemake, and checks it."""

import json
import runpy
from types import SimpleNamespace

import pytest
import yaml
from dataset_factory import make_dataset
from hub_server import REPO, REVISION, serving
from project import ROOT, clone, snakemake
from release_data import make_release


@pytest.fixture
def project(unrun, tmp_path):
    return clone(unrun, tmp_path / "project")


def test_download(project, tmp_path):
    release = make_release(tmp_path / "made")
    with serving(release) as hub:
        more = {"dataset": {"path": "got", "download": {"repo": REPO, "revision": REVISION}}}
        more["dataset"]["download"]["endpoint"] = hub.endpoint
        (project / "more.yaml").write_text(yaml.safe_dump(more))
        done = snakemake(project, "download", "--configfile", "config/config.yaml", "more.yaml")
    assert "[download] web_screenshots.tar.gz: 9 screenshots unpacked" in done.stdout
    assert (project / "got" / "trajectories.jsonl").read_bytes() == release["trajectories.jsonl"]


@pytest.fixture
def validate(tmp_path, monkeypatch, root_logger):
    """Run the script of the rule `validate` on tmp_path / "data"."""
    monkeypatch.chdir(tmp_path)
    params = {"dataset": {"path": "data", "source": "official"}, "tiers": ["small", "medium"]}
    job = SimpleNamespace(params=params, config={}, log=["log"], threads=1, rule="validate")
    script = ROOT / "workflow" / "scripts" / "validate.py"
    return lambda: runpy.run_path(str(script), init_globals={"snakemake": job})


def reports(folder):
    results = folder / "results"
    return json.loads((results / "validate.json").read_text()), (results / "validate.md").read_text()


def test_validate_writes_its_report(validate, tmp_path, capsys):
    make_dataset(tmp_path / "data")
    validate()
    assert "data: sound" in capsys.readouterr().out
    report, text = reports(tmp_path)
    assert report["sound"] and report["counts"]["domains"]["web"]["states"] == 9
    assert "| web | 3 | 9 |" in text and "| static-environment | 1 | 1 | 2 | 0 |" in text


def test_validate_fails_on_defects_and_keeps_its_report(validate, tmp_path):
    make_dataset(tmp_path / "data", lambda content: content.questions[1].pop("answer"))
    with pytest.raises(SystemExit):
        validate()
    report, text = reports(tmp_path)
    assert not report["sound"] and len(report["defects"]) == 1
    assert "line 2, id 'q2': the field 'answer' is missing" in text


def test_validate_without_a_dataset_says_how_to_get_it(validate, capsys):
    with pytest.raises(SystemExit):
        validate()
    assert "'data' does not exist; set dataset.path" in capsys.readouterr().err

"""The profiles name rules that exist, and say nothing that changes a result."""

import os
import re
import subprocess

import pytest
import yaml
from project import ROOT

PROFILES = sorted((ROOT / "profiles").glob("*/profile.yaml"))
CLUSTERS = [path for path in PROFILES if path.parent.name not in ("default", "ci")]
SLURM = ROOT / "profiles" / "slurm" / "profile.yaml"
RULES = {
    name
    for path in (ROOT / "workflow" / "rules").glob("*.smk")
    for name in re.findall(r"^(?:rule|use rule \w+ as) (\w+)", path.read_text(), re.MULTILINE)
}
# Everything in a profile is about how jobs run; these would be about what they do.
RESULTS = ("config", "configfile", "configfiles", "snakefile", "set-scatter", "forceall", "forcerun")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.parent.name)
def test_a_profile_reruns_what_the_default_one_does(path):
    profile, default = read(path), read(ROOT / "profiles" / "default" / "profile.yaml")
    assert profile["rerun-triggers"] == default["rerun-triggers"]
    assert not profile.keys() & set(RESULTS)


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.parent.name)
def test_a_clusters_jobs_are_tried_again_with_more(path):
    profile = read(path)
    assert profile["retries"] > 0
    assert "attempt" in profile["default-resources"]["mem_mb"]
    tested = "NOT TESTED" not in path.read_text()
    assert tested == (path == SLURM)
    row = next(
        line for line in (ROOT / "profiles/README.md").read_text().splitlines() if path.parent.name in line
    )
    assert ("| no" in row) != tested


def test_the_slurm_profile_names_rules_that_exist():
    profile = read(SLURM)
    for section in ("set-resources", "set-threads", "groups"):
        assert profile[section].keys() <= RULES, section
    for stage in ("query_memory", "read_answers", "judge_answers"):
        assert {stage, f"{stage}_shard"} <= profile["set-resources"].keys()


@pytest.mark.parametrize("attempt", [1, 2, 3])
@pytest.mark.parametrize("shards", [1, 7, 451])
@pytest.mark.parametrize("tier", ["small", "medium"])
def test_what_a_job_asks_for_is_a_number_that_grows_with_its_attempt(tier, shards, attempt):
    wildcards = type("Wildcards", (), {"tier": tier, "shards": str(shards)})
    profile = read(SLURM)
    expressions = [
        (rule, name, text)
        for rule, section in profile["set-resources"].items()
        for name, text in section.items()
    ]
    assert len(expressions) > 15
    for rule, name, text in expressions:
        first = eval(text, {"wildcards": wildcards, "attempt": 1})
        assert isinstance(first, int) and first > 0, (rule, name)
        assert eval(text, {"wildcards": wildcards, "attempt": attempt}) == first * attempt


# -- the scripts of cluster-generic, against stand-ins that print what they were told ---------------


def script(tmp_path, name, *words, program, answer="", **variables):
    """Run a profile's script with a stand-in in place of `program`; returns what it printed and was told."""
    stand_in = tmp_path / program
    stand_in.write_text(
        f'#!/bin/sh\nfor word; do echo "$word"; done > {tmp_path}/words\n'
        f"[ \"$1\" != create ] || cat > {tmp_path}/input\nprintf %s '{answer}'\n"
    )
    stand_in.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", **variables}
    command = [ROOT / "profiles" / name, *words]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip(), (tmp_path / "words").read_text()


def test_a_kubernetes_job_is_what_its_script_was_told(tmp_path):
    variables = {"LMEV2_IMAGE": "an/image:1", "LMEV2_CLAIM": "claim", "LMEV2_MOUNT": "/work"}
    words = ["8000", "2", "/work/.snakemake/tmp.x/job.sh"]
    name, _ = script(
        tmp_path, "kubernetes/submit.sh", *words, program="kubectl", answer="lmev2-x", **variables
    )
    assert name == "lmev2-x"
    pod = yaml.safe_load((tmp_path / "input").read_text())["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"] == ["bash", "/work/.snakemake/tmp.x/job.sh"]
    assert container["resources"]["requests"] == {"memory": "8000M", "cpu": "2"}
    assert (container["image"], container["workingDir"]) == ("an/image:1", str(tmp_path))
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == "claim"


@pytest.mark.parametrize(
    ("answer", "state"), [("1,", "success"), (",1", "failed"), (",", "running"), ("", "running")]
)
def test_the_state_of_a_kubernetes_job(tmp_path, answer, state):
    printed, told = script(tmp_path, "kubernetes/status.sh", "lmev2-x", program="kubectl", answer=answer)
    assert printed == state
    assert "lmev2-x" in told.splitlines()


def test_a_batch_job_is_what_its_script_was_told(tmp_path):
    variables = {"LMEV2_QUEUE": "queue", "LMEV2_DEFINITION": "definition"}
    id_, told = script(
        tmp_path,
        "aws-batch/submit.sh",
        "8000",
        "2",
        "90",
        "/x/job.sh",
        program="aws",
        answer="7-8",
        **variables,
    )
    assert id_ == "7-8"
    assert {"queue", "definition", "attemptDurationSeconds=5400"} <= set(told.splitlines())
    overrides = yaml.safe_load(told[told.index("{") :])
    assert overrides["command"] == ["bash", "/x/job.sh"]
    assert {entry["type"]: entry["value"] for entry in overrides["resourceRequirements"]} == {
        "MEMORY": "8000",
        "VCPU": "2",
    }


@pytest.mark.parametrize(
    ("answer", "state"), [("SUCCEEDED", "success"), ("FAILED", "failed"), ("RUNNABLE", "running")]
)
def test_the_state_of_a_batch_job(tmp_path, answer, state):
    assert script(tmp_path, "aws-batch/status.sh", "7", program="aws", answer=answer)[0] == state

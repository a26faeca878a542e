"""However many shards an arm is split into, its files are those of one job, and nothing is asked again."""

import json
import logging
import runpy
from types import SimpleNamespace

import pytest
from project import ROOT, asked, clone, planned, snakemake_object

ARM = "rag_query_to_slice_notes"
STAGES = {"query": "query_memory", "read": "read_answers", "judge": "judge_answers"}


@pytest.fixture
def run(finished, tmp_path, monkeypatch):
    """A copy of the finished run, and the working folder."""
    logger = logging.getLogger()  # a script sends it to its log file; put back what was there
    handlers, level = logger.handlers[:], logger.level
    folder = clone(finished, tmp_path / "run")
    monkeypatch.chdir(folder)
    yield folder
    logger.handlers[:], logger.level = handlers, level


def outputs(stage, arm, *parts):
    path = "/".join(["results", stage, arm, "small", *parts])
    return SimpleNamespace(table=f"{path}.parquet", meta=f"{path}.meta.json")


def run_script(name, job, **wildcards):
    job.wildcards = type(job.wildcards)(fromdict={**dict(job.wildcards.items()), **wildcards})
    runpy.run_path(str(ROOT / "workflow" / "scripts" / f"{name}.py"), init_globals={"snakemake": job})


def make_in_shards(run, stage, count):
    """What rules/shards.smk has done for one stage, in this process; returns the arm's files."""
    rule, made = STAGES[stage], []
    for number in range(1, count + 1):
        job = snakemake_object(run / "kept_scripts" / f"{rule}.py")
        arm = job.wildcards.method  # the one that was run last
        job.rule, job.output = f"{rule}_shard", outputs(stage, arm, f"{number}-of-{count}")
        run_script(rule, job, shard=str(number), shards=str(count))
        made.append(job.output)
    job.input = SimpleNamespace(tables=[out.table for out in made], metas=[out.meta for out in made])
    job.output = outputs(stage, arm)
    run_script("gather_shards", job, stage=stage)
    return [path for out in (*made, job.output) for path in vars(out).values()]


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 17])  # there are 12 questions: some of 17 shards are empty
def test_shards_make_the_same_bytes_and_ask_nothing(finished, run, count):
    begun = asked(run)
    for stage in STAGES:
        *shards, table, meta = make_in_shards(run, stage, count)
        assert len(shards) == 2 * count
        assert (run / table).read_bytes() == (finished / table).read_bytes()
        one, other = (json.loads((folder / meta).read_text()) for folder in (run, finished))
        assert {**one, "git": None} == {**other, "git": None}  # these scripts lie in another folder
    assert asked(run) == begun


def test_a_sharded_arm_is_planned_in_shards_and_the_others_as_ever(finished, tmp_path):
    folder = clone(finished, tmp_path / "run")
    (folder / "more.yaml").write_text(f"methods: {{{ARM}: {{shards: 3}}}}\n")
    jobs = planned(folder, "--configfile", "more.yaml")
    assert {f"{rule}_shard:{ARM}" for rule in STAGES.values()} <= jobs
    assert f"gather_shards:{ARM}" in jobs
    assert not [job for job in jobs if job.startswith(tuple(f"{rule}:" for rule in STAGES.values()))]
    assert "save_config" not in jobs

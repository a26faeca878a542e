"""Methods of a user's own, through the whole chain: the example of docs/adding-a-method.md and a package."""

import json
import shutil

import pandas as pd
import pytest
import yaml
from project import ROOT, copy_project, planned, snakemake, write_data

# One run for all tests of this file: they belong in one worker.
pytestmark = pytest.mark.xdist_group("plugin")

CONFIG = """
repeats: 2
methods:
  reranked:
    class: docs/examples/keyword_memory.py:RerankedSlices
    label: Reranked
    family: mine
    options: {top_slices: 2}
    operating_points:
      expanded: {options: {expand: true}}
  keywords:
    class: my_package.counting:Counting
    label: Keywords
    family: mine
    options: {top_states: 2, log: built.jsonl}
"""
COUNTING = """
import json

from my_package.keyword_memory import KeywordMemory


class Counting(KeywordMemory):
    defaults = {**KeywordMemory.defaults, "log": ""}

    def __init__(self, options, services):
        super().__init__(options, services)
        self.note({"built": services.repeat})

    def insert(self, trajectory):
        super().insert(trajectory)
        self.note({"inserted": trajectory.id})

    def query(self, question):
        if question.image:
            raise ValueError("this method is blind")
        return super().query(question)

    def note(self, what):
        with open(self.options["log"], "a") as log:
            print(json.dumps(what), file=log)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = copy_project(tmp_path_factory.mktemp("plugin") / "project")
    write_data(folder / "data")
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    package = folder / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "counting.py").write_text(COUNTING)
    shutil.copy(ROOT / "docs" / "examples" / "keyword_memory.py", package)
    others = yaml.safe_load((folder / "config" / "config.yaml").read_text())["methods"]
    left_out = "".join(f"  {method}: {{enabled: false}}\n" for method in others)
    (folder / "tests" / "config" / "plugin.yaml").write_text(CONFIG + left_out)
    snakemake(folder, "results/table2.csv", configs=("tiny.yaml", "plugin.yaml"))
    return folder


def test_plug_ins_have_their_rows(run):
    table = pd.read_csv(run / "results" / "table2.csv")
    assert table.method.tolist() == ["reranked", "keywords"]
    assert table.label.tolist() == ["Reranked", "Keywords"]
    assert (table.small_n == 12).all()
    accuracy = pd.read_parquet(run / "results" / "stats" / "accuracy.parquet")
    assert {"", "expanded"} == set(accuracy.operating_point[accuracy.method == "reranked"])
    pairs = pd.read_parquet(run / "results" / "stats" / "significance.parquet")
    assert {("keywords", "reranked"), ("reranked", "keywords")} <= set(
        zip(pairs.method, pairs.baseline, strict=True)
    )


def test_a_haystack_is_inserted_once_per_repeat_and_in_its_order(run):
    haystacks = json.loads((run / "data" / "haystacks" / "lme_v2_small.json").read_text())
    distinct = list(dict.fromkeys(map(tuple, haystacks.values())))
    assert len(distinct) == 2 < len(haystacks)
    built = []
    for line in (run / "built.jsonl").read_text().splitlines():
        note = json.loads(line)
        if "built" in note:
            built.append((note["built"], []))
        else:
            built[-1][1].append(note["inserted"])
    assert sorted((repeat, tuple(ids)) for repeat, ids in built) == sorted(
        (repeat, haystack) for repeat in (0, 1) for haystack in distinct
    )


def test_a_query_that_fails_is_a_row(run):
    rows = pd.read_parquet(run / "results" / "query" / "keywords" / "small.parquet")
    failed = rows[rows.status == "query_failed"]
    assert set(failed.error) == {"ValueError: this method is blind"}
    assert 0 < len(failed) < len(rows) == 24
    assert (rows["items"].str.len() == 0).equals(rows.status == "query_failed")
    scores = pd.read_parquet(run / "results" / "stats" / "scores.parquet")
    scores = scores[(scores.method == "keywords") & (scores.status == "query_failed")]
    assert len(scores) == len(failed)
    assert (scores.score == 0).all()
    log = (run / "results" / "logs" / "query_memory" / "keywords.small.log").read_text()
    assert 'raise ValueError("this method is blind")' in log


def test_what_a_method_does_is_in_its_rows(run):
    rows = pd.read_parquet(run / "results" / "query" / "reranked@expanded" / "small.parquet")
    assert (rows.calls == 2).all()  # the controller and the embedding of the query
    assert (rows.embed_s > 0).all() and (rows.search_s > 0).all() and (rows.render_s > 0).all()
    assert all(json.loads(trace)["shared"] for trace in rows.trace)
    plain = pd.read_parquet(run / "results" / "query" / "reranked" / "small.parquet")
    assert (plain.calls == 1).all()


def test_an_edit_of_a_plug_in_reruns_this_method_only(run):
    configs = ("tiny.yaml", "plugin.yaml")
    assert planned(run, "results/table2.csv", configs=configs) == set()
    imported = run / "my_package" / "keyword_memory.py"
    code = imported.read_text()
    imported.write_text(code.replace("math.log(", "math.log1p("))
    jobs = planned(run, "results/table2.csv", configs=configs)
    imported.write_text(f"# A comment does not count.\n{code}")
    assert {job for job in jobs if ":" in job} == {
        "query_memory:keywords",
        "read_answers:keywords",
        "judge_answers:keywords",
    }
    assert not {"ingest_dataset", "build_slices"} & jobs
    assert planned(run, "results/table2.csv", configs=configs) == set()


def test_a_memory_that_cannot_be_built_stops_its_method_with_the_cause(run):
    (run / "broken.py").write_text(
        "class Broken:\n"
        "    def __init__(self, options, services): pass\n"
        "    def insert(self, trajectory): return self.nothing\n"
        "    def query(self, question): return []\n"
    )
    (run / "tests" / "config" / "broken.yaml").write_text(
        "methods: {broken: {class: 'broken.py:Broken', label: B, family: mine}}"
    )
    done = snakemake(
        run,
        "results/query/broken/small.parquet",
        configs=("tiny.yaml", "plugin.yaml", "broken.yaml"),
        check=False,
    )
    assert done.returncode
    assert "Broken: inserting trajectory" in done.stdout
    assert "AttributeError: 'Broken' object has no attribute 'nothing'" in done.stdout
    assert "broken.py, line 3)" in done.stdout

"""A memory method gets a question's text and image, and nothing else of it; labels are out of its reach."""

import json
import re
import shutil

import pyarrow.parquet as pq
import pytest
from project import QUESTIONS, clone, planned, snakemake

RECORDER = '''
import dataclasses, json
from pathlib import Path


def plain(value):
    """Everything that hangs on `value`, as JSON."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


class Recorder:
    pools = ()
    roles = ()

    def __init__(self, options, services):
        self.note({"options": plain(dict(options))})

    def note(self, entry):
        with Path("received.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\\n")

    def insert(self, trajectory, *more, **named):
        self.note({"trajectory": plain(trajectory), "more": plain([more, named])})

    def query(self, question, *more, **named):
        fields = plain(question)
        assert set(dir(question)) - set(dir(object)) - {"__weakref__"} >= set(fields)
        self.note({"question": fields, "attributes": plain(vars(question)), "more": plain([more, named])})
        return []
'''
CONFIG = """
methods:
  recorder: {class: "plugins/recorder.py:Recorder", label: Recorder, family: none}
"""


@pytest.fixture(scope="module")
def received(finished, tmp_path_factory):
    """All that a plug-in memory is handed over a tier: the entries of its own log."""
    folder = clone(finished, tmp_path_factory.mktemp("recorder") / "run")
    (folder / "plugins").mkdir()
    (folder / "plugins" / "recorder.py").write_text(RECORDER)
    (folder / "tests/config/recorder.yaml").write_text(CONFIG)
    snakemake(folder, "results/query/recorder/small.parquet", configs=["recorder.yaml"])
    rows = pq.read_table(folder / "results/query/recorder/small.parquet").to_pylist()
    assert {row["status"] for row in rows} == {"ok"}, rows[0]["error"]
    return [json.loads(line) for line in (folder / "received.jsonl").read_text().splitlines()]


def questions_of(folder):
    return pq.read_table(folder / "results/ingest/questions.parquet").to_pylist()


@pytest.mark.slow
def test_a_method_receives_text_and_image_of_a_question_and_nothing_else(finished, received):
    asked = [entry for entry in received if "question" in entry]
    known = {(row["text"], row["image"], row["image_sha256"]) for row in questions_of(finished)}
    assert len(asked) == len(QUESTIONS)
    for entry in asked:
        question = entry["question"]
        assert question.keys() == entry["attributes"].keys() == {"handle", "text", "image"}
        assert entry["more"] == [[], {}]
        image = question["image"] or {"path": None, "sha256": None}
        assert (question["text"], image["path"], image["sha256"]) in known
        assert re.fullmatch("[0-9a-f]{16}", question["handle"])


@pytest.mark.slow
def test_nothing_that_a_method_receives_tells_which_question_it_is(finished, received):
    assert any("trajectory" in entry for entry in received)
    text = json.dumps(received)
    for row in questions_of(finished):
        assert row["question_id"] not in text
        assert json.dumps(row["eval_function"]) not in text
        assert row["question_type"] not in text
    images = {row["image"] for row in questions_of(finished)} - {None}
    assert images
    for row in questions_of(finished):
        assert not any(row["question_id"] in image for image in images)


def declared_inputs(folder, method):
    """The inputs of an arm's query job, from a dry run."""
    target = f"results/query/{method}/small.parquet"
    text = snakemake(folder, "--dry-run", "--forcerun", "query_memory", "--", target).stdout
    (body,) = re.findall(r"rule query_memory:\n((?:    .*\n)+)", text)
    return re.search(r"    input: (.*)\n", body)[1].split(", ")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["no_retrieval", "rag_query_to_slice_notes"])
def test_query_works_in_a_folder_that_holds_only_its_declared_inputs_and_they_are_no_labels(
    finished, unrun, tmp_path, method
):
    inputs = declared_inputs(finished, method)
    for name in inputs:
        assert not re.search(r"/questions\.parquet|coverage|labels|meta\.json|^data/", name), name
    columns = pq.read_schema(finished / "results/ingest/query_questions.parquet").names
    assert columns == ["question_id", "text", "image", "image_sha256"]
    assert pq.read_schema(finished / "results/haystack/small.parquet").names == [
        "question_id",
        "position",
        "trajectory_id",
    ]

    alone = clone(unrun, tmp_path / "alone")
    shutil.rmtree(alone / "data")
    for name in inputs:
        (alone / name).parent.mkdir(parents=True, exist_ok=True)
        if (finished / name).is_dir():
            shutil.copytree(finished / name, alone / name)
        else:
            shutil.copy2(finished / name, alone / name)
    target = f"results/query/{method}/small.parquet"
    snakemake(alone, "--allowed-rules", "query_memory", "--", target)
    both = [pq.read_table(folder / target).to_pylist() for folder in (finished, alone)]
    assert [row["items"] for row in both[0]] == [row["items"] for row in both[1]]
    assert {row["status"] for row in both[1]} == {"ok"}


@pytest.mark.slow
def test_other_labels_rerun_no_query(finished, tmp_path):
    """Evidence labels reach haystack assembly and analysis only: new ones leave every context as it is."""
    folder = clone(finished, tmp_path / "run")
    (folder / "results/ingest/coverage.parquet").touch()
    assert not {job for job in planned(folder, "--rerun-triggers", "params") if "query" in job}

"""What one edit reruns, by dry-run on a copy with a finished run; and that it costs no model call."""

import os
import re
import time

import pyarrow.parquet as pq
import pytest
from project import ROOT, add_trajectory, asked, clone, planned, snakemake

ARMS = ("no_retrieval", "rag_query_to_slice_notes")
RAG = "rag_query_to_slice_notes"

# Rules up to the judge are compared exactly; of statistics and report more may follow than is named here.
_FILES = [
    ROOT / "workflow/rules" / f"{stage}.smk" for stage in ("stats", "report", "figures", "money", "explorer")
]
LATER = {
    name for path in _FILES if path.exists() for name in re.findall(r"^rule (\w+):", path.read_text(), re.M)
} | {"report_haystacks"}

STATS = {"tabulate_scores", "estimate_accuracy", "compare_methods"}
REPORT = {"write_table2", "plot_figure6"}
CONFIG = {"save_config"}
AFTER_JUDGE = STATS | REPORT


def of(rule, *arms):
    return {f"{rule}:{arm}" for arm in arms or ARMS}


JUDGE = of("judge_answers") | AFTER_JUDGE
READ = of("read_answers") | JUDGE
QUERY = of("query_memory") | READ
RAG_ON = of("query_memory", RAG) | of("read_answers", RAG) | of("judge_answers", RAG) | AFTER_JUDGE
NOTES = {"write_notes", "embed_pool:notes"} | RAG_ON
SLICES = {"build_slices", "embed_pool:slices"} | RAG_ON
EMBEDDINGS = {"embed_pool:notes", "embed_pool:slices"} | RAG_ON
INSERT = {"build_slices", "write_notes"} | EMBEDDINGS | QUERY
EVERYTHING = {"ingest_dataset", "write_haystack"} | INSERT


def assert_planned(jobs, expected):
    """All that is expected, and beyond it only statistics and report, if anything is expected at all."""
    assert expected <= jobs
    assert rules_in(jobs - expected) <= (LATER if expected else set())


def rules_in(jobs):
    return {job.partition(":")[0] for job in jobs}


@pytest.fixture
def run(finished, tmp_path):
    """A copy with a finished run, to be edited."""
    return clone(finished, tmp_path / "run")


def config(run, text):
    """One more config file on top of the run's."""
    (run / "tests/config/more.yaml").write_text(text)
    return {"configs": ["more.yaml"]}


def append(run, path, text):
    with (run / path).open("a") as file:
        file.write(text)


def test_nothing_is_to_be_done_after_a_run(run):
    assert planned(run) == set()


# -- config ------------------------------------------------------------------------------------------

CHANGES = {
    "judge sampling": ("models: {judge: {sampling: {temperature: 0.5}}}", JUDGE | CONFIG),
    "judge attempts": ("judge: {attempts: 2}", JUDGE | CONFIG),
    "reader sampling": ("models: {reader: {sampling: {temperature: 0.5}}}", READ | CONFIG),
    "context budget": ("read: {context_tokens: 1000}", READ | CONFIG),
    "controller sampling": ("models: {controller: {sampling: {temperature: 0.5}}}", NOTES | CONFIG),
    "method options": (f"methods: {{{RAG}: {{options: {{top_notes: 1}}}}}}", RAG_ON | CONFIG),
    "slice radius": ("insert: {slices: {radius: 2}}", SLICES | CONFIG),
    "embedding recipe": ("insert: {embedding: {chunk_lines: 4}}", EMBEDDINGS | CONFIG),
    "one more method": (
        "methods: {rag_query_to_slice: {enabled: true}}",
        of("query_memory", "rag_query_to_slice")
        | of("read_answers", "rag_query_to_slice")
        | of("judge_answers", "rag_query_to_slice")
        | AFTER_JUDGE
        | CONFIG,
    ),
    "significance level": ("stats: {alpha: 0.01}", {"write_table2"} | CONFIG),
    "concurrency, limits and endpoints": (
        "models:\n"
        "  reader: {base_url: 'http://other.invalid', api_key_env: OTHER, limits: {concurrency: 3}}\n"
        "  controller: {limits: {concurrency: 2}}\n"
        "  judge: {limits: {read_timeout_s: 9, connect_timeout_s: 9, attempts: 9}}\n"
        "  embedding: {limits: {batch: 9}}\n"
        f"methods: {{{RAG}: {{concurrency: 4}}}}",
        set(),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_config_reruns_what_depends_on_it(run, name):
    text, expected = CHANGES[name]
    assert_planned(planned(run, **config(run, text)), expected)


# -- prompts and code --------------------------------------------------------------------------------

EDITS = {
    "prompts/reader.system.md": READ,
    "prompts/notes.user.md": NOTES,
    "prompts/judge_gotchas.user.md": JUDGE,
    "ingest/questions.py": EVERYTHING,
    "insert/slices.py": SLICES,
    "judge/verdict.py": JUDGE,
    "llm/embedded/lists.py": {"write_notes"} | READ | NOTES,  # of the engine of reader, controller and judge
    "job.py": set(),  # what is around every script, and decides nothing
    "reader.py": READ,
    "memory/search.py": QUERY,
    "memory/no_retrieval.py": of("query_memory", "no_retrieval")
    | of("read_answers", "no_retrieval")
    | of("judge_answers", "no_retrieval")
    | AFTER_JUDGE,
    "stats/scores.py": AFTER_JUDGE,
    "stats/holm.py": {"compare_methods", "write_table2"},
    "report/table2.py": {"write_table2"},
    "report/figure6.py": {"plot_figure6"},
}


@pytest.mark.slow
@pytest.mark.parametrize("path", EDITS)
def test_an_edit_reruns_its_stage_and_what_follows(run, path):
    append(run, f"workflow/lmev2/{path}", "\nEDITED = 1\n")
    assert_planned(planned(run), EDITS[path])


@pytest.mark.slow
@pytest.mark.parametrize("path", ["insert/notes.py", "insert/embedding.py", "memory/embedding_text.py"])
def test_an_edit_of_insert_leaves_other_pools_and_the_dataset_alone(run, path):
    append(run, f"workflow/lmev2/{path}", "\nEDITED = 1\n")
    jobs = planned(run)
    assert jobs >= RAG_ON
    assert rules_in(jobs - {"write_notes"} - EMBEDDINGS - QUERY) <= LATER


@pytest.mark.slow
def test_a_touched_file_and_an_edited_comment_or_docstring_rerun_nothing(run):
    later = time.time() + 100
    for path in (*run.glob("Snakefile"), *run.glob("workflow/**/*"), *run.glob("*/*.yaml")):
        os.utime(path, (later, later))
    assert planned(run) == set()
    for path in (*run.glob("workflow/scripts/*.py"), *run.glob("workflow/lmev2/**/*.py")):
        text = re.sub(r'\A"""', '"""Said otherwise. ', path.read_text(encoding="utf-8"))
        path.write_text(f"{text}\n# A remark.\n", encoding="utf-8")
    assert planned(run) == set()


@pytest.mark.slow
def test_a_changed_method_makes_only_its_own_files_of_the_explorer_anew(run):
    jobs = planned(run, **config(run, f"methods: {{{RAG}: {{options: {{top_notes: 1}}}}}}"))
    made = {job for job in jobs if job.startswith("explore_")}
    assert made == {f"explore_answers:{RAG}"}
    assert "write_explorer" in jobs
    (run / "tests/config/more.yaml").unlink()
    append(run, "workflow/lmev2/explorer/assets/explorer.css", "/* calmer */\n")
    assert planned(run) == {"write_explorer"}


# -- data --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_dataset_edits_pay_only_for_what_is_new(run):
    """A file with other bytes and the same content; then one more trajectory."""
    before = asked(run)
    notes = pq.read_table(run / "results/insert/notes.parquet").to_pylist()
    for path in run.glob("data/*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "ingest_dataset" in planned(run)
    snakemake(run, "results/stats/scores.parquet")
    assert asked(run) == before, "the same content was asked again"

    added = add_trajectory(run / "data")
    text = snakemake(run, "results/stats/scores.parquet").stdout
    assert "rule write_notes" in text
    new = asked(run) - before
    assert set(new.values()) == {1}
    more = pq.read_table(run / "results/insert/notes.parquet").to_pylist()
    assert [row for row in more if row["trajectory_id"] != added] == notes
    rules = rules_of(run, new)
    assert rules["write_notes"] in (1, 2)  # the note, and its repair if it was unreadable
    # Its slices and notes are embedded; no question, answer or verdict is made again: no haystack holds it.
    assert rules.keys() == {"write_notes", "embed_pool"}


def rules_of(run, keys):
    """Rule -> number of the calls with one of `keys`."""
    counts = {}
    for line in (run / "door.log").read_text().splitlines():
        event, rule, _, key = line.split()
        if event == "begin" and key in keys:
            counts[rule] = counts.get(rule, 0) + 1
    return counts

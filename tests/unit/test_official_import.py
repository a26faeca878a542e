"""Official runs as our tables: the round trip, what cannot be used, what is read differently."""

import io
import json
import math
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from official_data import (
    ODD,
    QUESTIONS,
    UNREADABLE,
    export,
    fit_run,
    places,
    put,
    question_rows,
    records,
    write_records,
)

from lmev2.explorer.answers import pack_answer, write_answers
from lmev2.official.importing.contexts import Screenshots
from lmev2.official.importing.plan import OfficialRunError, imported_arms
from lmev2.official.importing.report import write_report
from lmev2.official.importing.runs import import_runs
from lmev2.official.run_folder import DISPENSABLE
from lmev2.records import NO_SOURCE, SCHEMAS, Status
from lmev2.store import write_table

ARM = {
    "method": "theirs",
    "operating_point": "",
    "tier": "small",
    "label": "Theirs",
    "reader": "Qwen/Qwen3.5-9B",
    "judge": "gpt-5.2",
}
STATE = {
    "trajectory_id": "t1",
    "state_index": 1,
    "screenshot": "screenshots/t1/1.png",
    "screenshot_sha256": "d" * 64,
    "screenshot_width": 8,
    "screenshot_height": 6,
}


@pytest.fixture
def folder(tmp_path):
    return export(tmp_path)


def bring(*folders, partial=False, questions=None, states=(STATE,)):
    runs = [
        {"domain": folder.name.split("_")[-2], "place": str(folder), "inside": "", "judge": "gpt-5.2"}
        for folder in folders
    ]
    questions = questions or question_rows()
    haystacks = {row["question_id"]: ("t1", "t2") for row in questions}
    screenshots = Screenshots(states, folders[0].parent / "data")
    return import_runs(runs, ARM, questions, haystacks, screenshots, partial=partial)


def foreign(folder, change=lambda row: None):
    """The records as another program would have written them: nothing of ours in them."""
    rows = records(folder)
    for row in rows:
        row["memory_post_query_metadata"] = {"turns": 3}
        change(row)
    write_records(folder, rows)


def test_a_round_trip_keeps_scores_answers_latencies_and_contexts(tmp_path):
    folders = [export(tmp_path, domain=domain) for domain in ("web", "enterprise")]
    questions = question_rows("web") + question_rows("enterprise")
    found = bring(*folders, questions=questions)
    assert found.findings == []
    runs = [fit_run(domain) for domain in ("web", "enterprise")]
    for stage, kept in {
        "query": ("status", "latency_s", "in_flight", "insert_s"),
        "read": (
            *("status", "response_raw", "prediction", "boxed", "is_unknown", "was_truncated", "input_tokens"),
            *(
                "output_tokens",
                "context_items",
                "context_items_kept",
                "context_tokens",
                "context_tokens_kept",
            ),
        ),
        "judge": ("status", "score", "evaluator"),
    }.items():
        rows = getattr(found, stage)
        assert all(row.keys() == set(SCHEMAS[stage].names) for row in rows)
        before = [row for run in runs for row in run.stages[stage]]
        for name in kept:
            assert [row[name] for row in rows] == [row[name] for row in before], (stage, name)
    assert {row["method"] for row in found.query} == {"theirs"}
    for row in found.query:
        text, image = row["items"]
        assert (text["trajectory_id"], text["first_state"], text["source"]) == ("t1", 0, "slices")
        assert image["image"] == str(tmp_path / "data/screenshots/t1/1.png")
        assert (image["image_sha256"], image["width"], image["height"]) == ("d" * 64, 8, 6)
    assert [row["label"] for row in found.judge[:5]] == [None, None, 1, None, 0]
    assert {row["model"] for row in found.read} == {"Qwen/Qwen3.5-9B"}


def test_what_a_backends_hook_gave_back_goes_out_and_in(tmp_path):
    run = fit_run()
    run.stages["query"][0]["trace"] = json.dumps(
        {"post_query": {"turns": 3}, "post_query_s": 1.5, "builds": 1}
    )
    folder = export(tmp_path, run)
    first = records(folder)[0]
    assert first["memory_post_query_duration_seconds"] == 1.5
    assert first["memory_post_query_metadata"].keys() == {"turns", "lmev2"}
    traces = [json.loads(row["trace"]) for row in bring(folder).query]
    assert traces[0] == {"post_query": {"turns": 3}, "post_query_s": 1.5}
    assert traces[1] == {"post_query": None, "post_query_s": 0.0}


def test_where_items_of_other_programs_come_from(folder):
    def change(row):
        row["memory_context"] = [
            {"type": "text", "value": "About t1 and t1, but not t11."},
            {"type": "text", "value": "t1 or t2"},
            {"type": "image", "value": "/elsewhere/t1/1.png"},
            {"type": "image", "value": "/elsewhere/t9/9.png"},
        ]

    foreign(folder, change)
    found = bring(folder)
    items = found.query[0]["items"]
    assert [item["trajectory_id"] for item in items] == ["t1", None, "t1", None]
    assert [item["source"] for item in items] == [NO_SOURCE] * 4
    assert (items[2]["first_state"], items[2]["image_sha256"]) == (1, "d" * 64)
    assert (items[3]["image"], items[3]["image_sha256"]) == ("/elsewhere/t9/9.png", None)
    assert json.loads(found.query[0]["trace"]) == {"post_query": {"turns": 3}, "post_query_s": 0.0}
    # The whole context is not in the records, so its number of items is not known.
    assert found.read[0]["context_items"] is None and found.read[0]["context_items_kept"] == 4


def test_an_image_that_lies_here_is_measured(folder, tmp_path):
    from dataset_factory import png

    (tmp_path / "seen.png").write_bytes(png(7, (5, 4)))
    picture = {"type": "image", "value": str(tmp_path / "seen.png")}
    foreign(folder, lambda row: row.update(memory_context=[picture]))
    (item,) = bring(folder).query[0]["items"]
    assert (item["width"], item["height"], len(item["image_sha256"])) == (5, 4, 64)


def test_fields_that_nothing_depends_on_may_be_missing(folder):
    rows = [{key: row[key] for key in row if key not in DISPENSABLE} for row in records(folder)]
    write_records(folder, rows)
    found = bring(folder)
    assert [row["score"] for row in found.judge] == [score for *_, score in QUESTIONS]
    assert found.findings == []


def test_what_is_read_differently_is_listed(folder, tmp_path):
    def change(row):
        if row["question_id"] == "web-q1":
            row["response_parsed_boxed"] = "Umber"
        if row["question_id"] == "web-q2":  # a rule scores it: ours counts
            row.update(score=1.0, score_bool=True)
        if row["question_id"] == "web-q4":
            row["is_unknown"] = False
        if row["question_id"] == "web-q5":  # a judge scored it: theirs counts
            row.update(score=1.0, score_bool=True)

    foreign(folder, change)
    found = bring(folder)
    listed = [
        (finding.line, finding.question_id, finding.field, finding.recorded, finding.here)
        for finding in found.findings
        if finding.kind == "difference"
    ]
    assert listed == [
        (1, "web-q1", "response_parsed_boxed", "Umber", "Amber — “ü”"),
        (2, "web-q2", "score", "1.0 (True)", "0"),
        (4, "web-q4", "is_unknown", "False", "True"),
    ]
    assert [row["score"] for row in found.judge] == [1, 0, 1, 0, 1]
    figures = {finding.field for finding in found.findings if finding.kind == "aggregate"}
    assert {"overall.overall_full_set", "abstention_overall.pct_correct"} <= figures
    counts = write_report(found, ARM, [], tmp_path / "import.csv", tmp_path / "import.md")
    assert counts == {"difference": 3, "aggregate": len(found.findings) - 3}
    page = (tmp_path / "import.md").read_text()
    assert "3 fields that we read differently" in page and "Umber" in page
    assert len((tmp_path / "import.csv").read_text().splitlines()) == len(found.findings) + 1


def test_an_empty_response_is_no_answer(folder):
    foreign(folder, lambda row: row.update(response_raw=" ", response_parsed_boxed="", is_unknown=False))
    found = bring(folder)
    assert {row["status"] for row in found.judge} == {"empty_reply"}
    assert {row["score"] for row in found.judge} == {0}


def test_statuses_of_our_own_exports_come_back(tmp_path):
    run = fit_run()
    run.stages["query"][0]["status"] = run.stages["read"][0]["status"] = "agent_failed"
    run.stages["judge"][0].update(status="agent_failed", score=0, error="no output")
    run.stages["read"][0].update(response_raw="", prediction="")
    found = bring(export(tmp_path, run, allow_unfit=True))
    assert found.query[0]["status"] == found.judge[0]["status"] == "agent_failed"
    assert found.unfit == ["not every question has an answer: 1 agent_failed (`retry_statuses` asks again)"]


def cut(rows):
    """The last line as a full disk or a kill leaves it."""
    text = json.dumps(rows[-1])
    return [*rows[:-1], text[: len(text) // 2]]


def with_record(number, **values):
    return lambda rows: [row | values if place == number else row for place, row in enumerate(rows)]


def lacking(name):
    return lambda rows: [{key: row[key] for key in row if key != name} for row in rows]


FAULTS = {
    "per_question.jsonl: question web-q2: there is no record of the question": lambda rows: [
        rows[0],
        *rows[2:],
    ],
    "question web-q1: question_id: the question has several records: lines 1, 6": lambda rows: [
        *rows,
        rows[0],
    ],
    "per_question.jsonl:5: question web-q5: Unterminated string": cut,
    "as if the file were cut off": cut,
    "per_question.jsonl:1: question ?: the line is not a JSON object": lambda rows: ["7\n", *rows[1:]],
    "question web-q1: the field 'response_raw' is missing": lacking("response_raw"),
    "question web-q1: the field 'haystack_ids' is missing": lacking("haystack_ids"),
    "question web-q1: the field 'score' is True, not int or float": with_record(0, score=True),
    "question other: question_id: the question is none of the dataset": with_record(0, question_id="other"),
    "question web-q1: question_text: is 'Else?'; the dataset has": with_record(0, question_text="Else?"),
    "question web-q1: question_type: is 'procedure'": with_record(0, question_type="procedure"),
    "question web-q1: eval_function: is 'mc_choice_match'": with_record(0, eval_function="mc_choice_match"),
    "question web-q1: answer_gold: is 'C'": with_record(0, answer_gold="C"),
    "haystack_ids: holds the tier's trajectories in another order": with_record(0, haystack_ids=["t2", "t1"]),
    "haystack_ids: is not the tier's haystack: 1 trajectories for 2, 1 differ": with_record(
        0, haystack_ids=["t1"]
    ),
    "score: is 0.5, neither 0 nor 1": with_record(0, score=0.5),
    "memory_query_duration_seconds: is -1, no duration": with_record(0, memory_query_duration_seconds=-1),
    "memory_query_duration_seconds: is nan, no duration": with_record(
        0, memory_query_duration_seconds=math.nan
    ),
    "memory_context[0]: is not": with_record(0, memory_context=["text"]),
    "usage.prompt_tokens: is None": with_record(0, usage={"completion_tokens": 1}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_used_is_named_and_refused_or_left_out_and_marked(folder, fault):
    write_records(folder, FAULTS[fault](records(folder)))
    with pytest.raises(OfficialRunError) as refused:
        bring(folder)
    assert fault in str(refused.value)
    assert "official_runs.theirs.partial: true" in str(refused.value)
    found = bring(folder, partial=True)
    assert [len(rows) for rows in (found.query, found.read, found.judge)] == [5, 5, 5]
    left_out = [row for row in found.judge if row["status"] == Status.NOT_IMPORTED]
    assert left_out and all(row["score"] == 0 and row["error"] for row in left_out)
    gone = {row["question_id"] for row in left_out}
    assert all((row["latency_s"] is None) == (row["question_id"] in gone) for row in found.query)
    for stage in ("query", "read", "judge"):
        assert all(row.keys() == set(SCHEMAS[stage].names) for row in getattr(found, stage))


def test_all_faults_are_named_at_once(folder):
    rows = records(folder)
    rows[0]["question_text"], rows[1]["score"], rows[2]["haystack_ids"] = "Else?", 7, []
    write_records(folder, rows[:4])
    with pytest.raises(OfficialRunError, match="4 records cannot be used"):
        bring(folder)


def test_a_domain_without_a_run_is_missing(folder):
    questions = question_rows("web") + question_rows("enterprise")
    with pytest.raises(OfficialRunError, match="no enterprise run is given: question enterprise-q1"):
        bring(folder, questions=questions)
    found = bring(folder, questions=questions, partial=True)
    assert sum(row["status"] == Status.NOT_IMPORTED for row in found.judge) == 5


def test_the_explorer_shows_imported_answers_and_those_that_are_not_there(folder, tmp_path):
    foreign(folder)
    write_records(folder, records(folder)[1:])
    found = bring(folder, partial=True)
    files = [tmp_path / f"{stage}.parquet" for stage in ("query", "read", "judge")]
    for stage, file in zip(("query", "read", "judge"), files, strict=True):
        write_table(stage, getattr(found, stage), file)
    questions = {row["question_id"]: row for row in question_rows()}
    counts = write_answers(questions, *files, {}, {}, tmp_path / "answers/theirs", "small")
    assert counts == {"answers": 5, "files": 1}
    rows = {row["question_id"]: row for row in found.query}
    texts = {
        row["question_id"]: pack_answer(rows[row["question_id"]], row, judge, {}, {})
        for row, judge in zip(found.read, found.judge, strict=True)
    }
    assert texts["web-q1"]["query"]["status"] == Status.NOT_IMPORTED
    assert texts["web-q1"]["query"]["error"]
    assert json.loads(texts["web-q2"]["trace"]["more"])["post_query"] == {"turns": 3}
    assert texts["web-q2"]["read"]["response"] == "\\boxed{Left}"


def test_a_question_of_the_other_domain_does_not_count(tmp_path):
    folder = export(tmp_path)
    write_records(folder, [*records(folder), *records(export(tmp_path, domain="enterprise"))])
    with pytest.raises(OfficialRunError, match="the question is of the domain enterprise; the run is of web"):
        bring(folder, questions=question_rows("web") + question_rows("enterprise"))


# -- which runs the config means ------------------------------------------------------------------------


def plan(tiers=("small",), methods=(), **entries):
    usual = {
        "label": "Theirs",
        "family": "rag",
        "partial": False,
        "default_point": "",
        "operating_points": {},
    }
    faults = []
    section = {id_: {**usual, **entry} for id_, entry in entries.items()}
    return imported_arms(section, tiers, {key: {} for key in methods}, faults), faults


@pytest.fixture
def both(tmp_path):
    return [str(export(tmp_path, domain=domain)) for domain in ("web", "enterprise")]


def test_domains_and_tiers_of_a_method_become_one_arm(both, tmp_path):
    medium = export(tmp_path, replace(fit_run(), tier="medium"), allow_unfit=True)
    arms, faults = plan(("small", "medium"), theirs={"runs": [*both, str(medium)]})
    assert faults == []
    (arm,) = arms.values()
    assert {tier: [run.domain for run in runs] for tier, runs in arm.runs.items()} == {
        "small": ["enterprise", "web"],
        "medium": ["web"],
    }
    assert arm.models == {"reader": "Qwen/Qwen3.5-9B", "judge": "gpt-5.2"}
    assert arm.label == "Theirs (official run)"
    (partial,) = plan(theirs={"runs": both, "partial": True})[0].values()
    assert partial.label == "Theirs (official run, in part)"


def test_early_versions_name_method_and_tier_in_the_folder_only(both):
    for folder in both:
        path = Path(folder, "run_args.json")
        args = json.loads(path.read_text())
        del args["tier"], args["method"]
        path.write_text(json.dumps(args))
    assert list(plan(theirs={"runs": both})[0]["theirs"].runs) == ["small"]


def test_a_package_brings_its_operating_points(tmp_path):
    from test_official_export import package, unpacked

    archive, _ = package(tmp_path)
    for place in (archive, unpacked(archive, tmp_path / "open")):
        arms, faults = plan(theirs={"runs": [str(place)]})
        assert faults == [] and sorted(arms) == ["theirs", "theirs@fast"]
        assert {run.domain for run in arms["theirs@fast"].runs["small"]} == {"web", "enterprise"}
    (run, _) = plan(theirs={"runs": [str(archive)]})[0]["theirs@fast"].runs["small"]
    found = import_runs(
        [run.params],
        ARM,
        question_rows(run.domain),
        {row["question_id"]: ("t1", "t2") for row in question_rows(run.domain)},
        Screenshots([], tmp_path),
        partial=False,
    )
    assert [row["latency_s"] for row in found.query] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert run.files == [str(archive)]
    other, faults = plan(theirs={"runs": [str(archive)], "default_point": "fast"})
    assert faults == [] and sorted(other) == ["theirs", "theirs@default"]
    _, faults = plan(theirs={"runs": [str(archive)], "default_point": "slow"})
    assert faults == [
        "official_runs.theirs.default_point: say which operating point Table 2 shows: default, fast"
    ]


def with_args(number, text):
    """The runs with another run_args.json in one of them."""

    def change(both):
        Path(both[number], "run_args.json").write_text(text)
        return {"runs": both}

    return change


OTHER_JUDGE = (
    '{"domain": "enterprise", "tier": "small", "model": "Qwen/Qwen3.5-9B", "evaluator_model": "gpt-5"}'
)

PLANS = {
    "official_runs.theirs.runs: there is neither a folder nor an archive nowhere": lambda both: {
        "runs": ["nowhere"]
    },
    "has no run_args.json: it is no finished official run": lambda both: {
        "runs": [f"{both[0]}/runtime_inputs"]
    },
    "are both of web small": lambda both: (
        {"runs": both, "operating_points": {}} | {"runs": [*both, both[0] + "/."]}
    ),
    "its runs have different models": with_args(1, OTHER_JUDGE),
    "run_args.json: cannot be read as JSON": with_args(0, '{"domain": '),
    "run_args.json: lacks model, evaluator_model": with_args(0, '{"domain": "web", "tier": "small"}'),
}


@pytest.mark.parametrize("fault", PLANS)
def test_a_run_that_cannot_be_planned_is_named(both, fault):
    _, faults = plan(theirs=PLANS[fault](both))
    assert len(faults) == 1 and fault in faults[0]


def test_a_tier_that_is_not_run_an_id_and_a_label_that_are_taken(both):
    _, faults = plan(("medium",), ("theirs",), theirs={"runs": both}, more={"runs": both})
    assert any("is of the tier 'small', which is not in `tiers`" in fault for fault in faults)
    assert any("methods.theirs has that id too" in fault for fault in faults)
    assert any("'Theirs' is official_runs.theirs's label too" in fault for fault in faults)


@pytest.fixture(scope="module")
def sound_folder(tmp_path_factory):
    return export(tmp_path_factory.mktemp("sound"))


@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_whatever_stands_in_a_record_it_is_used_or_named(sound_folder, data):
    rows = records(sound_folder)
    value = {key: row for key, row in rows[0].items() if key != "prompt_messages"}
    place, odd = data.draw(st.sampled_from(list(places(value)))), data.draw(st.sampled_from(ODD))
    line = data.draw(st.sampled_from([None, *UNREADABLE]))
    text = "".join(json.dumps(row) + "\n" for row in [put(value, place, odd), *rows[1:]])
    file = sound_folder / "per_question.jsonl"
    before = file.read_bytes()
    try:
        file.write_bytes(
            line + b"\n" + text.partition("\n")[2].encode() if line is not None else text.encode()
        )
        found = bring(sound_folder, partial=True)
        for stage in ("query", "read", "judge"):
            write_table(stage, getattr(found, stage), sound_folder.parent / "table.parquet")
        write_report(found, ARM, [], sound_folder.parent / "r.csv", sound_folder.parent / "r.md")
        lost = any(row["status"] == Status.NOT_IMPORTED for row in found.judge)
        assert lost == any(finding.kind == "left out" for finding in found.findings)
        if lost:
            with pytest.raises(OfficialRunError, match=r"per_question\.jsonl"):
                bring(sound_folder)
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize("name", ["run_args.json", "aggregated_metrics.json"])
@pytest.mark.parametrize("content", UNREADABLE)
def test_other_files_that_cannot_be_read_are_named(folder, name, content):
    (folder / name).write_bytes(content)
    if name == "run_args.json":
        with pytest.raises(OfficialRunError, match=r"run_args\.json"):
            bring(folder)
    else:
        assert any(finding.kind == "aggregate" for finding in bring(folder).findings)


def test_an_image_that_is_none_keeps_its_path(folder, tmp_path):
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "no.png").write_text("text")
    for path in ("no.png", "\0", "/etc/passwd", "../x"):
        foreign(folder, lambda row, path=path: row["memory_context"].append({"type": "image", "value": path}))
        item = bring(folder).query[0]["items"][-1]
        assert (item["image"], item["image_sha256"], item["width"]) == (path, None, None)


def members(archive, entries):
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in entries.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"run_args.json": b"{}"}, "holds no run_args.json"),
        ({"s/operating_points/d/web/run_args.json": b" " * 2_000_000}, "has 2,000,000 bytes"),
        ({"s/operating_points/d/web/run_args.json": b"\xff"}, "cannot be read"),
        ({"s/operating_points/d/web/run_args.json": b"[" * 100_000}, "nested too deeply"),
        (None, "cannot be read"),
    ],
)
def test_a_package_that_is_none_is_named(tmp_path, entries, expected):
    archive = tmp_path / "p.tar.gz"
    archive.write_bytes(b"\x1f\x8b\x08") if entries is None else members(archive, entries)
    faults = []
    section = {"runs": [str(archive)], "label": "T", "family": "a", "partial": False}
    imported_arms({"t": {**section, "default_point": "", "operating_points": {}}}, ["small"], {}, faults)
    assert (
        len(faults) == 1
        and faults[0].startswith(f"official_runs.t.runs: {archive}")
        and expected in faults[0]
    )

"""Official run folders and packages: what is written, what is refused, what the checker finds."""

import hashlib
import json
import os
import shutil
import tarfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from official_data import (
    DIGESTS,
    ODD,
    QUESTIONS,
    UNREADABLE,
    arm,
    export,
    fit_run,
    places,
    put,
    records,
    write_records,
)

from lmev2.cli import main
from lmev2.errors import UserError
from lmev2.official.check import check_path
from lmev2.official.check_run import check_run
from lmev2.official.leaderboard import PackageError, build_package, summarise_lafs
from lmev2.official.refusals import UnfitError, find_refusals
from lmev2.official.run_folder import RECORD_FIELDS, RECORDS, RUN_FILES
from lmev2.release.manifest import released_digests
from lmev2.report.paper import RELEASED_QUESTIONS_SHA256

READER = {"provider": "openai", "model": "Qwen/Qwen3.5-9B", "sampling": {}}
EMBEDDED = {"provider": "embedded", "model": "extractive", "sampling": {}}


def changed(stage, number=0, **values):
    """The fit run with other values in one row of a stage."""
    run = fit_run()
    rows = [row | values if place == number else row for place, row in enumerate(run.stages[stage])]
    return replace(run, stages={**run.stages, stage: rows})


def chain(**models):
    return {"chain": {**arm()["chain"], **models}}


def without(stage):
    run = fit_run()
    return replace(run, stages={**run.stages, stage: run.stages[stage][1:]})


@pytest.fixture
def folder(tmp_path):
    return export(tmp_path)


def test_a_fit_run_becomes_a_sound_folder(folder):
    assert check_path(folder) == []
    assert sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    ) == sorted(RUN_FILES)
    args = json.loads((folder / "run_args.json").read_text())
    assert {key: args[key] for key in ("domain", "tier", "method", "model", "evaluator_model")} == {
        "domain": "web",
        "tier": "small",
        "method": "mine",
        "model": "Qwen/Qwen3.5-9B",
        "evaluator_model": "gpt-5.2",
    }
    rows = records(folder)
    assert [row["question_id"] for row in rows] == [f"web-{id_}" for id_, *_ in QUESTIONS]
    assert all(tuple(row) == tuple(RECORD_FIELDS) for row in rows)
    first = rows[0]
    # The image by its path in the dataset; what truncation dropped is not there.
    assert first["memory_context"] == [
        {"type": "text", "value": "Slice of trajectory t1, states 0-1"},
        {"type": "image", "value": "screenshots/t1/1.png"},
    ]
    system, user = first["prompt_messages"]
    assert system["role"] == "system" and isinstance(system["content"], str)
    assert [part["type"] for part in user["content"]] == ["text", "image_path", "text"]
    assert user["content"][1]["image_path"] == "screenshots/t1/1.png"
    assert first["question_text"] in user["content"][2]["text"]
    assert "base64" not in (folder / "per_question.jsonl").read_text()
    assert first["response_raw"] == "It is \\boxed{Amber — “ü”}"
    assert (folder / "per_question.jsonl").read_bytes().isascii()
    assert first["usage"] == {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def test_the_same_run_gives_the_same_bytes(tmp_path):
    one, other = (export(tmp_path / name) for name in ("one", "other"))
    for name in RUN_FILES:
        assert (one / name).read_bytes() == (other / name).read_bytes()


REFUSED = {
    "the embedding is an embedded model": fit_run(**chain(embedding=EMBEDDED)),
    "the controller is an embedded model": fit_run(**chain(controller=EMBEDDED)),
    "the agent is an embedded model": fit_run(**chain(agent=EMBEDDED)),
    "the reader is an embedded model": fit_run(**chain(reader={**READER, "provider": "embedded"})),
    "the reader is gpt-5.2; the leaderboard's is qwen3.5-9b": fit_run(
        **chain(reader={**READER, "model": "gpt-5.2"})
    ),
    "the judge is gpt-4.1; the leaderboard's is gpt-5.2": fit_run(
        **chain(judge={**READER, "model": "gpt-4.1"})
    ),
    "up to 300,000 tokens of context": fit_run(context_tokens=300_000),
    "it is in paper mode": fit_run(leaderboard_safe=False),
    "it is a pilot study": fit_run(labels=True, leaderboard_safe=False),
    "each question is asked 2 times": fit_run(repeats=2),
    "the tier 'large' is none of the leaderboard's": replace(fit_run(), tier="large"),
    "questions.jsonl is not the released one": replace(
        fit_run(), digests={**DIGESTS, "questions.jsonl": "0" * 64}
    ),
    "lme_v2_small.json is not the released one": replace(
        fit_run(), digests={**DIGESTS, "haystacks/lme_v2_small.json": "0" * 64}
    ),
    "trajectories.jsonl was not read": replace(
        fit_run(), digests={key: value for key, value in DIGESTS.items() if "traj" not in key}
    ),
    "the haystacks of 1 (web-q2) are not those": replace(
        fit_run(), haystack={**fit_run().haystack, "web-q2": ("t2", "t1")}
    ),
    "the haystacks of 5": replace(fit_run(), haystack_file=None),
    "query: 1 (web-q1) of 5 questions are missing": without("query"),
    "read: 1 (web-q1) of 5 questions are missing": without("read"),
    "judge: 1 (web-q1) of 5 questions are missing": without("judge"),
    "judge: 1 (web-q2) are there more than once": changed("judge", 0, question_id="web-q2"),
    "not every question has an answer: 1 agent_failed": changed("judge", status="agent_failed"),
    "1 (web-q1) have no latency": changed("query", latency_s=None),
    "the mean query latency is 0": fit_run(latency_s=0.0),
    "the latencies of 1 (web-q1) were measured with more than 1 queries": changed("query", in_flight=2),
    "or it is not known with how many": changed("query", in_flight=None),
    "asked in 4 jobs (`shards`) of 1 at a time": fit_run(shards=4),
    "goals of the dataset are rewritten": fit_run(rewritten=True),
    "has no question of this domain": replace(fit_run(), questions=[]),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_not_for_the_leaderboard_is_refused(tmp_path, reason):
    with pytest.raises(UnfitError) as refused:
        export(tmp_path, REFUSED[reason])
    assert reason in str(refused.value)
    assert "mine_web" in str(refused.value) and "allow_unfit" in str(refused.value)
    assert not list(tmp_path.rglob("*.json*"))


def test_a_fit_run_has_no_reason_and_agents_may_run_three_at_a_time():
    assert find_refusals(fit_run(), DIGESTS) == []
    agents = replace(changed("query", in_flight=3), arm=arm(runs_agent=True))
    assert find_refusals(agents, DIGESTS) == []


def test_all_reasons_come_at_once_and_an_unfit_export_is_marked(tmp_path):
    run = replace(
        changed("judge", status="refusal", score=0), arm=arm(leaderboard_safe=False, repeats=3, shards=2)
    )
    reasons = find_refusals(run, DIGESTS)
    assert len(reasons) == 4
    folder = export(tmp_path, run, allow_unfit=True)
    for name in ("run_args.json", "aggregated_metrics.json"):
        assert json.loads((folder / name).read_text())["not_for_submission"] == reasons
    page = (folder / "NOT_FOR_SUBMISSION.md").read_text()
    assert all(reason in page for reason in reasons)
    assert any("marked as not for submission" in problem for problem in check_run(folder))
    # Once nothing speaks against it the mark is gone.
    assert not (export(tmp_path) / "NOT_FOR_SUBMISSION.md").exists()


def test_the_released_digests_are_those_of_the_papers_figures():
    assert released_digests()["questions.jsonl"] == RELEASED_QUESTIONS_SHA256
    assert released_digests().keys() >= DIGESTS.keys() | {"haystacks/lme_v2_medium.json"}


# -- the checker --------------------------------------------------------------------------------------


def edited(name, change):
    def apply(folder):
        value = json.loads((folder / name).read_text())
        change(value)
        (folder / name).write_text(json.dumps(value))

    return apply


def record(number, **values):
    def apply(folder):
        rows = records(folder)
        rows[number] |= values
        write_records(folder, rows)

    return apply


def lines(change):
    return lambda folder: write_records(folder, change(records(folder)))


DAMAGED = {
    "run_args.json: the file is missing": lambda folder: (folder / "run_args.json").unlink(),
    "haystack.json: the file is missing": lambda folder: (folder / "runtime_inputs/haystack.json").unlink(),
    "cannot be read as JSON": lambda folder: (folder / "run_args.json").write_text("{"),
    "should be a JSON object": lambda folder: (folder / "aggregated_metrics.json").write_text("[]"),
    "the domain is 'shop'": edited("run_args.json", lambda args: args.update(domain="shop")),
    "the tier is None": edited("run_args.json", lambda args: args.pop("tier")),
    "the method 'a b'": edited("run_args.json", lambda args: args.update(method="a b")),
    "model is 'gpt-4'": edited("run_args.json", lambda args: args.update(model="gpt-4")),
    "evaluator_model is None": edited("run_args.json", lambda args: args.pop("evaluator_model")),
    "1 questions are missing: web-q1": lines(lambda rows: rows[1:]),
    "more than once: web-q1": lines(lambda rows: [*rows, rows[0]]),
    "not among runtime_inputs/questions.json: new": record(0, question_id="new"),
    "per_question.jsonl:5: cannot be read as JSON": lines(
        lambda rows: [*rows[:-1], json.dumps(rows[-1])[:-9]]
    ),
    "per_question.jsonl:1: the field 'usage' is missing": lines(
        lambda rows: [{k: v for k, v in rows[0].items() if k != "usage"}, *rows[1:]]
    ),
    "the field 'index' is True, not int": record(0, index=True),
    "should be ASCII": lines(lambda rows: [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]),
    "memory_context[0] is not": record(0, memory_context=[{"type": "video", "value": "x"}]),
    "the category of 'static-environment' is not 'gotchas'": record(0, category="gotchas"),
    "is_abstention_problem does not fit": record(0, is_abstention_problem=True),
    "do not fit": record(0, score_bool=False),
    "UNKNOWN scores 0": record(3, score=1.0, score_bool=True),
    "haystack_ids differ": record(0, haystack_ids=["t2"]),
    "overall.overall_full_set is 0.9": edited(
        "aggregated_metrics.json", lambda metrics: metrics["overall"].update(overall_full_set=0.9)
    ),
    "count_all_questions should be a whole number": edited(
        "aggregated_metrics.json", lambda metrics: metrics["overall"].update(count_all_questions=5.0)
    ),
    "gotchas.pct_correct is 0; without questions it is null": edited(
        "aggregated_metrics.json",
        lambda metrics: metrics["non_abstention_by_category"]["gotchas"].update(pct_correct=0),
    ),
    "memory_query.p95_seconds is missing": edited(
        "aggregated_metrics.json", lambda metrics: metrics["memory_query"].pop("p95_seconds")
    ),
    "memory_context.avg_final_tokens is 1": edited(
        "aggregated_metrics.json", lambda metrics: metrics["memory_context"].update(avg_final_tokens=1)
    ),
    "memory_context is missing": edited(
        "aggregated_metrics.json", lambda metrics: metrics.pop("memory_context")
    ),
    "tokens.total_tokens is 1": edited(
        "aggregated_metrics.json", lambda metrics: metrics["tokens"].update(total_tokens=1)
    ),
    "abstention_overall is missing": edited(
        "aggregated_metrics.json", lambda metrics: metrics.pop("abstention_overall")
    ),
    "the mean query latency is 0.0": lines(
        lambda rows: [{**row, "memory_query_duration_seconds": 0.0} for row in rows]
    ),
    "has questions of enterprise": edited(
        "runtime_inputs/questions.json", lambda rows: rows[0].update(domain="enterprise")
    ),
    "counts of question types differ": edited(
        "runtime_inputs/questions.json", lambda rows: rows[0].update(question_type="procedure")
    ),
}


@pytest.mark.parametrize("problem", DAMAGED)
def test_the_checker_names_what_is_wrong(folder, problem):
    DAMAGED[problem](folder)
    found = check_run(folder)
    assert any(problem in line for line in found), found
    assert all(str(folder) in line for line in found)


# -- packages -----------------------------------------------------------------------------------------


def package(place, runs=None, **how):
    runs = runs or {
        "default": {domain: export(place / "default", domain=domain) for domain in ("web", "enterprise")},
        "fast": {
            domain: export(place / "fast", fit_run(domain, latency_s=0.1, name="mine-fast"), domain)
            for domain in ("web", "enterprise")
        },
    }
    code = place / "mine.py"
    code.write_text("class Mine: pass\n")
    options = {"description": "# Mine\n", "code_file": code, "allow_unfit": False, **how}
    archive = place / "mine_small.tar.gz"
    return archive, build_package(archive, runs, method="mine", tier="small", **options)


def unpacked(archive, place):
    shutil.unpack_archive(archive, place)
    return place / "mine_small"


def test_a_package_is_sound_and_its_bytes_depend_on_its_files_alone(tmp_path):
    archive, overview = package(tmp_path / "one")
    assert check_path(archive) == []
    other, _ = package(tmp_path / "other")
    os.utime(other.parent / "mine.py", (1, 1))
    assert hashlib.sha256(archive.read_bytes()).digest() == hashlib.sha256(other.read_bytes()).digest()
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    assert all(
        member.mtime == 0 and not member.uname and (member.isreg() or member.isdir()) for member in members
    )
    names = {member.name for member in members}
    assert {
        "mine_small/SYSTEM_DESCRIPTION.md",
        "mine_small/mine.py",
        "mine_small/submission_overview.json",
    } <= names
    assert "mine_small/operating_points/fast/web/runtime_inputs/haystack.json" in names
    assert [point["name"] for point in overview["operating_points"]] == ["default", "fast"]
    assert overview["operating_points"][1]["memory_query_avg_seconds"] == pytest.approx(0.3)
    assert overview["operating_points"][0]["lafs_accuracy_percentage_points"] == pytest.approx(40)


def test_lafs_of_the_reference_and_a_gain():
    for tier, reference in (("small", 55.765), ("medium", 51.074)):
        point = {"overall_full_set": 0.9, "memory_query_avg_seconds": 0.1}
        found = summarise_lafs(tier, {"mine": point})
        assert found["reference_lafs"] == pytest.approx(reference, abs=1e-3)
        assert found["submission_lafs"] == pytest.approx(90)
        assert found["lafs_gain"] == pytest.approx(90 - found["reference_lafs"])
        assert [entry["name"] for entry in found["submission_frontier"]] == ["mine"]
        assert [entry["accuracy"] for entry in found["reference_frontier"]] == (
            [51.0, 58.6, 74.9] if tier == "small" else [45.9, 57.0, 70.1]
        )


def test_a_package_of_an_unfit_run_is_refused_or_marked(tmp_path):
    runs = {
        "default": {
            domain: export(tmp_path, fit_run(domain, repeats=2), domain, allow_unfit=True)
            for domain in ("web", "enterprise")
        }
    }
    with pytest.raises(
        UnfitError, match=r"mine_web_small: each question is asked 2 times(.|\n)*mine_enterprise"
    ):
        package(tmp_path, runs)
    with pytest.raises(UnfitError, match="the description is empty"):
        package(tmp_path, runs, description=" \n")
    archive, overview = package(tmp_path, runs, allow_unfit=True)
    assert len(overview["not_for_submission"]) == 2
    assert any("marked as not for submission" in problem for problem in check_path(archive))


def test_a_code_file_is_one_file_with_a_plain_name(tmp_path):
    for name in ("two words.py", "SYSTEM_DESCRIPTION.md", "missing.py"):
        if "missing" not in name:
            (tmp_path / name).write_text("pass\n")
        with pytest.raises(PackageError, match="the code file"):
            package(tmp_path, {"default": {}}, code_file=tmp_path / name)


PACKAGES = {
    "links are not allowed": lambda folder: (folder / "link.py").symlink_to(folder / "mine.py"),
    "names are of letters": lambda folder: (folder / "mine.py").rename(folder / "my code.py"),
    "SYSTEM_DESCRIPTION.md: the file is missing": lambda folder: (folder / "SYSTEM_DESCRIPTION.md").unlink(),
    "there should be one code file": lambda folder: (folder / "more.py").write_text(""),
    "operating_points are": lambda folder: (folder / "operating_points/fast").rename(
        folder / "operating_points/slow"
    ),
    "lacks metric_overview.json": lambda folder: (
        folder / "operating_points/fast/metric_overview.json"
    ).unlink(),
    "tier is 'medium', not 'small'": lambda folder: edited(
        "operating_point_metadata.json", lambda value: value.update(tier="medium")
    )(folder / "operating_points/fast"),
    "overall_full_set is 1; the records say 0.4": lambda folder: edited(
        "metric_overview.json", lambda value: value.update(overall_full_set=1)
    )(folder / "operating_points/fast"),
    "operating points differ in web haystacks": lambda folder: edited(
        "runtime_inputs/haystack.json", lambda value: value.update({"web-q1": ["t9"]})
    )(folder / "operating_points/fast/web"),
    "the method is 'other', not 'mine'": lambda folder: edited(
        "run_args.json", lambda value: value.update(method="other")
    )(folder / "operating_points/fast/web"),
}


@pytest.fixture(scope="module")
def sound_package(tmp_path_factory):
    return package(tmp_path_factory.mktemp("package"))[0]


@pytest.mark.parametrize("problem", PACKAGES)
def test_the_checker_names_what_is_wrong_with_a_package(sound_package, tmp_path, problem):
    folder = unpacked(sound_package, tmp_path)
    PACKAGES[problem](folder)
    found = check_path(folder)
    assert any(problem in line for line in found), found


def test_the_command_checks_what_it_is_given(tmp_path, capsys):
    folder = export(tmp_path)
    assert main(["official", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}: sound\n"
    record(3, score=1.0, score_bool=True)(folder)
    assert main(["official", str(folder)]) == 1
    assert "web-q4: UNKNOWN scores 0" in capsys.readouterr().out
    assert main(["official", str(tmp_path / "data")]) == 2
    assert "is no run folder" in capsys.readouterr().err
    (tmp_path / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08\x00")
    assert main(["official", str(tmp_path / "cut.tar.gz")]) == 2
    assert "cannot be read as a .tar.gz" in capsys.readouterr().err


def test_an_archive_with_links_or_paths_that_leave_it_is_not_unpacked(tmp_path):
    archive = tmp_path / "bad.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, kind, target in (("a/link", tarfile.SYMTYPE, "/etc"), ("a/../../out", tarfile.REGTYPE, "")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            tar.addfile(member)
    problems = check_path(archive)
    assert any("a/link: neither a file nor a folder" in problem for problem in problems)
    assert any("a/../../out: names are of" in problem for problem in problems)
    assert not (tmp_path.parent / "out").exists()


@pytest.fixture(scope="module")
def sound_folder(tmp_path_factory):
    return export(tmp_path_factory.mktemp("sound"))


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_whatever_stands_in_a_run_folder_the_checker_names_it(sound_folder, data):
    name = data.draw(st.sampled_from(RUN_FILES))
    file = sound_folder / name
    before = file.read_bytes()
    first, _, rest = before.partition(b"\n") if name == RECORDS else (before, b"", b"")
    value = json.loads(first)
    place, odd = data.draw(st.sampled_from(list(places(value)))), data.draw(st.sampled_from(ODD))
    try:
        file.write_bytes(json.dumps(put(value, place, odd)).encode() + b"\n" + rest)
        assert all(str(sound_folder) in problem for problem in check_path(sound_folder))
        file.write_bytes(data.draw(st.sampled_from(UNREADABLE)) + b"\n" + rest)
        assert check_path(sound_folder)
    finally:
        file.write_bytes(before)


def test_whatever_stands_in_an_overview_the_checker_names_it(sound_package, tmp_path):
    folder = unpacked(sound_package, tmp_path)
    file = folder / "submission_overview.json"
    value = json.loads(file.read_text())
    shutil.rmtree(folder / "operating_points" / "fast")
    for key in ("submission_name", "tier", "code_file", "operating_points"):
        for odd in (None, 1, "x", [], [None], {}):
            file.write_text(json.dumps(put(value, (key,), odd)))
            assert check_path(folder), (key, odd)


def test_a_damaged_package_is_found_out_by_its_checksum(tmp_path):
    archive, _ = package(tmp_path)
    data = archive.read_bytes()
    archive.write_bytes(data[:-8] + bytes(4) + data[-4:])
    with pytest.raises(UserError, match=r"mine_small.tar.gz: cannot be read as a .tar.gz: CRC check failed"):
        check_path(archive)

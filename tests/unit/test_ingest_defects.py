"""Every defect of a dataset has its own message with file, line and id; all of a run come together."""

import json

import pytest
from dataset_factory import PHRASE, make_dataset, png

from lmev2.ingest.dataset import ingest_dataset, validate_dataset
from lmev2.ingest.defects import DatasetError, Defect, render_defects

TIERS = ["small", "medium"]


def defects_of(tmp_path, change):
    _, defects = validate_dataset(make_dataset(tmp_path / "data", change), TIERS)
    return defects


def only(defects):
    assert len(defects) == 1, "\n".join(str(defect) for defect in defects)
    return defects[0]


def test_a_sound_dataset_has_no_defects(tmp_path):
    assert defects_of(tmp_path, None) == []


# -- rows ------------------------------------------------------------------------------------------


def without(name, position, key):
    return lambda content: getattr(content, name)[position].pop(key)


def with_value(name, position, key, value):
    return lambda content: getattr(content, name)[position].update({key: value})


def with_state(key, value):
    return lambda content: content.trajectories[1]["states"][1].update({key: value})


QUESTION_KEYS = ["domain", "environment", "question_type", "question", "answer", "eval_function"]


@pytest.mark.parametrize("key", QUESTION_KEYS)
@pytest.mark.parametrize("fault", ["missing", "number", "null"])
def test_wrong_question_field(tmp_path, key, fault):
    value = {"number": 3, "null": None}.get(fault)
    change = without("questions", 2, key) if fault == "missing" else with_value("questions", 2, key, value)
    defect = only(defects_of(tmp_path, change))
    assert (defect.file, defect.line, defect.id) == ("questions.jsonl", 3, "q3")
    assert f"{key!r} is {'a number' if fault == 'number' else fault}" in defect.message


@pytest.mark.parametrize("key", ["domain", "environment", "goal", "start_url", "states"])
def test_missing_trajectory_field(tmp_path, key):
    defect = only(defects_of(tmp_path, without("trajectories", 1, key)))
    assert (defect.file, defect.line, defect.id) == ("trajectories.jsonl", 2, "t2")
    assert f"the field {key!r} is missing" in defect.message


@pytest.mark.parametrize("key", ["state_index", "step", "url", "accessibility_tree"])
def test_missing_state_field(tmp_path, key):
    defect = only(defects_of(tmp_path, lambda content: content.trajectories[1]["states"][1].pop(key)))
    assert (defect.file, defect.line, defect.id) == ("trajectories.jsonl", 2, "t2")
    assert f"state 1: the field {key!r} is missing" in defect.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("state_index", True),
        ("state_index", "1"),
        ("state_index", -1),
        ("step", 1.5),
        ("step", 2**40),
        ("url", 7),
        ("action", ["click"]),
        ("thought", {}),
        ("accessibility_tree", None),
    ],
)
def test_ill_typed_state_field(tmp_path, key, value):
    defect = only(defects_of(tmp_path, with_state(key, value)))
    assert (defect.line, defect.id) == (2, "t2")
    assert f"state 1: the field {key!r} is " in defect.message


@pytest.mark.parametrize("states", [[], "none", 3, None])
def test_states_must_be_a_list_with_something_in_it(tmp_path, states):
    assert (
        "'states' is not a list"
        in only(defects_of(tmp_path, with_value("trajectories", 0, "states", states))).message
    )


def test_a_state_that_is_no_object(tmp_path):
    def change(content):
        content.trajectories[0]["states"][1] = "state"

    assert "state 1: it is not an object" in only(defects_of(tmp_path, change)).message


@pytest.mark.parametrize(("index", "problem"), [(0, "0 is there twice"), (5, "1 is not there")])
def test_state_indexes_must_count_from_zero(tmp_path, index, problem):
    defect = only(defects_of(tmp_path, with_state("state_index", index)))
    assert defect.id == "t2" and problem in defect.message


@pytest.mark.parametrize(("name", "first"), [("questions", "q1"), ("trajectories", "t1")])
def test_duplicate_id_names_both_lines(tmp_path, name, first):
    """Case 9, with equal and with different content."""

    def change(content):
        rows = getattr(content, name)
        rows.append({**rows[0], "environment": "other"})

    defect = only(defects_of(tmp_path, change))
    assert defect.id == first
    assert f"lines 1 and {defect.line}" in defect.message and defect.line > 1


@pytest.mark.parametrize("row_id", ["a/b", "..", "a\\b", "a\nb"])
def test_an_id_that_leads_out_of_a_folder(tmp_path, row_id):
    def change(content):
        content.questions[0]["id"] = row_id
        for haystacks in content.haystacks.values():
            haystacks[row_id] = haystacks.pop("q1")
        content.coverage = None

    defect = only(defects_of(tmp_path, change))
    assert defect.id == row_id and "cannot name a file" in defect.message


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["questions.jsonl", "trajectories.jsonl", "haystacks/lme_v2_medium.json"])
def test_missing_file_is_reported_alone(tmp_path, file):
    """What refers to a missing file is not reported once more for each reference."""
    dataset = make_dataset(tmp_path / "data")
    (dataset / file).unlink()
    defect = only(validate_dataset(dataset, TIERS)[1])
    assert (defect.file, defect.message) == (file, "the file is missing")


@pytest.mark.parametrize("file", ["questions.jsonl", "trajectories.jsonl"])
def test_empty_file(tmp_path, file):
    dataset = make_dataset(tmp_path / "data")
    (dataset / file).write_bytes(b"")
    defects = [defect for defect in validate_dataset(dataset, TIERS)[1] if defect.file == file]
    assert only(defects).message == "the file has no rows"


def test_missing_folder(tmp_path):
    with pytest.raises(NotADirectoryError, match="nowhere"):
        validate_dataset(tmp_path / "nowhere", TIERS)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "q9", "domain": ', "invalid JSON: Expecting value (column 24)"),
        (b'{"id": "q9", "n": NaN}', "NaN is not JSON"),
        (b'{"id": "\xff"}', "can't decode"),
        (b"[" * 100_000, "recursion"),
        (b"[1]", "not a JSON object"),
        (b"null", "null instead of an object"),
        (b"", "blank"),
    ],
)
def test_unreadable_line(tmp_path, line, message):
    defect = only(defects_of(tmp_path, lambda content: content.questions.insert(1, line)))
    assert (defect.file, defect.line, defect.id) == ("questions.jsonl", 2, None)
    assert message in defect.message


def test_repeated_key_in_a_row(tmp_path):
    def change(content):
        text = json.dumps(content.questions[1])
        content.questions[1] = text.replace('"domain": "web"', '"domain": "other", "domain": "web"').encode()

    defect = only(defects_of(tmp_path, change))
    assert (defect.line, defect.id) == (2, "q2")
    assert "'domain' occurs more than once" in defect.message


def test_lone_surrogate_in_a_tree(tmp_path):
    def change(content):
        text = json.dumps(content.trajectories[1])
        content.trajectories[1] = text.replace("Amber", "Amber \\ud800", 1).encode()

    defects = [defect for defect in defects_of(tmp_path, change) if defect.file == "trajectories.jsonl"]
    assert (only(defects).line, only(defects).id) == (2, "t2")
    assert "lone surrogate" in only(defects).message


def test_an_id_that_is_no_text_can_still_be_printed(tmp_path):
    """A lone surrogate in an id must not break the report that names it."""

    def change(content):
        content.haystacks["small"] = json.dumps({**content.haystacks["small"], "q\ud800": ["t1"]}).encode()
        content.questions.append(b'{"id": "q\\ud800"}')

    text = render_defects(defects_of(tmp_path, change))
    assert text.encode() and "id 'q\\ud800'" in text


# -- questions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["no_such_checker", f"{PHRASE}|lower=true", "mc_choice_match|lower", "mc_choice_match|=1"]
)
def test_eval_function_that_does_not_parse(tmp_path, text):
    defect = only(defects_of(tmp_path, with_value("questions", 0, "eval_function", text)))
    assert (defect.file, defect.line, defect.id) == ("questions.jsonl", 1, "q1")
    assert "eval_function" in defect.message and text in defect.message


def test_unknown_question_type(tmp_path):
    defect = only(defects_of(tmp_path, with_value("questions", 0, "question_type", "trivia")))
    assert (defect.line, defect.id) == (1, "q1")
    assert "'trivia' is unknown" in defect.message and "procedure-abs" in defect.remedy


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("question_screenshots/none.png", "is missing"),
        ("/etc/hostname", "outside"),
        ("../data/questions.jsonl", "outside"),
        ("questions.jsonl", "does not open"),
        (7, "not a path"),
        ("", "not a path"),
    ],
)
def test_question_image_that_cannot_be_used(tmp_path, value, problem):
    defect = only(defects_of(tmp_path, with_value("questions", 3, "image", value)))
    assert (defect.file, defect.line, defect.id) == ("questions.jsonl", 4, "q4")
    assert problem in defect.message and repr(value) in defect.message


@pytest.mark.parametrize("data", [b"", b"no image", png(1, (64, 64))[:-30]])
def test_question_image_that_does_not_open_fully(tmp_path, data):
    defect = only(defects_of(tmp_path, lambda c: c.files.update({"question_screenshots/q4.png": data})))
    assert "does not open" in defect.message


# -- haystacks -------------------------------------------------------------------------------------


def test_three_messages_for_a_haystack_with_three_faults(tmp_path):
    """Case 10: an id twice, an unknown id, an id of the other domain."""
    defects = defects_of(
        tmp_path, lambda content: content.haystacks["small"].update(q1=["t1", "t1", "t99", "t4"])
    )
    assert {(defect.file, defect.id) for defect in defects} == {("haystacks/lme_v2_small.json", "q1")}
    assert [defect.message for defect in defects] == [
        "the haystack names trajectories more than once: 't1'",
        "the haystack names trajectories of another domain than its question's: 't4'",
        "the haystack names trajectories that are not in trajectories.jsonl: 't99'",
    ]


@pytest.mark.parametrize("haystack", [{"t1": 1}, "t1", ["t1", 2], None])
def test_haystack_that_is_no_list_of_ids(tmp_path, haystack):
    defect = only(defects_of(tmp_path, lambda content: content.haystacks["small"].update(q1=haystack)))
    assert defect.id == "q1" and "not a list of trajectory ids" in defect.message


def test_many_ids_are_named_in_part(tmp_path):
    unknown = [f"x{n}" for n in range(9)]
    defect = only(defects_of(tmp_path, lambda content: content.haystacks["small"].update(q1=unknown)))
    assert defect.message.endswith("'x0', 'x1', 'x2', 'x3', 'x4', ... (9 in all)")


def test_empty_haystack(tmp_path):
    defect = only(defects_of(tmp_path, lambda content: content.haystacks["small"].update(q1=[])))
    assert defect.id == "q1" and "empty" in defect.message


def test_question_without_haystack(tmp_path):
    defect = only(defects_of(tmp_path, lambda content: content.haystacks["medium"].pop("q5")))
    assert (defect.file, defect.id) == ("haystacks/lme_v2_medium.json", "q5")
    assert "no haystack" in defect.message


def test_haystack_for_an_unknown_question(tmp_path):
    defect = only(defects_of(tmp_path, lambda content: content.haystacks["small"].update(q99=["t1"])))
    assert defect.id == "q99" and "not in questions.jsonl" in defect.message


def test_two_haystacks_for_one_question(tmp_path):
    def change(content):
        text = json.dumps(content.haystacks["small"])
        content.haystacks["small"] = text.replace('{"q1"', '{"q1": ["t2"], "q1"').encode()

    defect = only(defects_of(tmp_path, change))
    assert defect.id == "q1" and "more than once" in defect.message


@pytest.mark.parametrize(("data", "problem"), [(b"{", "line 1, column"), (b"[]", "not one JSON object")])
def test_haystack_file_that_cannot_be_read(tmp_path, data, problem):
    defect = only(defects_of(tmp_path, lambda content: content.haystacks.update(small=data)))
    assert defect.file == "haystacks/lme_v2_small.json" and problem in defect.message


def test_a_reference_into_a_file_with_unreadable_lines_says_so(tmp_path):
    """t2 may be the row that cannot be read; the report tells what to mend first."""

    def change(content):
        content.trajectories[1] = b"{"

    defects = defects_of(tmp_path, change)
    unknown = [defect for defect in defects if "'t2'" in defect.message]
    assert defects[0].line == 2
    assert [defect.file for defect in unknown] == [
        "coverage.jsonl",
        "haystacks/lme_v2_small.json",
        "haystacks/lme_v2_medium.json",
    ]
    assert all("mend trajectories.jsonl first" in defect.remedy for defect in unknown)


# -- labels ----------------------------------------------------------------------------------------


def evidence(content, **changes):
    content.coverage[0]["hops"][0]["trajectories"][0].update(changes)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: c.coverage[0].update(question_id="q99"), "the question 'q99' is not in"),
        (lambda c: c.coverage[0].update(anchor_question_id="q99"), "the anchor question 'q99' is not in"),
        (lambda c: c.coverage[0].update(anchor_question_id=3), "'anchor_question_id' is a number"),
        (lambda c: c.coverage[0].pop("hops"), "'hops' is not a list"),
        (lambda c: c.coverage[0]["hops"].append({"hop": "look", "trajectories": []}), "occurs twice"),
        (lambda c: c.coverage[0]["hops"].append({"hop": "two"}), "hop 1: it is no hop"),
        (lambda c: evidence(c, trajectory_id="t99"), "'t99' is not in trajectories.jsonl"),
        (lambda c: evidence(c, trajectory_id="t4"), "is of domain 'enterprise'"),
        (lambda c: evidence(c, state_indexes=[2, 3]), "has states 0 to 2, not [3]"),
        (lambda c: evidence(c, state_indexes=["0"]), "an entry is no evidence"),
        (lambda c: c.coverage[0]["hops"][0]["trajectories"].extend([{}]), "an entry is no evidence"),
    ],
)
def test_wrong_coverage_row(tmp_path, change, problem):
    defect = only(defects_of(tmp_path, change))
    assert (defect.file, defect.line) == ("coverage.jsonl", 1)
    assert problem in defect.message


def test_coverage_row_twice(tmp_path):
    defect = only(defects_of(tmp_path, lambda content: content.coverage.append(content.coverage[0])))
    assert defect.id == "q1" and "lines 1 and 9" in defect.message


def test_trajectory_twice_in_one_hop(tmp_path):
    def change(content):
        content.coverage[0]["hops"][0]["trajectories"] *= 2

    assert "'t1' is named twice" in only(defects_of(tmp_path, change)).message


@pytest.mark.parametrize(
    ("entry", "problem"), [("shop", "not an object"), ({"family": 3}, "'family' is a number")]
)
def test_wrong_family(tmp_path, entry, problem):
    defect = only(defects_of(tmp_path, lambda content: content.families.update(t1=entry)))
    assert (defect.file, defect.id) == ("families.json", "t1")
    assert problem in defect.message


# -- the report ------------------------------------------------------------------------------------


def break_everything(content):
    content.questions[0].pop("answer")
    content.trajectories[0].pop("goal")
    content.coverage[4]["hops"] = 3
    content.haystacks["small"]["q5"].append("t99")
    content.haystacks["medium"].pop("q5")


def test_all_defects_of_a_run_come_in_one_error_and_nothing_is_written(tmp_path):
    dataset = make_dataset(tmp_path / "data", break_everything)
    out = tmp_path / "out"
    with pytest.raises(DatasetError) as caught:
        ingest_dataset(dataset, TIERS, out)
    text = str(caught.value)
    assert f"dataset {dataset}: 5 defects" in text
    for file in (
        "questions",
        "trajectories",
        "coverage",
        "haystacks/lme_v2_small",
        "haystacks/lme_v2_medium",
    ):
        assert f"{file}.json" in text
    assert "  1. line 1, id 'q1': the field 'answer' is missing; " in text
    assert len(caught.value.defects) == 5
    assert list(out.iterdir()) == []


def test_a_long_report_is_cut_and_says_how_to_get_the_rest():
    defects = [Defect("questions.jsonl", line, None, "wrong", "mend it") for line in range(1, 101)]
    text = render_defects(defects, "data", limit=10)
    assert "data: 100 defects" in text
    assert "  10. line 10: wrong; mend it" in text and "line 11" not in text
    assert "90 of 100 defects are not printed; `lmev2 validate data --json`" in text

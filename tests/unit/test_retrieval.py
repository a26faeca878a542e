import pytest
from stats_data import fill

from lmev2.records import SCHEMAS
from lmev2.stats.families import families_of, goal_pattern
from lmev2.stats.retrieval import Evidence, holds_gold, look_for_evidence, read_evidence, tabulate_retrieval
from lmev2.store import read_rows, write_table

URLS = {
    "t1": {0: "http://a/", 1: "http://a/x", 2: "http://a/y"},
    "t2": {0: "http://a/", 1: "http://a/z", 2: "http://a/x"},
    "t3": {0: "http://b/"},
}
FAMILIES = {"t1": "orders", "t2": "orders", "t3": "posts"}
EVIDENCE = Evidence({"0": {"t1": frozenset({1})}, "1": {"t1": frozenset({2}), "t3": frozenset({0})}})


def item(trajectory=None, first=None, last=None, text="some text", kind="text"):
    empty = dict.fromkeys(("image", "image_sha256", "width", "height"))
    place = {"trajectory_id": trajectory, "first_state": first, "last_state": last}
    return {"kind": kind, "text": text if kind == "text" else None, "source": "slices", **empty, **place}


def look(*items, evidence=EVIDENCE):
    return look_for_evidence(items, evidence, FAMILIES, URLS)


def test_nothing_retrieved_holds_nothing():
    found = look()
    assert found == {
        **dict.fromkeys(
            ("holds_family", "holds_trajectory", "holds_state", "holds_every_hop", "holds_url"), False
        ),
        **{"rank_trajectory": None, "rank_state": None},
    }


def test_family_and_url_come_before_the_trajectory():
    found = look(item("t2", 1, 1))
    assert (found["holds_family"], found["holds_trajectory"], found["holds_url"]) == (True, False, False)
    found = look(item("t2", 1, 2))  # state 2 of t2 has the URL of the evidence
    assert (found["holds_url"], found["holds_state"]) == (True, False)


def test_states_hops_and_ranks():
    found = look(item(), item("t2", 0, 1), item("t1", 0, 0), item("t1", 0, 1))
    assert (found["holds_trajectory"], found["holds_state"], found["holds_every_hop"]) == (True, True, False)
    # The heading without a trajectory is no piece.
    assert (found["rank_trajectory"], found["rank_state"]) == (2, 3)
    assert look(item("t1", 1, 1), item("t3", 0, 0))["holds_every_hop"]
    assert look(item("t1", 0, 2))["holds_every_hop"]


def test_images_and_pieces_about_a_whole_run_show_no_states():
    found = look(item("t1", 1, 1, kind="image"))
    assert not found["holds_trajectory"]
    found = look(item("t1"))
    assert (found["holds_trajectory"], found["holds_state"], found["rank_state"]) == (True, False, None)


def test_without_labels_everything_is_null():
    assert set(look(item("t1", 0, 2), evidence=None).values()) == {None}


@pytest.mark.parametrize(
    ("text", "found"),
    [("Red-brick; GREEN", True), ("green ... red brick", True), ("red brick greens", False), ("", False)],
)
@pytest.mark.parametrize("name", ["norm_phrase_set_match", "norm_phrase_set_match_ordered"])
def test_gold_phrases_in_any_order(name, text, found):
    question = {"eval_function": f"{name}|separators=,;", "answer": "red brick, green"}
    assert holds_gold([item(text=text), item(kind="image")], question) is found


def test_phrases_may_lie_in_different_items_but_not_across_two():
    question = {"eval_function": "norm_phrase_set_match", "answer": "red brick, green"}
    assert holds_gold([item(text="green"), item(text="red brick")], question)
    assert holds_gold([item(text="green red"), item(text="brick")], question)  # the join is white space
    assert holds_gold([item(text="greenred"), item(text="brick")], question) is False


def test_evaluators_without_phrases_have_no_ceiling():
    for name in ("mc_choice_match", "llm_abstention_checker"):
        assert holds_gold([item(text="B")], {"eval_function": name, "answer": "B"}) is None


def test_families():
    row = {"domain": "web", "goal": 'Order 3 of "Red brick"', "family": None}
    rows = [row | {"trajectory_id": "a"}, row | {"trajectory_id": "b", "goal": 'order 12  of "Hose"'}]
    assert families_of(rows)["a"] == families_of(rows)["b"]
    other = [
        *rows,
        row | {"trajectory_id": "c", "goal": "Cancel it"},
        row | {"trajectory_id": "d", "domain": "x"},
    ]
    assert len(set(families_of(other).values())) == 3
    named = [row | {"trajectory_id": "a", "family": "f"}, row | {"trajectory_id": "b"}]
    assert families_of(named) == {"a": "web/f", "b": "web/b"}
    assert goal_pattern("Tom's order #10-2026 for 'Ann Lee'") == 'tom\'s order #0 for ""'


def test_the_table(tmp_path):
    def write(stage, rows, name=None):
        path = tmp_path / (name or stage)
        write_table(stage, [{c: row.get(c) for c in SCHEMAS[stage].names} for row in rows], path)
        return path

    question = {"domain": "web", "abstention": False, "ability": "static", "answer": "red brick"}
    question["eval_function"] = "norm_phrase_set_match"
    questions = write("questions", [{"question_id": q, **question} for q in ("q1", "q2")])
    coverage = write(
        "coverage",
        [
            {"question_id": "q1", "hop": "0", "trajectory_id": "t1", "state_indexes": [1]},
            {"question_id": "q2", "hop": None, "trajectory_id": None, "state_indexes": None},
        ],
    )
    assert list(read_evidence(coverage)) == ["q1"]
    trajectories = write("trajectories", [{"trajectory_id": "t1", "domain": "web", "goal": "g"}])
    states = write("states", [{"trajectory_id": "t1", "state_index": i, "url": f"u{i}"} for i in range(3)])
    arm = {"method": "m", "operating_point": "", "tier": "small", "repeat": 0}
    items = [item("t1", 0, 0, "red brick"), item("t1", 1, 1)]
    queries = write(
        "query", [{"question_id": q, **arm, "status": "ok", "items": items} for q in ("q1", "q2")]
    )
    # The second item of q1 was cut away.
    kept = {"context_items_kept": 1, "context_tokens_kept": 7}
    reads = write(
        "read",
        [
            fill("read", question_id="q1", **arm, **kept),
            fill("read", question_id="q2", **arm, **kept | {"context_items_kept": 2}),
        ],
    )
    tabulate_retrieval(questions, coverage, trajectories, states, [queries], [reads], tmp_path / "out")
    first, second = read_rows(tmp_path / "out")
    assert (first["holds_trajectory"], first["holds_state"], first["rank_trajectory"]) == (True, False, 1)
    assert (first["holds_gold"], first["context_tokens"]) == (True, 7)
    assert (second["holds_trajectory"], second["rank_state"], second["holds_gold"]) == (None, None, True)

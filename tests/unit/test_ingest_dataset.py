"""A sound dataset becomes tables that hold all of it, byte for byte, whatever its dialect."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from dataset_factory import make_dataset, png, tiny_content
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.ingest.dataset import ingest_dataset, validate_dataset, write_haystack
from lmev2.ingest.defects import DatasetError
from lmev2.records import SCHEMAS
from lmev2.store import read_rows

TIERS = ["small", "medium"]
MINI = Path(__file__).parents[2] / "resources" / "mini"
TABLES = ["questions", "query_questions", "trajectories", "states", "coverage"]


@pytest.fixture
def ingest(tmp_path, monkeypatch):
    """Make a dataset, ingest it into `out`, and return counts and rows by table."""
    monkeypatch.chdir(tmp_path)

    def run(change=None, name="data", out="out", **options):
        dataset = make_dataset(Path(name), change, **options)
        counts = ingest_dataset(dataset, TIERS, Path(out))
        return counts, {table: read_rows(Path(out) / f"{table}.parquet") for table in TABLES}

    return run


def test_tables_have_the_schemas_of_the_contract(ingest):
    ingest()
    for table in TABLES:
        assert pq.read_schema(f"out/{table}.parquet").equals(SCHEMAS[table])


def test_questions(ingest):
    _, rows = ingest()
    assert [row["question_id"] for row in rows["questions"]] == [f"q{n}" for n in range(1, 9)]
    row = rows["questions"][3]
    assert (row["ability"], row["abstention"], row["evaluator"]) == ("gotchas", False, "llm_gotchas_checker")
    assert rows["questions"][6]["ability"] == "workflow" and rows["questions"][6]["abstention"]
    assert rows["questions"][0]["image"] is None


def test_a_question_image_is_named_by_its_content_only(ingest):
    _, rows = ingest()
    row = rows["query_questions"][3]
    assert row["image"] == f"out/question_images/{row['image_sha256']}.png"
    assert Path(row["image"]).read_bytes() == png(200, (10, 7))
    assert set(row) == {"question_id", "text", "image", "image_sha256"}


def test_states_have_one_row_group_a_trajectory_in_order(ingest):
    _, rows = ingest()
    file = pq.ParquetFile("out/states.parquet")
    ids = [row["trajectory_id"] for row in rows["trajectories"]]
    assert file.num_row_groups == len(ids)
    for group, row in enumerate(rows["trajectories"]):
        states = file.read_row_group(group).to_pylist()
        assert [state["state_index"] for state in states] == list(range(row["n_states"]))
        assert {state["trajectory_id"] for state in states} == {row["trajectory_id"]}


def test_states(ingest):
    _, rows = ingest()
    first, second = rows["states"][:2]
    assert first["action"] is None and second["action"] == "click('11')"
    assert second["screenshot"] == "screenshots/t1/1.png"
    assert (second["screenshot_width"], second["screenshot_height"]) == (8, 6)
    assert second["tree_tokens"] == -(-len(second["tree"]) // 3)


def test_states_are_sorted_by_index(ingest):
    _, sorted_rows = ingest()
    _, rows = ingest(lambda content: content.trajectories[2]["states"].reverse(), "other", "other-out")
    assert rows["states"] == sorted_rows["states"]


def test_coverage_and_families(ingest):
    _, rows = ingest()
    assert rows["coverage"][0] == {
        "question_id": "q1",
        "hop": "look",
        "trajectory_id": "t1",
        "state_indexes": [0, 1],
        "anchor_question_id": None,
    }
    without_hops = rows["coverage"][2]
    assert (without_hops["hop"], without_hops["trajectory_id"], without_hops["anchor_question_id"]) == (
        None,
        None,
        "q1",
    )
    assert [row["family"] for row in rows["trajectories"]] == ["family-web"] * 3 + ["family-enterprise"] * 3


def test_a_numbered_hop_is_named_by_its_number(ingest):
    _, rows = ingest(lambda content: content.coverage[0]["hops"][0].update(hop=0))
    assert rows["coverage"][0]["hop"] == "0"


def test_labels_and_families_are_optional(ingest):
    def change(content):
        content.coverage = content.families = None

    counts, rows = ingest(change)
    assert rows["coverage"] == [] and counts.labelled_questions == 0
    assert {row["family"] for row in rows["trajectories"]} == {None}


def test_families_of_other_trajectories_are_told(ingest):
    counts, _ = ingest(lambda content: content.families.update(t99={"family": "x"}))
    assert counts.notices == ["families.json names 1 trajectory id that are not there"]


# -- what is missing is kept and counted -----------------------------------------------------------


def test_nulls_and_empty_trees_are_kept_and_counted(ingest):
    """Cases 3 and 4."""

    def change(content):
        content.trajectories[0]["outcome"] = None
        del content.trajectories[1]["outcome"]
        content.trajectories[0]["states"][1].update(action=None, thought=None, accessibility_tree="")

    counts, rows = ingest(change)
    assert [row["outcome"] for row in rows["trajectories"][:3]] == [None, None, "success"]
    assert counts.outcomes == {"unknown": 2, "success": 2, "failure": 2}
    assert (counts.null_actions, counts.null_thoughts, counts.empty_trees) == (1, 1, 1)
    state = rows["states"][1]
    assert (state["action"], state["thought"], state["tree"], state["tree_tokens"]) == (None, None, "", 0)
    assert state["url"] == "http://app.example/t1/1"


def test_missing_screenshots_are_null_and_counted_by_reason(ingest):
    """Case 5."""

    def change(content):
        first, second, third = content.trajectories[0]["states"]
        first["screenshot"], second["screenshot"], third["screenshot"] = None, 7, "screenshots/none.png"
        content.trajectories[1]["states"][0]["screenshot"] = "/etc/hostname"
        del content.trajectories[1]["states"][1]["screenshot"]
        content.files["screenshots/t3/0.png"] = b"\x89PNG cut"

    counts, rows = ingest(change)
    for state in rows["states"][:6]:
        assert state["screenshot"] is state["screenshot_sha256"] is state["screenshot_width"] is None
    assert counts.missing_screenshots == {
        "null": 2,
        "not a path": 1,
        "no such file": 1,
        "outside the dataset": 1,
        "damaged": 1,
    }
    assert counts.screenshots == counts.states - 6
    assert "'screenshots/t3/0.png' (trajectory 't3', state 0) does not open" in counts.notices[0]
    assert "6 missing (damaged 1" in counts.text()


def test_a_screenshot_path_may_count_from_the_screenshots_folder(ingest):
    def change(content):
        for row in content.trajectories:
            for state in row["states"]:
                state["screenshot"] = state["screenshot"].removeprefix("screenshots/")

    counts, rows = ingest(change)
    assert counts.missing_screenshots.total() == 0
    assert rows["states"][0]["screenshot"] == "screenshots/t1/0.png"


# -- dialects --------------------------------------------------------------------------------------


def as_old_layout(row):
    """The row as older dumps have it."""
    content = [
        {
            "url": state["url"],
            "action": state["action"],
            "thoughts": state["thought"],
            "observation": {"text": state["accessibility_tree"], "screenshot": state["screenshot"]},
        }
        for state in row["states"]
    ]
    kept = {key: row[key] for key in ("id", "domain", "environment", "outcome")}
    return {**kept, "metadata": {"original_goal": row["goal"]}, "content": content}


def test_old_layout_gives_the_same_tables(ingest):
    """Case 13."""
    _, expected = ingest()

    def change(content):
        content.trajectories[:] = [as_old_layout(row) for row in content.trajectories]

    assert ingest(change, "old", "old-out")[1] == {
        **expected,
        "questions": read_rows("old-out/questions.parquet"),
        "query_questions": read_rows("old-out/query_questions.parquet"),
    }


def test_old_state_keys_in_the_new_layout(ingest):
    """Case 13: states under `text` instead of `accessibility_tree`, and a goal in parts."""
    _, expected = ingest()

    def change(content):
        for row in content.trajectories:
            row["metadata"] = {"original_goal": row.pop("goal").split(" ", 1)}
            for state in row["states"]:
                state["text"] = state.pop("accessibility_tree")
                state["thoughts"] = state.pop("thought")

    _, rows = ingest(change, "old", "old-out")
    assert rows["states"] == expected["states"] and rows["trajectories"] == expected["trajectories"]


def test_line_ends_blank_last_line_and_key_order_do_not_matter(ingest):
    """Case 2."""
    ingest()

    def reverse_keys(content):
        content.trajectories[:] = [dict(reversed(row.items())) for row in content.trajectories]

    ingest(reverse_keys, "crlf", "crlf-out", newline="\r\n", end="\r\n")
    for table in ("trajectories", "states", "coverage"):
        assert Path(f"out/{table}.parquet").read_bytes() == Path(f"crlf-out/{table}.parquet").read_bytes()


def test_last_line_without_newline(tmp_path):
    dataset = make_dataset(tmp_path / "data")
    file = dataset / "questions.jsonl"
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    counts, defects = validate_dataset(dataset, TIERS)
    assert not defects and counts.questions == 8


# -- text ------------------------------------------------------------------------------------------

# Raw separators of lines that are none in JSON Lines; private-use glyphs; e with acute as NFC and NFD.
ODD_TEXT = "a\u2028b\u2029c\u0085d\x0be\x0cf \ue0a0 \u201cq\u201d \u00e9 e\u0301 \x00 \U0001f600"


def test_line_separators_and_odd_characters_survive(ingest):
    """Cases 1 and 11; here \\v and \\f stand raw inside the JSON string, as some writers leave them."""

    def change(content):
        row = content.trajectories[0]
        row["goal"] = row["states"][0]["accessibility_tree"] = ODD_TEXT
        text = json.dumps(row, ensure_ascii=False).replace("\\u000b", "\x0b").replace("\\f", "\x0c")
        content.trajectories[0] = text.encode()

    _, rows = ingest(change)
    assert rows["trajectories"][0]["goal"] == ODD_TEXT
    assert rows["states"][0]["tree"] == ODD_TEXT
    assert len(rows["trajectories"]) == 6


def test_a_tree_of_a_million_and_a_half_characters(ingest):
    """Case 12."""
    tree = "RootWebArea 'é'\n" * 100_000

    def change(content):
        content.trajectories[0]["states"][1]["accessibility_tree"] = tree

    counts, rows = ingest(change)
    assert rows["states"][1]["tree"] == tree
    assert counts.longest_tree == 1_600_000


text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@settings(deadline=None, max_examples=20)
@given(tree=text, goal=text, escaped=st.booleans())
def test_any_text_survives_byte_identical(tmp_path_factory, tree, goal, escaped):
    tmp_path = tmp_path_factory.mktemp("text")

    def change(content):
        content.trajectories[0]["goal"] = goal
        content.trajectories[0]["states"][0]["accessibility_tree"] = tree
        row = json.dumps(content.trajectories[0], ensure_ascii=escaped)
        content.trajectories[0] = row.encode()

    ingest_dataset(make_dataset(tmp_path / "data", change), TIERS, tmp_path / "out")
    assert read_rows(tmp_path / "out/trajectories.parquet")[0]["goal"].encode() == goal.encode()
    assert read_rows(tmp_path / "out/states.parquet")[0]["tree"].encode() == tree.encode()


# -- fingerprints ----------------------------------------------------------------------------------


def test_fingerprint_follows_what_a_method_can_see(ingest):
    _, rows = ingest()
    seen = {row["fingerprint"] for row in rows["trajectories"]}
    assert len(seen) == 6

    def change(content):
        content.trajectories[0]["goal"] += "!"
        content.trajectories[1]["outcome"] = None
        content.trajectories[2]["start_url"] += "?"
        content.trajectories[3]["states"][1]["thought"] = "Hm."
        content.trajectories[4]["states"][1]["accessibility_tree"] += " "
        content.files["screenshots/t6/1.png"] = png(255)

    _, changed = ingest(change, "changed", "changed-out")
    assert seen.isdisjoint(row["fingerprint"] for row in changed["trajectories"])


def test_fingerprint_does_not_follow_where_things_lie(ingest):
    _, rows = ingest()

    def change(content):
        content.trajectories.reverse()
        for row in content.trajectories:
            row["id"] += "-new"
            for state in row["states"]:
                data = content.files.pop(state["screenshot"])
                state["screenshot"] = "moved/" + state["screenshot"].replace("/", "-")
                content.files[state["screenshot"]] = data
        content.coverage = content.families = None
        content.haystacks = {
            tier: {
                question: [f"{member}-new" for member in members] for question, members in haystacks.items()
            }
            for tier, haystacks in content.haystacks.items()
        }

    _, moved = ingest(change, "moved", "moved-out")
    assert [row["fingerprint"] for row in moved["trajectories"]] == [
        row["fingerprint"] for row in reversed(rows["trajectories"])
    ]


# -- the run ---------------------------------------------------------------------------------------


def test_same_dataset_same_bytes(ingest):
    ingest()
    first = {path: path.read_bytes() for path in sorted(Path("out").rglob("*")) if path.is_file()}
    counts = ingest_dataset(Path("data"), TIERS, Path("out"), workers=4)
    assert {path: path.read_bytes() for path in sorted(Path("out").rglob("*")) if path.is_file()} == first
    assert len(first) == 6 and counts.states == 16


def test_progress_counts_trajectories(tmp_path):
    done = []
    validate_dataset(make_dataset(tmp_path / "data"), TIERS, progress=done.append)
    assert done == [1, 2, 3, 4, 5, 6]


def test_counts(ingest):
    counts, _ = ingest()
    assert counts.to_dict()["questions_by_domain"] == {"enterprise": 4, "web": 4}
    assert counts.to_dict()["trajectories_by_environment"] == {"enterprise-app": 3, "web-app": 3}
    assert (counts.questions, counts.question_images, counts.labelled_questions) == (8, 1, 8)
    assert (counts.states, counts.screenshots, counts.families) == (16, 16, 2)
    small = counts.tiers["small"]
    assert (small.questions, small.trajectories, small.shortest, small.longest) == (8, 5, 2, 2)
    assert json.loads(json.dumps(counts.to_dict()))["tiers"]["medium"]["longest"] == 3


# -- haystack tables -------------------------------------------------------------------------------


def haystack_rows(tier="small"):
    write_haystack(
        Path("data"), tier, "out/questions.parquet", "out/coverage.parquet", "table.parquet", "labels.parquet"
    )
    return read_rows("table.parquet"), read_rows("labels.parquet")


def test_haystack_keeps_order_and_roles_lie_apart(ingest):
    ingest()
    table, labels = haystack_rows()
    assert pq.read_schema("table.parquet").equals(SCHEMAS["haystack"])
    assert pq.read_schema("labels.parquet").equals(SCHEMAS["haystack_labels"])
    expected = tiny_content().haystacks["small"]
    assert (
        [row["trajectory_id"] for row in table if row["question_id"] == "q2"]
        == expected["q2"]
        == ["t1", "t3"]
    )
    assert [row["role"] for row in labels if row["question_id"] == "q2"] == ["filler", "answer"]
    assert [(row["question_id"], row["position"]) for row in labels] == [
        (row["question_id"], row["position"]) for row in table
    ]
    assert [row["question_id"] for row in table[:4]] == ["q1", "q1", "q2", "q2"]


def test_roles_are_unknown_without_labels(ingest):
    ingest(lambda content: content.coverage.pop(0))
    _, labels = haystack_rows()
    assert {row["role"] for row in labels if row["question_id"] == "q1"} == {None}
    assert {row["role"] for row in labels if row["question_id"] == "q2"} == {"filler", "answer"}


def test_haystack_file_that_no_longer_fits_the_questions(ingest):
    ingest()
    file = Path("data/haystacks/lme_v2_small.json")
    file.write_text(json.dumps({"q99": ["t1"]}))
    with pytest.raises(DatasetError, match="9 defects"):
        haystack_rows()


# -- the bundled dataset ---------------------------------------------------------------------------


def test_mini_has_the_counts_of_its_data_card(tmp_path):
    counts = ingest_dataset(MINI, TIERS, tmp_path, workers=2)
    card = (MINI / "DATACARD.md").read_text(encoding="utf-8")
    assert f"{counts.trajectories} trajectories, {counts.states} states" in card
    assert f"{counts.families} task families" in card
    assert (counts.trajectories, counts.states, counts.questions) == (86, 755, 54)
    assert counts.trajectories_by_domain == {"web": 44, "enterprise": 42}
    assert counts.outcomes == {"success": 43, "failure": 43}
    assert (counts.screenshots, counts.question_images, counts.labelled_questions) == (755, 4, 54)
    assert [(tier.shortest, tier.longest) for tier in counts.tiers.values()] == [(20, 20), (36, 36)]
    assert set(counts.questions_by_evaluator) == {
        "norm_phrase_set_match",
        "norm_phrase_set_match_ordered",
        "mc_choice_match",
        "mc_choice_set_match",
        "llm_gotchas_checker",
        "llm_abstention_checker",
    }


def test_mini_names_no_path_of_a_machine():
    for file in sorted(MINI.rglob("*.json*")) + sorted(MINI.rglob("*.md")):
        content = file.read_text(encoding="utf-8")
        assert not [folder for folder in ("/tmp/", "/home/", "/work/", "/root/") if folder in content]

import pytest

from lmev2.store import StageFileError, canonical_json, read_rows, replacing, write_json, write_table


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "x.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="stop"), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError("stop")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_row_must_have_the_schemas_columns(tmp_path):
    row = {"question_id": "q", "position": 0, "trajectory_id": "t"}
    write_table("haystack", [row], tmp_path / "h.parquet")
    assert read_rows(tmp_path / "h.parquet") == [row]
    for wrong in ({**row, "extra": 1}, {"question_id": "q"}):
        with pytest.raises(KeyError, match="differs from its schema"):
            write_table("haystack", [wrong], tmp_path / "other.parquet")
    assert not (tmp_path / "other.parquet").exists()


def test_the_same_rows_give_the_same_bytes(tmp_path):
    row = {"question_id": "é", "position": 0, "trajectory_id": "t"}
    for name in ("a", "b"):
        write_table("haystack", [row] * 50, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_json_is_canonical_and_refuses_nan(tmp_path):
    assert canonical_json({"b": 1, "a": ["é", None]}) == '{"a":["é",null],"b":1}'
    with pytest.raises(ValueError, match="JSON"):
        write_json({"x": float("nan")}, tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("size", [0, 3, 300])
def test_a_damaged_file_is_named_with_the_remedy(tmp_path, size):
    path = tmp_path / "haystack.parquet"
    write_table("haystack", [{"question_id": "q", "position": 0, "trajectory_id": "t"}], path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(StageFileError, match=r"haystack\.parquet: the file is damaged.*remove it"):
        read_rows(path)


def test_a_file_that_another_run_makes_anew_is_named(tmp_path):
    with pytest.raises(StageFileError, match=r"gone\.parquet: the file is gone.*run again"):
        read_rows(tmp_path / "gone.parquet")

"""The report on haystacks, with and without what is known of their cores."""

import csv

from lmev2.haystack.report import write_report

ROW = {"tier": "own", "domain": "", "measure": "trajectories", "questions": 2}
MEASURED = [
    {**ROW, "mean": 4.5, "least": 4, "most": 5, "values": [4, 5]},
    {**ROW, "measure": "tokens", "mean": 25600000.4, "least": 2, "most": 51200000, "values": []},
]
CORE = {
    **{"domain": "web", "trajectories": 9, "questions": 2, "hops": 3, "size": 4, "lower_bound": 3},
    **{"gap": 0.25, "smallest": False, "cost": -10, "cost_lower_bound": None, "optimal": False},
    **{"heuristic_size": 4, "successes": 2, "failures": 1, "families": 3, "members": ["a"]},
}


def report(tmp_path, cores):
    files = tmp_path / "report.csv", tmp_path / "report.md"
    write_report(MEASURED, cores, "mini", {"own": {"size": 5}}, *files)
    with files[0].open(newline="") as file:
        return list(csv.DictReader(file)), files[1].read_text()


def test_assembled(tmp_path):
    rows, text = report(tmp_path, [CORE])
    assert "| web | 4 | 3 | 25.0% | 4 | nothing | 2 : 1 | 3 | 3 | 9 |" in text
    assert "| trajectories | 4.50 (4 to 5) |" in text
    assert "| tokens | 25,600,000 (2 to 51,200,000) |" in text
    assert "In own, 1 of 2 haystacks are smaller than 5, the smallest 4" in text
    found = {row["measure"]: row["mean"] for row in rows}
    assert (found["core gap"], found["core optimal"], found["core cost lower bound"]) == (
        "0.250",
        "false",
        "",
    )


def test_what_is_proven(tmp_path):
    proven = {**CORE, "lower_bound": 4, "gap": 0, "smallest": True, "cost_lower_bound": -12}
    assert "| size (preferences -10, at best -12) |" in report(tmp_path, [proven])[1]
    assert "| size and preferences |" in report(tmp_path, [{**proven, "optimal": True}])[1]


def test_the_datasets_own(tmp_path):
    rows, text = report(tmp_path, None)
    assert "the dataset's own haystacks" in text and "Answer cores" not in text
    assert [row["measure"] for row in rows] == ["trajectories", "tokens"]

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lmev2.flow import Flow
from lmev2.money.estimate import Estimator
from lmev2.money.lines import Estimate, Line
from lmev2.money.table import estimate_csv, estimate_md

LINE = Line(
    stage="judge",
    role="judge",
    model="gpt",
    method="rag",
    tier="small",
    recorded=3,
    calls=10.4,
    calls_at_most=30.0,
    input_tokens=12_345.6,
    input_tokens_at_most=40_000.0,
    output_tokens=500.0,
    output_tokens_at_most=500.0,
    cost=1.5,
    cost_at_most=4.5,
)
NOTHING = {name: 0.0 for name in vars(LINE) if isinstance(getattr(LINE, name), float)}


def table(budget=None, spent=0.0, lines=(LINE,)):
    return estimate_md(Estimate(list(lines), ["a note"], spent, budget))


def test_lines_show_expected_and_most_and_totals_are_given_by_role():
    text = table(lines=[LINE, replace(LINE, stage="read", role="reader", cost=2.0, cost_at_most=2.0)])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    assert rows[2][:7] == [
        "judge",
        "judge",
        "rag",
        "small",
        "3",
        "10 (at most 30)",
        "12,346 (at most 40,000)",
    ]
    assert rows[2][7:] == ["500", "1.50 (at most 4.50)"]
    assert [row[:2] for row in rows[4:]] == [["total", "judge"], ["total", "reader"], ["total", ""]]
    assert rows[-1][-1] == "3.50 (at most 6.50)"
    assert len({len(line) for line in text.splitlines() if line[:1] == "|"}) == 1  # aligned
    assert text.endswith("- a note\n")


def test_the_budget_is_compared_with_what_is_expected_and_with_the_most():
    assert "No budget is set" in table()
    assert "5.00 is left; that suffices in any case" in table(budget=6, spent=1)
    assert "expected, not for the most" in table(budget=3, spent=1)
    assert "does not suffice: the run will stop about 0.50 before its end" in table(budget=2, spent=1)


def test_a_finished_run_says_so():
    done = replace(LINE, **NOTHING)
    assert "Nothing: every call is recorded." in table(lines=[done])
    assert estimate_csv(Estimate([done], [], 0.0, None)).count("\n") == 2


def test_the_csv_has_all_columns_in_whole_tokens():
    (row,) = csv.DictReader(io.StringIO(estimate_csv(Estimate([LINE], [], 0.0, None))))
    assert list(row) == list(vars(LINE))
    assert (row["calls"], row["input_tokens"], row["cost"]) == ("10", "12346", "1.5")


@pytest.mark.parametrize(
    ("agent", "prices", "said"),
    [
        ({"provider": "command", "command": ["x"]}, {}, True),
        ({"provider": "command", "command": ["x"]}, {"searcher": {"input": 1}}, False),
        ({}, {}, False),
    ],
)
def test_an_agent_without_a_price_counts_as_free_and_it_says_so(agent, prices, said):
    root = Path(__file__).parents[2]
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    config["models"]["agent"] |= agent
    estimator = Estimator.__new__(Estimator)  # no results are needed for what is said of the config
    estimator.flow = Flow(config | {"prices": prices}, root)
    estimator.config, estimator.models = estimator.flow.config, {}
    assert ("agent: `prices` has no searcher, so it counts as free" in estimator._standing_notes()) == said

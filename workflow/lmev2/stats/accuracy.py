"""Accuracy and latency per arm, as the tables and figures show them."""

import math
from pathlib import Path

from lmev2.stats.columns import COLUMNS
from lmev2.stats.intervals import accuracy_interval
from lmev2.stats.options import DEFAULTS, StatsOptions
from lmev2.stats.scores import connect
from lmev2.store import read_table, write_table

# A question counts in several subsets and columns; `unnest` gives it one row in each.
_ACCURACY = """
WITH question AS (
    SELECT method, operating_point, tier, question_id, ability, domain, question_type, judged, abstention,
           sum(score)::INT AS total, count(*)::INT AS repeats,
           avg(score) AS score, avg(is_unknown::INT) AS unknown,
           count(*) FILTER (status <> 'ok') AS errors
    FROM scores GROUP BY ALL
),
member AS (
    SELECT *, unnest(['overall', ability]) AS "column"
    FROM (
        SELECT *, unnest(
            ['all', 'domain=' || domain, if(abstention, 'abstention', 'answerable')]
            || if(judged, [], ['judge_free'])
        ) AS subset
        FROM question
    )
)
SELECT method, operating_point, tier, subset, "column", count(*) AS n,
       avg(score ORDER BY question_id) AS accuracy, avg(unknown ORDER BY question_id) AS "unknown",
       sum(errors)::INT AS errors,
       list({total: total, repeats: repeats, domain: domain, question_type: question_type}
            ORDER BY question_id) AS questions
FROM member
GROUP BY method, operating_point, tier, subset, "column"
ORDER BY tier, method, operating_point, subset, list_position($columns, "column")
"""

_LATENCY = """
WITH arm AS (
    SELECT method, operating_point, tier, repeat, question_id, latency_s,
           latency_s IS NOT NULL AND NOT isnan(latency_s) AS known
    FROM scores
),
summary AS (
    SELECT method, operating_point, tier, bool_and(known) AS complete,
           count(DISTINCT question_id) - count(DISTINCT question_id) FILTER (NOT known) AS n,
           avg(latency_s ORDER BY repeat, question_id) AS mean,
           quantile_cont(latency_s, [0.5, 0.95]) AS q, max(latency_s) AS longest
    FROM arm GROUP BY method, operating_point, tier
)
SELECT method, operating_point, tier, n,
       if(complete, mean, NULL) AS latency_mean_s,
       if(complete, q[1], NULL) AS latency_median_s,
       if(complete, q[2], NULL) AS latency_p95_s,
       if(complete, longest, NULL) AS latency_max_s
FROM summary ORDER BY tier, method, operating_point
"""


def tabulate_accuracy(scores: str | Path, out: str | Path, options: StatsOptions = DEFAULTS) -> None:
    """Write the `accuracy` table.

    Repeats are averaged within a question first; n counts questions, `errors` question × repeat rows
    whose status is not "ok" (they score 0). Groups without questions have no row.

    Args:
        scores: the `scores` file.
        out: the `accuracy` file, sorted by tier, method, operating point, subset and column.
        options: kind and level of the intervals.
    """
    with connect(scores=read_table(scores)) as db:
        rows = db.sql(_ACCURACY, params={"columns": list(COLUMNS)}).to_arrow_table().to_pylist()
    for row in rows:
        questions = row.pop("questions")
        denominator = math.lcm(*(question["repeats"] for question in questions))
        row["low"], row["high"] = accuracy_interval(
            [question["total"] * (denominator // question["repeats"]) for question in questions],
            denominator,
            options,
            [tuple(question[column] for column in options.stratify) for question in questions],
        )
    write_table("accuracy", rows, out)


def tabulate_latency(scores: str | Path, out: str | Path) -> None:
    """Write the `latency` table: query latencies in seconds over all question × repeat rows.

    An arm with any latency missing has null figures, and n (the questions whose latencies are all
    there) falls short of the number of questions. Missing latencies are rarely a random sample (a
    domain, the slow ones), so a figure over the rest would look complete and be wrong.

    Args:
        scores: the `scores` file.
        out: the `latency` file, sorted by tier, method and operating point.
    """
    with connect(scores=read_table(scores)) as db:
        write_table("latency", db.sql(_LATENCY).to_arrow_table().to_pylist(), out)

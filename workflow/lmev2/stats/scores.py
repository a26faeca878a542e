"""One table of scores from the stage files: every question, arm and repeat exactly once.

An arm is a method at an operating point in a tier.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from lmev2.eval_function import JUDGED
from lmev2.records import ROW_KEY, SCHEMAS, Status
from lmev2.store import read_table, write_parquet

_IDS_SHOWN = 100

_JOIN = """
SELECT question_id, method, operating_point, tier, repeat,
       questions.domain, questions.environment, questions.question_type, questions.ability,
       questions.abstention, questions.evaluator, list_contains($judged, questions.evaluator) AS judged,
       reads.prediction, coalesce(reads.is_unknown, false) AS is_unknown, judges.score,
       CASE WHEN queries.status <> $ok THEN queries.status
            WHEN reads.status <> $ok THEN reads.status
            ELSE judges.status END AS status,
       queries.latency_s
FROM queries
JOIN reads USING (question_id, method, operating_point, tier, repeat)
JOIN judges USING (question_id, method, operating_point, tier, repeat)
JOIN questions USING (question_id)
ORDER BY tier, method, operating_point, repeat, question_id
"""


def tabulate_scores(
    questions: str | Path,
    queries: Sequence[str | Path],
    reads: Sequence[str | Path],
    judges: Sequence[str | Path],
    out: str | Path,
    *,
    pilots: Collection[str] = (),
) -> None:
    """Join questions, queries, reads and verdicts to the `scores` table.

    A question is `judged` where its evaluator asks a model, whether or not this answer
    needed one, so that the judge-free questions are the same for every arm. `is_unknown` is false
    where no answer was read.

    Args:
        questions: the `questions` file.
        queries: all `query` files.
        reads: all `read` files.
        judges: all `judge` files.
        out: the `scores` file, sorted by tier, method, operating point, repeat and question.
        pilots: methods that are asked the non-abstention questions only.

    Raises:
        ValueError: a question × arm × repeat is missing, there twice or unknown in some stage (method,
            tier and ids are named, all defects at once), a score is not 0 or 1, or an item that
            failed has a score other than 0.
    """
    known = read_table(questions)
    tables = {
        "query": _read_all(queries, [*ROW_KEY, "status", "latency_s"]),
        "read": _read_all(reads, [*ROW_KEY, "status", "prediction", "is_unknown"]),
        "judge": _read_all(judges, [*ROW_KEY, "status", "score"]),
    }
    everything = known.column("question_id").to_pylist()
    answerable = known.filter(pc.invert(known.column("abstention"))).column("question_id").to_pylist()
    problems = _check_complete(lambda method: answerable if method in pilots else everything, tables)
    if problems:
        raise ValueError("the stage files do not fit together:\n" + "\n".join(problems))
    with connect(
        questions=known, queries=tables["query"], reads=tables["read"], judges=tables["judge"]
    ) as db:
        scores = db.sql(_JOIN, params={"ok": Status.OK.value, "judged": sorted(JUDGED)}).to_arrow_table()
    _check_scores(scores)
    write_parquet(scores.select(SCHEMAS["scores"].names).cast(SCHEMAS["scores"]), out)


def connect(**tables: pa.Table) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with `tables` as views.

    One thread: sums of floats then do not depend on how the work is divided.
    """
    connection = duckdb.connect(config={"threads": 1})
    for name, table in tables.items():
        connection.register(name, table)
    return connection


def name_arm(method: str, operating_point: str) -> str:
    """`method`, or `method@point` for an operating point other than the default."""
    return f"{method}@{operating_point}" if operating_point else method


def list_ids(ids: Sequence[str]) -> str:
    """Sorted ids for a message, the first hundred in full."""
    shown = ", ".join(sorted(ids)[:_IDS_SHOWN])
    more = len(ids) - _IDS_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _read_all(paths: Sequence[str | Path], columns: list[str]) -> pa.Table:
    if not paths:
        raise ValueError("no stage files given: the run has no methods")
    return pa.concat_tables([read_table(path, columns) for path in paths])


def _check_complete(expected: Callable[[str], list[str]], tables: dict[str, pa.Table]) -> list[str]:
    """One line per stage × arm × repeat whose questions are not exactly those expected of the method."""
    found: dict[str, dict[tuple, list[str]]] = {}
    repeats: dict[tuple, int] = {}
    for stage, table in tables.items():
        found[stage] = {}
        for question, *arm, repeat in zip(*(table.column(name).to_pylist() for name in ROW_KEY), strict=True):
            found[stage].setdefault((*arm, repeat), []).append(question)
            repeats[tuple(arm)] = max(repeats.get(tuple(arm), 0), repeat)
    problems = []
    for stage, items in found.items():
        for method, point, tier in sorted(repeats):
            questions = expected(method)
            for repeat in range(repeats[method, point, tier] + 1):
                counts = Counter(items.get((method, point, tier, repeat), []))
                for defect, ids in {
                    "lacks": [question for question in questions if question not in counts],
                    "has unknown": list(counts.keys() - set(questions)),
                    "repeats": [question for question, count in counts.items() if count > 1],
                }.items():
                    if ids:
                        problems.append(
                            f"{stage} of {name_arm(method, point)}, tier {tier}, repeat {repeat} {defect} "
                            f"{len(ids)} of {len(questions)} questions: {list_ids(ids)}"
                        )
    return problems


def _check_scores(scores: pa.Table) -> None:
    wrong = [
        f"{name_arm(row['method'], row['operating_point'])}, tier {row['tier']}, repeat {row['repeat']}, "
        f"question {row['question_id']}: status {row['status']!r}, score {row['score']}"
        for row in scores.select([*ROW_KEY, "status", "score"]).to_pylist()
        if row["score"] not in (0, 1) or (row["status"] != Status.OK and row["score"] != 0)
    ]
    if wrong:
        raise ValueError(
            "scores must be 0 or 1, and 0 where the status is not 'ok':\n" + "\n".join(wrong[:_IDS_SHOWN])
        )

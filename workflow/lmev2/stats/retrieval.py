"""Retrieval quality without any reader: what the context that the reader got holds.

Reads the evidence labels, so it is analysis: nothing that it writes goes back to a method.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lmev2.eval_function import PHRASE_SEQUENCE, PHRASE_SET, parse_eval_function
from lmev2.judge.normalise import DEFAULT_SEPARATORS, normalise, split_phrases
from lmev2.records import NO_SOURCE, ROW_KEY, SCHEMAS
from lmev2.stats.families import families_of
from lmev2.store import read_rows, read_table, replacing

_BATCH = 16  # contexts in memory at a time; one can have a megabyte
_LABELS = ("holds_family", "holds_trajectory", "holds_state", "holds_every_hop", "holds_url")


@dataclass
class Evidence:
    """The labels of one question: for each hop, trajectory -> states that hold the evidence."""

    hops: dict[str, dict[str, frozenset[int]]] = field(default_factory=lambda: defaultdict(dict))

    def trajectories(self) -> set[str]:
        """Every trajectory that holds evidence for some hop."""
        return {trajectory for hop in self.hops.values() for trajectory in hop}


def read_evidence(coverage: str | Path) -> dict[str, Evidence]:
    """The questions that have evidence, from the `coverage` table."""
    found: dict[str, Evidence] = defaultdict(Evidence)
    for row in read_rows(coverage):
        if row["trajectory_id"] is not None:
            states = frozenset(row["state_indexes"])
            found[row["question_id"]].hops[row["hop"]][row["trajectory_id"]] = states
    return dict(found)


def tabulate_retrieval(
    questions: str | Path,
    coverage: str | Path,
    trajectories: str | Path,
    states: str | Path,
    queries: Sequence[str | Path],
    reads: Sequence[str | Path],
    out: str | Path,
) -> None:
    """Write the `retrieval` table: one row per question, arm and repeat.

    Looked at are the items that the reader got, after truncation. A column of labels is null for a
    question without evidence labels, `holds_gold` for an evaluator that needs no phrases.

    Args:
        questions: the `questions` file.
        coverage: the `coverage` file.
        trajectories: the `trajectories` file.
        states: the `states` file.
        queries: all `query` files.
        reads: the `read` files, in the same order.
        out: the `retrieval` file.
    """
    known = {row["question_id"]: row for row in read_rows(questions)}
    evidence = read_evidence(coverage)
    columns = ["trajectory_id", "domain", "family", "goal"]
    families = families_of(read_rows(trajectories, columns))
    urls = _read_urls(states)
    schema = SCHEMAS["retrieval"]
    with replacing(out) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for query_file, read_file in zip(queries, reads, strict=True):
            kept = {
                tuple(row[key] for key in ROW_KEY): row
                for row in read_rows(read_file, [*ROW_KEY, "context_items_kept", "context_tokens_kept"])
            }
            rows = []
            for query in _stream(query_file):
                read = kept[tuple(query[key] for key in ROW_KEY)]
                question = known[query["question_id"]]
                items = query["items"][: read["context_items_kept"]]
                rows.append(
                    {
                        **{key: query[key] for key in ROW_KEY},
                        **{key: question[key] for key in ("ability", "abstention", "domain")},
                        "status": query["status"],
                        "context_tokens": read["context_tokens_kept"],
                        **look_for_evidence(
                            items,
                            None if _is_foreign(items) else evidence.get(question["question_id"]),
                            families,
                            urls,
                        ),
                        "holds_gold": holds_gold(items, question),
                    }
                )
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def look_for_evidence(
    items: Sequence[Mapping[str, Any]],
    evidence: Evidence | None,
    families: Mapping[str, str],
    urls: Mapping[str, Mapping[int, str]],
) -> dict[str, bool | int | None]:
    """The label columns of one context.

    A text item that names a trajectory is one piece; `rank_trajectory` and `rank_state` are the places,
    from 1, of the first piece from an answer trajectory and of the first that shows an evidence state.
    Notes stand together in one item without a trajectory, so they never count here.

    Args:
        items: the context, items as in `records.ITEM`.
        evidence: the question's labels, None without any.
        families: trajectory -> task family.
        urls: trajectory -> state -> URL.
    """
    if evidence is None:
        return dict.fromkeys((*_LABELS, "rank_trajectory", "rank_state"))
    pieces = [item for item in items if item["kind"] == "text" and item["trajectory_id"] is not None]
    shown = [_states_of(item, urls) for item in pieces]
    answers = evidence.trajectories()
    wanted = [{(t, s) for t, found in hop.items() for s in found} for hop in evidence.hops.values()]
    everything = set().union(*wanted)
    all_shown = set().union(*shown) if shown else set()
    answer_urls = {urls[trajectory].get(state) for trajectory, state in everything} - {None, ""}
    return {
        "holds_family": bool(
            {families[item["trajectory_id"]] for item in pieces} & {families[answer] for answer in answers}
        ),
        "holds_trajectory": any(item["trajectory_id"] in answers for item in pieces),
        "holds_state": bool(all_shown & everything),
        "holds_every_hop": all(hop & all_shown for hop in wanted),
        "holds_url": bool({urls[t].get(s) for t, s in all_shown} & answer_urls),
        "rank_trajectory": _first(item["trajectory_id"] in answers for item in pieces),
        "rank_state": _first(bool(states & everything) for states in shown),
    }


def _is_foreign(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether nothing says where any item of an imported context comes from, so that no label can be told."""
    return bool(items) and all(
        item["source"] == NO_SOURCE and item["trajectory_id"] is None for item in items
    )


def holds_gold(items: Sequence[Mapping[str, Any]], question: Mapping[str, Any]) -> bool | None:
    """Whether the context's text has every gold phrase as whole words, in any order.

    What a reader could at best copy, so a ceiling that needs no judge. None for the other evaluators.
    """
    function = parse_eval_function(question["eval_function"])
    if function.name not in (PHRASE_SET, PHRASE_SEQUENCE):
        return None
    switches = {key: function.flag(key) for key in ("lower", "normalize_hyphen", "strip_punct")}
    separators = function.options.get("separators", DEFAULT_SEPARATORS)
    phrases = split_phrases(question["answer"], separators, **switches)
    parts = [_normalised(item["text"], **switches) for item in items if item["kind"] == "text"]
    text = " ".join(filter(None, parts))
    return bool(phrases) and all(re.search(rf"\b{re.escape(phrase)}\b", text) for phrase in phrases)


@lru_cache(maxsize=1024)
def _normalised(text: str, **switches: bool) -> str:
    # The same slices come back in the contexts of many questions and methods.
    return normalise(text, **switches)


def _states_of(item: Mapping[str, Any], urls: Mapping[str, Mapping[int, str]]) -> set[tuple[str, int]]:
    trajectory, first, last = item["trajectory_id"], item["first_state"], item["last_state"]
    if first is None:  # a piece about the whole run shows none of its states
        return set()
    return {(trajectory, state) for state in range(first, last + 1) if state in urls[trajectory]}


def _first(hits: Iterator[bool]) -> int | None:
    return next((rank for rank, hit in enumerate(hits, 1) if hit), None)


def _read_urls(states: str | Path) -> dict[str, dict[int, str]]:
    table = read_table(states, ["trajectory_id", "state_index", "url"])
    urls: dict[str, dict[int, str]] = defaultdict(dict)
    for trajectory, state, url in zip(*(column.to_pylist() for column in table.columns), strict=True):
        urls[trajectory][state] = url
    return urls


def _stream(query_file: str | Path) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(query_file) as file:
        for batch in file.iter_batches(_BATCH, columns=[*ROW_KEY, "status", "items"]):
            yield from batch.to_pylist()

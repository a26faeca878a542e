"""Each pool of AgentRunbook-R brings evidence that the others miss, on the mini dataset with embedded models.

An analysis: the labels say afterwards what a context holds, no method sees them. What it shows and what it
does not: `docs/methods.md`. Run with `-s` to see the figures that it quotes.
"""

import asyncio
import json
from collections import defaultdict
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
import yaml
from project import ROOT

from lmev2.configuration import config_for_models
from lmev2.ingest.dataset import ingest_dataset, write_haystack
from lmev2.insert.embedding import DOCUMENTS, embed_entries
from lmev2.insert.events import write_event
from lmev2.insert.notes import write_notes
from lmev2.insert.slices import slice_entries
from lmev2.llm.door import Door
from lmev2.llm.meter import metered
from lmev2.llm.models import model_of
from lmev2.memory.embedding_text import Recipe
from lmev2.memory.runbook import AgentRunbookR
from lmev2.memory.services import Services
from lmev2.memory.view import HaystackView, Pool
from lmev2.prompts import Prompts, prompt_params
from lmev2.query import haystacks_of, question_of
from lmev2.rows import gather_rows
from lmev2.store import read_rows, write_parquet, write_table
from lmev2.trajectory import Trajectories

TIERS = ["small", "medium"]
POOLS = ("slices", "events", "notes")
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """tier -> question id -> pool -> entries in the context."""
    folder = tmp_path_factory.mktemp("mini")
    mini = ROOT / "resources" / "mini"
    ingest_dataset(mini, TIERS, folder)
    for tier in TIERS:
        tables = [folder / f"{name}.parquet" for name in ("questions", "coverage", tier, f"{tier}.labels")]
        write_haystack(mini, tier, *tables)
    trajectories = Trajectories(folder / "trajectories.parquet", folder / "states.parquet", mini)
    config = config_for_models(None)
    prompts = Prompts(prompt_params(("notes.", "events.", "controller."), {}))
    models = {role: model_of(role, config) for role in ("controller", "embedding")}
    with Door(models, folder / "journal") as door:
        entries = {
            "slices": list(slice_entries(trajectories, 1)),
            "events": door.run(gather_rows(event_work(door, trajectories, prompts))),
            "notes": list(chain(*door.run(gather_rows(note_work(door, trajectories, prompts))))),
        }
        pools = {name: make_pool(door, folder, name, rows, trajectories) for name, rows in entries.items()}
        return {tier: ask_all(door, folder, tier, trajectories, pools, prompts) for tier in TIERS}


def event_work(door, trajectories, prompts):
    return [
        partial(write_event, door, trajectories[id_], post, prompts)
        for id_ in trajectories
        for post in range(1, trajectories.n_states(id_))
    ]


def note_work(door, trajectories, prompts):
    return [partial(write_notes, door, trajectories[id_], prompts) for id_ in trajectories]


def make_pool(door, folder: Path, name, entries, trajectories) -> Pool:
    section = dict(CONFIG["insert"]["embedding"])
    best = section.pop("best_chunks")
    texts = ((entry, DOCUMENTS[name](entry, trajectories, Recipe(**section))) for entry in entries)
    rows, vectors = door.run(embed_entries(door, texts, 2048, lambda done: None))
    paths = [folder / f"{name}{suffix}.parquet" for suffix in ("", ".embeddings", ".vectors")]
    write_table(name, entries, paths[0])
    write_table("embeddings", rows, paths[1])
    write_parquet(vectors, paths[2])
    return Pool(*paths, best)


def ask_all(door, folder, tier, trajectories, pools, prompts):
    questions = {
        row["question_id"]: question_of(row) for row in read_rows(folder / "query_questions.parquet")
    }
    haystacks = haystacks_of(read_rows(folder / f"{tier}.parquet"))
    entries = {
        name: {row["entry_id"]: row for row in pool.entries.to_pylist()} for name, pool in pools.items()
    }
    answers = {}
    for id_, question in questions.items():
        memory = AgentRunbookR(CONFIG["methods"]["agentrunbook_r"]["options"], Services(door, prompts))
        memory.attach(HaystackView(haystacks[id_], trajectories, pools))
        with metered() as meter:
            asyncio.run(memory.query(question))
        hits = json.loads(json.dumps(meter.trace))["hits"]
        answers[id_] = {name: [entries[name][hit] for hit, _ in hits.get(name, ())] for name in POOLS}
    labels = defaultdict(dict)
    for row in read_rows(folder / "coverage.parquet"):
        if row["hop"] is not None:
            labels[row["question_id"], row["hop"]][row["trajectory_id"]] = set(row["state_indexes"])
    return {hop: {name: holds(answers[hop[0]][name], of) for name in POOLS} for hop, of in labels.items()}


def holds(entries, labels):
    """Whether an entry shows a labelled state; a note, which shows no state, is of a labelled run."""
    return any(states(entry) & labels.get(entry["trajectory_id"], set()) for entry in entries)


def states(entry):
    if "kind" in entry:
        return set(range(10_000))
    if "pre_state" in entry:
        return {entry["pre_state"], entry["post_state"]}
    return set(range(entry["first_state"], entry["last_state"] + 1))


@pytest.mark.slow
def test_each_pool_brings_evidence_for_a_question_for_which_the_others_bring_none(found):
    alone = {name: [] for name in POOLS}
    for tier, hops in found.items():
        print(f"\n{tier}: {len(hops)} hops;", {name: sum(by[name] for by in hops.values()) for name in POOLS})
        for name in POOLS:
            alone[name] += [(tier, hop[0]) for hop, by in hops.items() if by[name] and sum(by.values()) == 1]
    print("one pool alone:", alone)
    assert all(alone.values()), alone

"""Vectors of a pool's entries: each distinct text embedded once."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lmev2.insert.events import event_text
from lmev2.insert.notes import note_text
from lmev2.journal import request_key
from lmev2.llm.door import Door
from lmev2.llm.meter import metered
from lmev2.llm.reply import usage_columns
from lmev2.memory.embedding_text import EmbeddingTexts, Recipe, slice_texts
from lmev2.tokens import CHARS_PER_TOKEN
from lmev2.trajectory import Trajectories


def slice_documents(entry: Mapping[str, Any], trajectories: Trajectories, recipe: Recipe) -> EmbeddingTexts:
    """What is embedded of a slice: its states' trees with their state numbers."""
    states = trajectories[entry["trajectory_id"]].states[entry["first_state"] : entry["last_state"] + 1]
    return slice_texts(
        [state.tree for state in states], [state.index for state in states], entry["centre_state"], recipe
    )


def event_documents(entry: Mapping[str, Any], trajectories: Trajectories, recipe: Recipe) -> EmbeddingTexts:
    """What is embedded of an event: its overview and its transition, as far as the model reads."""
    return _whole(event_text(entry), recipe)


def note_documents(entry: Mapping[str, Any], trajectories: Trajectories, recipe: Recipe) -> EmbeddingTexts:
    """What is embedded of a note: its whole text, as far as the model reads."""
    return _whole(note_text(entry), recipe)


def _whole(text: str, recipe: Recipe) -> EmbeddingTexts:
    limit = recipe.max_tokens * CHARS_PER_TOKEN
    return EmbeddingTexts([text[:limit]] if text else [], 1.0, len(text) > limit)


DOCUMENTS: dict[str, Callable[[Mapping[str, Any], Trajectories, Recipe], EmbeddingTexts]] = {
    "slices": slice_documents,
    "events": event_documents,
    "notes": note_documents,
}


async def embed_entries(
    door: Door,
    texts: Iterator[tuple[Mapping[str, Any], EmbeddingTexts]],
    batch: int,
    progress: Callable[[int], None],
) -> tuple[list[dict[str, Any]], pa.Table]:
    """Embed the entries of one pool.

    Args:
        door: the door to the embedding model.
        texts: each entry with its texts, in the pool's order.
        batch: distinct texts per request of the door; memory grows with it.
        progress: called with the number of entries done.

    Returns:
        the rows of `insert/{pool}.embeddings.parquet` and the table of distinct vectors.
    """
    ids: dict[bytes, int] = {}  # digest of a text -> its number; texts themselves are not kept
    vectors: list[np.ndarray | None] = []  # by number; None where a text has no vector
    cut: list[bool] = []  # by number; whether the model did not take all of a text
    waiting: list[str] = []
    rows: list[dict[str, Any]] = []

    async def embed_waiting() -> None:
        with metered() as meter:
            found = await door.embed(waiting)
        rows[-1].update(meter.embeddings)
        cut.extend(found.was_cut.tolist())
        vectors.extend(
            None if empty else vector for vector, empty in zip(found.vectors, found.empty, strict=True)
        )
        waiting.clear()
        progress(len(rows))

    for entry, documents in texts:
        numbers = []
        for text in documents.texts:
            digest = hashlib.sha256(text.encode()).digest()
            if digest not in ids:
                ids[digest] = len(ids)
                waiting.append(text)
            numbers.append(ids[digest])
        rows.append(
            {
                "entry_id": entry["entry_id"],
                "trajectory_id": entry["trajectory_id"],
                "vectors": numbers,
                "centre_share": documents.centre_share,
                "was_cut": documents.was_cut,
                "digest": request_key(documents.texts),
                **usage_columns([]),
            }
        )
        if len(waiting) >= batch:
            await embed_waiting()
    if waiting:
        await embed_waiting()
    progress(len(rows))
    for row in rows:
        row["was_cut"] |= any(cut[number] for number in row["vectors"])
    return _with_vector_rows(rows, vectors)


def _with_vector_rows(
    rows: list[dict[str, Any]], vectors: list[np.ndarray | None]
) -> tuple[list[dict[str, Any]], pa.Table]:
    """Replace text numbers by rows of the table of vectors.

    An entry without text, or with unknown words only, keeps an empty list and is never found.
    """
    present = np.array([vector is not None for vector in vectors], bool)
    row_of = np.where(present, np.cumsum(present) - 1, -1)
    rows = [{**row, "vectors": [int(row_of[n]) for n in row["vectors"] if row_of[n] >= 0]} for row in rows]
    kept = [vector for vector in vectors if vector is not None]
    flat = np.concatenate(kept) if kept else np.zeros(0, np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), len(kept[0]) if kept else 1)
    return rows, pa.table({"vector": column})

import asyncio

import numpy as np
import pytest
from memory_data import make_trajectories, slice_entry

from lmev2.insert.embedding import embed_entries, note_documents, slice_documents
from lmev2.insert.slices import slice_entries
from lmev2.llm.door import Embeddings
from lmev2.memory.embedding_text import EmbeddingTexts, Recipe


class FakeDoor:
    def __init__(self):
        self.batches = []

    async def embed(self, texts):
        self.batches.append(list(texts))
        vectors = np.array([[len(text), 1] if text.strip() else [0, 0] for text in texts], np.float32)
        return Embeddings(vectors, ~vectors.any(axis=1), np.array(["cut" in text for text in texts]))


def embed(texts_by_entry, batch):
    door = FakeDoor()
    entries = [
        ({"entry_id": str(n), "trajectory_id": "t"}, EmbeddingTexts(texts, 1.0, False))
        for n, texts in enumerate(texts_by_entry)
    ]
    rows, table = asyncio.run(embed_entries(door, iter(entries), batch, lambda done: None))
    return door, rows, table.column("vector").to_pylist()


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_each_distinct_text_is_embedded_once(batch):
    door, rows, vectors = embed([["a", "bb"], ["bb", "ccc"], ["a"]], batch)
    asked = [text for texts in door.batches for text in texts]
    assert asked == ["a", "bb", "ccc"]
    assert [[vectors[v] for v in row["vectors"]] for row in rows] == [
        [[1, 1], [2, 1]],
        [[2, 1], [3, 1]],
        [[1, 1]],
    ]


def test_texts_without_vector_leave_no_zero_vector():
    _, rows, vectors = embed([["a", " "], [" "], [], ["bb"]], 10)
    assert [row["vectors"] for row in rows] == [[0], [], [], [1]]
    assert vectors == [[1, 1], [2, 1]]


def test_no_entries_at_all():
    _, rows, vectors = embed([], 10)
    assert (rows, vectors) == ([], [])


def test_slices_are_windows_cut_at_the_ends(tmp_path):
    trajectories = make_trajectories(tmp_path, {"a": ["x", "y", "z"], "b": ["x"]})
    windows = [
        (row["entry_id"], row["first_state"], row["last_state"]) for row in slice_entries(trajectories, 1)
    ]
    assert windows == [("a/0", 0, 1), ("a/1", 0, 2), ("a/2", 1, 2), ("b/0", 0, 0)]
    assert len({row["digest"] for row in slice_entries(trajectories, 1)}) == 4
    assert all(row["first_state"] == row["last_state"] for row in slice_entries(trajectories, 0))


def test_a_slice_embeds_its_states_trees_with_their_numbers(tmp_path):
    trajectories = make_trajectories(tmp_path, {"a": ["tree zero", "tree one", "tree two"]})
    texts = slice_documents(slice_entry("a", 2, 2), trajectories, Recipe()).texts
    assert texts == ["State 1\ntree one\nState 2\ntree two\n"]


def test_a_note_is_cut_at_the_models_limit():
    note = {"title": "t", "description": "d", "content": "c" * 100}
    found = note_documents(note, None, Recipe(max_tokens=10))
    assert (len(found.texts[0]), found.was_cut) == (30, True)

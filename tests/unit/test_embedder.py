import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.llm.embedded.embedder import StaticEmbedder

EMBEDDER = StaticEmbedder()
TEXTS = ["a red bicycle", "button 'Save', clickable", "日本 🙂", "x" * 5000, "the"] * 3


def test_vectors_are_unit_length():
    vectors = EMBEDDER.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), EMBEDDER.dimension) == (15, 256)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert EMBEDDER.encode([]).shape == (0, 256)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=6))
def test_a_vector_does_not_depend_on_its_batch(texts):
    together = EMBEDDER.encode([*texts, "a much longer text " * 50])
    for text, vector in zip(texts, together, strict=False):
        assert EMBEDDER.encode([text])[0].tobytes() == vector.tobytes()


def test_a_batch_may_be_larger_than_the_inner_one():
    texts = [f"row {number}" for number in range(600)]
    assert (EMBEDDER.encode(texts)[599] == EMBEDDER.encode(["row 599"])[0]).all()


def test_a_text_without_tokens_gives_the_zero_vector():
    assert not EMBEDDER.encode(["", "word"])[0].any()


def test_similar_texts_are_nearer():
    query, near, far = EMBEDDER.encode(["delivery costs", "shipping fee", "password reset"])
    assert query @ near > query @ far + 0.1


def test_threads_get_the_same_vectors():
    fresh = StaticEmbedder()
    expected = EMBEDDER.encode(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        assert all(
            (vectors == expected).all() for vectors in pool.map(lambda _: fresh.encode(TEXTS), range(8))
        )


def test_no_network_is_touched(monkeypatch):
    def refuse(*_args, **_kwargs):
        pytest.fail("the embedder opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    assert StaticEmbedder().encode(["word"]).any()


def test_the_weights_load_at_first_use_and_the_root_logger_is_left_alone():
    code = (
        "import sys, logging; from lmev2.llm.embedded.embedder import StaticEmbedder as S\n"
        "e = S(); assert e.dimension and 'tokenizers' not in sys.modules\n"
        "e.encode(['x']); assert not logging.getLogger().handlers and 'requests' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

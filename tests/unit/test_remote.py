import hashlib

import numpy as np
import pytest

from lmev2.llm.faults import EmbeddingError, EndpointError, TransientError
from lmev2.llm.models import Model
from lmev2.llm.remote import ImageError, Remote, answer_of, chat_body, vectors_of
from lmev2.records import Status

LIMITS = {"read_timeout_s": 1, "connect_timeout_s": 1}
HELLO = [{"role": "user", "content": "hello"}]


def a_model(sampling=None, **changes):
    return Model("reader", "openai", "m", "", sampling or {}, LIMITS, **changes)


def answered(finish="stop", usage=None, **message):
    return answer_of({"choices": [{"finish_reason": finish, "message": message}], "usage": usage}, 7)


@pytest.mark.parametrize(
    ("finish", "message", "status", "text", "reasoning"),
    [
        ("stop", {"content": "A"}, "ok", "A", ""),
        (None, {"content": "A"}, "ok", "A", ""),
        ("stop", {"content": "A", "reasoning": "r"}, "ok", "A", "r"),
        ("stop", {"content": "A", "reasoning_content": "r"}, "ok", "A", "r"),
        ("stop", {"content": "<think>r</think>\n\nA"}, "ok", "A", "r"),
        ("stop", {"content": "r</think>A"}, "ok", "A", "r"),
        (
            "stop",
            {"content": "A </think> in the text", "reasoning": "r"},
            "ok",
            "A </think> in the text",
            "r",
        ),
        ("stop", {"content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]}, "ok", "AB", ""),
        ("stop", {"content": None, "reasoning": "r"}, "length_no_answer", "", "r"),
        ("length", {"content": None, "reasoning_content": "r"}, "length_no_answer", "", "r"),
        ("length", {"content": "<think>r"}, "length_no_answer", "", "r"),
        ("length", {"content": "A"}, "length_no_answer", "A", ""),
        ("stop", {"content": "  "}, "empty_reply", "  ", ""),
        ("stop", {"content": None}, "empty_reply", "", ""),
        ("stop", {}, "empty_reply", "", ""),
        ("content_filter", {"content": "A"}, "content_filter", "A", ""),
        ("stop", {"content": None, "refusal": "no"}, "refusal", "", ""),
    ],
)
def test_answers(finish, message, status, text, reasoning):
    answer = answered(finish, **message)
    assert (answer.status, answer.text, answer.reasoning) == (Status(status), text, reasoning)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 3}, (5, 3)),
        (None, (7, 2)),
        ({"prompt_tokens": None, "total_tokens": 9}, (7, 2)),
        ("none", (7, 2)),
    ],
)
def test_usage(usage, tokens):
    answer = answered(usage=usage, content="four")
    assert (answer.input_tokens, answer.output_tokens) == tokens


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (None, "max_completion_tokens"),
        ("https://api.openai.com/v1/", "max_completion_tokens"),
        ("http://x/v1", "max_tokens"),
    ],
)
def test_the_name_of_max_tokens(url, name):
    assert chat_body(a_model(base_url=url), HELLO, {"max_tokens": 9}, 0)[name] == 9


def test_only_what_is_configured_is_sent():
    assert chat_body(a_model(), HELLO, {}, 0) == {"model": "m", "messages": HELLO}
    assert chat_body(a_model(), HELLO, {"thinking": False}, 0) == {"model": "m", "messages": HELLO}
    assert chat_body(a_model({"thinking": True}), HELLO, {"thinking": False, "seed": 3}, 2) == {
        "model": "m",
        "messages": HELLO,
        "seed": 5,
        "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
    }


def test_what_is_no_picture_is_not_sent(tmp_path):
    (tmp_path / "a.png").write_bytes(b"text")
    part = {"type": "image", "path": str(tmp_path / "a.png"), "sha256": hashlib.sha256(b"text").hexdigest()}
    with pytest.raises(ImageError, match="not a PNG"):
        chat_body(a_model(), [{"role": "user", "content": [part]}], {}, 0)
    with pytest.raises(ImageError, match=r"b\.png: cannot read"):
        chat_body(
            a_model(), [{"role": "user", "content": [{**part, "path": str(tmp_path / "b.png")}]}], {}, 0
        )


def test_the_key_of_another_service_is_never_used(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    assert Remote(a_model(base_url="http://x/v1"))._client.api_key == "none"
    monkeypatch.setenv("MINE", "mine")
    assert Remote(a_model(base_url="http://x/v1", api_key_env="MINE"))._client.api_key == "mine"
    monkeypatch.setenv("MINE", "")
    with pytest.raises(EndpointError, match="MINE is not set"):
        Remote(a_model(base_url="http://x/v1", api_key_env="MINE"))


def data(*vectors, indexes=None):
    indexes = range(len(vectors)) if indexes is None else indexes
    return {"data": [{"index": i, "embedding": v} for i, v in zip(indexes, vectors, strict=True)]}


def test_case_22_the_order_is_restored_by_index():
    found = vectors_of(data([0, 3], [3, 0], [3, 4], indexes=[2, 0, 1]), ["a", "b", "c"], "here")
    np.testing.assert_allclose(found, [[1, 0], [0.6, 0.8], [0, 1]], rtol=1e-6)
    assert all(vector.dtype == np.float32 for vector in found)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (data([1, 2]), "1 vectors for 2 texts"),
        (data([1, 2], [1, 2], [1, 2]), "3 vectors for 2 texts"),
        (data([1, 2], [1, 2], indexes=[0, 0]), r"numbers the vectors of 2 texts \[0, 0\]"),
        (data([1, 2], [1, 2], indexes=[1, 2]), "numbers the vectors"),
        (data([1, 2], [1, 2], indexes=[0, None]), "numbers the vectors"),
        (data([1, 2], [1, None]), "'second' has a value that is no number"),
        (data([1, 2], [1, float("nan")]), "'second' has a value that is no number"),
        (data([1, 2], [1, float("inf")]), "'second' has a value that is no number"),
        (data([1, 2], [1, "2"]), "'second' has a value that is no number"),
        (data([1, 2], [0, 0.0]), "'second' is zero"),
        (data([1, 2], []), "'second' is missing"),
        (data([1, 2], None), "'second' is missing"),
        (data([1, 2], [1, 2, 3]), "'second' has 3 dimensions, others 2"),
        ({"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1}]}, "'second' is missing"),
    ],
)
def test_vectors_that_are_never_ranked(payload, message):
    with pytest.raises(EmbeddingError, match=message):
        vectors_of(payload, ["first", "second"], "here")


@pytest.mark.parametrize("payload", [{}, {"data": None}, {"data": []}])
def test_an_answer_without_any_vector_is_asked_again(payload):
    with pytest.raises(TransientError, match="without vectors"):
        vectors_of(payload, ["one", "two"], "here")

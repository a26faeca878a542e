import pytest

from lmev2.llm.faults import (
    EndpointError,
    FilteredError,
    OverlongError,
    RejectedError,
    TransientError,
    fault_of_status,
    is_overlong,
    retry_after,
    share_that_fits,
    shortened,
)
from lmev2.llm.models import Model

MODEL = Model(
    "judge",
    "openai",
    "gpt",
    "",
    {},
    base_url="https://user:secret@host.example:8443/v1?token=secret",
    api_key_env="A_KEY",
)

OVERLONG = [
    "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in "
    "the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
    "This model's maximum context length is 8192 tokens, however you requested 10000 tokens",
    "request (40000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "input (744 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
    "Input validation error: `inputs` must have less than 512 tokens. Given: 1000",
    "The input (1000 tokens) is longer than the model's context length (512 tokens).",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "the input length exceeds the context length",
    "prefill 744 tokens exceed n_ctx_per_seq, try increasing total context size",
]
OTHERS = [
    "max_tokens is too large: 20000. This model supports at most 16384 completion tokens",
    "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
    "extractive is not a multimodal model",
    "batch size 64 > maximum allowed batch size 32",
    "Invalid 'input': array too long. Expected an array with maximum length 2048, but got 3000 instead.",
    "Rate limit reached for gpt in organization org on tokens per min (TPM): Limit 30000, Used 29000",
]


@pytest.mark.parametrize("said", OVERLONG)
def test_words_for_too_long(said):
    assert is_overlong(said)
    assert 0.05 < share_that_fits(said) < 1


@pytest.mark.parametrize("said", OTHERS)
def test_words_for_other_things(said):
    assert not is_overlong(said)


def test_the_share_is_a_little_less_than_the_limit_in_either_order():
    assert share_that_fits("limit 512 tokens, given 1,024") == pytest.approx(0.475)
    assert share_that_fits("given 1024 tokens, limit 512") == pytest.approx(0.475)
    assert share_that_fits("too long") == share_that_fits("512 of 512") == 0.5


@pytest.mark.parametrize(
    ("status", "said", "code", "kind"),
    [
        *((status, "", None, TransientError) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
        *((status, "", None, EndpointError) for status in (401, 403, 404)),
        *((status, "", None, RejectedError) for status in (400, 405, 413, 415, 422)),
        *((status, OVERLONG[0], None, OverlongError) for status in (400, 413, 422, 500)),
        (400, "", "context_length_exceeded", OverlongError),
        (400, "", "content_filter", FilteredError),
        (429, OVERLONG[0], None, TransientError),  # tokens per minute, whatever the words
        (429, "", "insufficient_quota", EndpointError),
    ],
)
def test_statuses(status, said, code, kind):
    assert type(fault_of_status(status, said, code, {}, MODEL)) is kind


def test_messages_name_role_model_and_endpoint_but_no_secret():
    for status in (400, 401, 403, 404, 500):
        message = str(fault_of_status(status, "said so", None, {}, MODEL))
        assert message.startswith(
            f"models.judge (gpt at https://host.example:8443/v1) answers {status}: said so"
        )
        assert "secret" not in message and "user" not in message
    assert "A_KEY" in str(fault_of_status(401, "", None, {}, MODEL))


def test_the_key_is_taken_out(monkeypatch):
    monkeypatch.setenv("A_KEY", "canary")
    assert MODEL.redacted("Bearer canary!") == "Bearer [key]!"
    monkeypatch.setenv("A_KEY", "")
    assert MODEL.key is None and MODEL.redacted("abc") == "abc"


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "2"}, 2, 2),
        ({"retry-after": "0.5"}, 0.5, 0.5),
        ({"retry-after": "-3"}, 0, 0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
        ({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, 1e9, 1e10),
    ],
)
def test_retry_after(headers, low, high):
    assert low <= retry_after(headers) <= high


@pytest.mark.parametrize("headers", [{}, {"retry-after": ""}, {"retry-after": "soon"}])
def test_no_retry_after(headers):
    assert retry_after(headers) is None


def test_words_are_one_short_line():
    assert shortened("a\n b") == "a b" and shortened("") == "no message"
    assert len(shortened("x" * 9999)) == 501

"""The door against a server that does everything wrong that servers do (the table of docs/models.md)."""

import asyncio
import hashlib
import logging
import time

import numpy as np
import pytest
from PIL import Image as Picture
from remote_models import ask, model, sent
from server import StandIn, serving

from lmev2.image import Image
from lmev2.journal import JournalMissError
from lmev2.llm.door import Door
from lmev2.llm.embedded import provider
from lmev2.llm.faults import (
    EmbeddingError,
    EndpointError,
    ItemError,
    RejectedError,
    TransientError,
)
from lmev2.llm.meter import metered
from lmev2.records import Status
from lmev2.rows import ItemsFailedError, gather_rows


@pytest.fixture
def stand_in():
    return StandIn()


@pytest.fixture
def url(stand_in):
    with serving(stand_in) as address:
        yield address


def door_to(url, folder, *roles, **options):
    slots = options.pop("slots", None)
    replay = options.pop("replay", False)
    again = options.pop("again", ())
    models = {role: model(role, url, **options) for role in roles or ("reader",)}
    return Door(models, folder / "journal", slots=slots, replay=replay, again=again)


def chat(door, text="what", **how):
    return door.run(door.chat("reader", ask(text), **how))


# -- what is sent, what is read ------------------------------------------------------------------------


def test_a_request_carries_sampling_extras_and_pictures(stand_in, url, tmp_path):
    Picture.new("RGB", (4, 4), "red").save(tmp_path / "a.png")
    Picture.new("RGB", (4, 4), "red").save(tmp_path / "b.jpg")
    pictures = [
        Image(path, hashlib.sha256(path.read_bytes()).hexdigest(), 4, 4).part()
        for path in (tmp_path / "a.png", tmp_path / "b.jpg")
    ]
    sampling = {
        "temperature": 0.6,
        "top_p": 0.95,
        "top_k": 20,
        "max_tokens": 99,
        "seed": 7,
        "thinking": True,
        "reasoning_effort": "low",
    }
    door = door_to(url, tmp_path, sampling=sampling)
    messages = [{"role": "user", "content": [{"type": "text", "text": "Who?"}, *pictures]}]
    reply = door.run(door.chat("reader", messages, repeat=2))
    (body,) = sent(stand_in, "chat")
    kinds = [part["image_url"]["url"].partition(",")[0] for part in body.pop("messages")[0]["content"][1:]]
    assert kinds == ["data:image/png;base64", "data:image/jpeg;base64"]
    assert body == {
        "model": "extractive",
        "temperature": 0.6,
        "top_p": 0.95,
        "top_k": 20,
        "max_tokens": 99,
        "seed": 2007,
        "chat_template_kwargs": {"enable_thinking": True},
        "reasoning_effort": "low",
    }
    assert reply.status == Status.OK and reply.reasoning.startswith("I look at")
    assert "Authorization" in stand_in.headers[0] and "none" in stand_in.headers[0]["Authorization"]


def test_a_changed_picture_is_not_sent(stand_in, url, tmp_path):
    Picture.new("RGB", (4, 4), "red").save(tmp_path / "a.png")
    part = Image(tmp_path / "a.png", "0" * 64, 4, 4).part()
    with pytest.raises(Exception, match=r"a\.png: this picture has changed since"):
        door = door_to(url, tmp_path)
        door.run(door.chat("reader", [{"role": "user", "content": [part]}]))
    assert not stand_in.received


def test_thinking_is_sent_only_to_models_that_have_the_switch(stand_in, url, tmp_path):
    chat(door_to(url, tmp_path), sampling={"thinking": False})
    chat(door_to(url, tmp_path / "b", sampling={"thinking": True}), sampling={"thinking": False})
    assert "chat_template_kwargs" not in sent(stand_in, "chat")[0]
    assert sent(stand_in, "chat")[1]["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "content"])
def test_reasoning_is_told_apart_wherever_it_is(stand_in, url, tmp_path, field):
    stand_in.think_in = field
    plain = chat(door_to(url, tmp_path / "plain"))
    thinking = chat(door_to(url, tmp_path, sampling={"thinking": True}))
    assert thinking.text == plain.text and "thought" not in thinking.text
    assert thinking.reasoning.startswith("I look at") and plain.reasoning == ""


@pytest.mark.parametrize("fault", ["no_usage", "null_usage"])
def test_missing_usage_is_estimated(stand_in, url, tmp_path, fault):
    exact = chat(door_to(url, tmp_path / "exact"), "what " * 300)
    stand_in.misbehave(fault)
    reply = chat(door_to(url, tmp_path), "what " * 300)
    assert reply.input_tokens == pytest.approx(exact.input_tokens, rel=0.1)
    assert reply.output_tokens == exact.output_tokens
    assert reply.cost == pytest.approx((2 * reply.input_tokens + 10 * reply.output_tokens) / 1e6)


@pytest.mark.parametrize("fault", ["parts", "surrogate", "think_tags", "fenced"])
def test_odd_contents_are_read_and_can_be_journaled(stand_in, url, tmp_path, fault):
    plain = chat(door_to(url, tmp_path / "plain"))
    stand_in.misbehave(fault)
    with door_to(url, tmp_path) as door:
        reply = chat(door)
    assert reply.status == Status.OK and plain.text in reply.text
    with door_to(url, tmp_path) as door:
        assert chat(door) == reply and door.calls_made == 0


# -- transient faults ----------------------------------------------------------------------------------

TRANSIENT = [
    *(f"status:{status}" for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
    *("reset", "torn", "sleep:2", "html", "error_body", "no_choices"),
]


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_transient_fault_is_asked_again(stand_in, url, tmp_path, fault):
    stand_in.misbehave(fault)
    reply = chat(door_to(url, tmp_path))
    assert (reply.status, reply.calls, reply.attempts) == (Status.OK, 1, 2)
    assert list(stand_in.received.values()) == [2] and list(stand_in.answered.values()) == [1]
    assert reply.retry_wait_s > 0


@pytest.mark.parametrize("fault", TRANSIENT)
def test_attempts_are_bounded_and_nothing_is_journaled(stand_in, url, tmp_path, fault):
    stand_in.misbehave(fault, times=None)
    with pytest.raises(TransientError, match=r"models\.reader \(extractive at http.*tried 3 times"):
        chat(door_to(url, tmp_path, attempts=3, read_timeout_s=0.2))
    assert list(stand_in.received.values()) == [3]
    assert not list((tmp_path / "journal").rglob("*.jsonl"))


def test_embeddings_are_asked_again_as_well(stand_in, url, tmp_path):
    stand_in.misbehave("status:503").misbehave("reset")
    door = door_to(url, tmp_path, "embedding")
    assert door.run(door.embed(["one", "two"])).vectors.shape == (2, 256)
    assert list(stand_in.received.values()) == [3]


def test_case_20_waits_are_apart_from_latency(stand_in, url, tmp_path):
    stand_in.delay_s = 0.2
    stand_in.misbehave("retry_after:2").misbehave("status:503")
    began = time.perf_counter()
    with metered() as meter:
        reply = chat(door_to(url, tmp_path))
    elapsed = time.perf_counter() - began
    assert reply.attempts == 3
    assert 0.2 <= reply.latency_s < 1.0
    assert 2.0 <= reply.retry_wait_s <= elapsed - reply.latency_s
    assert meter.booked_s == reply.latency_s and meter.not_latency_s >= 2.2


def test_retry_after_as_a_date_is_honoured(stand_in, url, tmp_path):
    stand_in.misbehave("retry_after_date:2")  # whole seconds: between 1 and 2 from now
    assert chat(door_to(url, tmp_path)).retry_wait_s >= 0.9


def test_a_server_that_has_closed_for_the_day_is_not_waited_for(stand_in, url, tmp_path):
    stand_in.misbehave("retry_after:86400", times=None)
    with pytest.raises(TransientError, match="tried once"):
        chat(door_to(url, tmp_path))


def test_nobody_listens(tmp_path):
    with pytest.raises(TransientError, match=r"no connection \(.*tried 2 times"):
        chat(door_to("http://127.0.0.1:9/v1", tmp_path, attempts=2))


# -- what stops the job --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        ("status:401", "valid key in the environment variable A_KEY"),
        ("status:403", "key in A_KEY may not use"),
        ("status:404", r"models\.reader\.base_url .* models\.reader\.model"),
        ("no_money", "no money left"),
    ],
)
def test_what_no_item_can_survive_stops_the_job(stand_in, url, tmp_path, monkeypatch, fault, remedy):
    monkeypatch.setenv("A_KEY", "canary-123")
    stand_in.delay_s = 0.05
    stand_in.misbehave(fault, times=None, containing="bad")
    door = door_to(url, tmp_path, key_env="A_KEY", concurrency=1)
    texts = ["first", "bad", "third"]
    with pytest.raises(EndpointError, match=remedy) as caught:
        door.run(gather_rows([lambda text=text: door.chat("reader", ask(text)) for text in texts]))
    assert "canary" not in str(caught.value)
    assert len(stand_in.received) == 2  # the third was never asked, and nothing was asked twice
    assert max(stand_in.received.values()) == 1
    stand_in.behave()
    for text in texts:
        chat(door, text)
    assert stand_in.repeated == []  # the first was kept


def test_a_missing_key_is_named(url, tmp_path, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(EndpointError, match=r"environment variable A_KEY is not set.*http://127"):
        chat(door_to(url, tmp_path, key_env="A_KEY"))


def test_another_400_fails_its_item_alone(stand_in, url, tmp_path):
    stand_in.misbehave("status:400", times=None, containing="bad")
    door = door_to(url, tmp_path)
    with pytest.raises(ItemsFailedError, match=r"1 of 3 items failed") as caught:
        door.run(gather_rows([lambda t=t: door.chat("reader", ask(t)) for t in ("one", "bad", "two")]))
    assert isinstance(caught.value.errors[0], RejectedError)
    assert sum(stand_in.received.values()) == 3 and sum(stand_in.answered.values()) == 2


# -- final outcomes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("null_content", Status.LENGTH_NO_ANSWER),
        ("null_content_old", Status.LENGTH_NO_ANSWER),
        ("thinking_cut", Status.LENGTH_NO_ANSWER),
        ("length", Status.LENGTH_NO_ANSWER),
        ("empty", Status.EMPTY_REPLY),
        ("content_filter", Status.CONTENT_FILTER),
        ("filtered", Status.CONTENT_FILTER),
        ("refusal", Status.REFUSAL),
    ],
)
class TestFruitlessReplies:
    def test_become_final_after_bounded_attempts(self, stand_in, url, tmp_path, fault, status):
        stand_in.misbehave(fault, times=None)
        with door_to(url, tmp_path, answer_attempts=3) as door:
            reply = chat(door)
        assert (reply.status, reply.calls, reply.attempts) == (status, 1, 3)
        assert "boxed" not in reply.text
        if status == Status.LENGTH_NO_ANSWER and fault != "length":
            assert "\\boxed{A}" in reply.reasoning
        stand_in.behave()
        with door_to(url, tmp_path) as door:  # journaled: the outcome is kept
            assert chat(door) == reply
        with door_to(url, tmp_path, again=[status]) as door:  # until asked again
            assert chat(door).status == Status.OK

    def test_a_better_one_counts(self, stand_in, url, tmp_path, fault, status):
        plain = chat(door_to(url, tmp_path / "plain"))
        stand_in.misbehave(fault)
        reply = chat(door_to(url, tmp_path))
        assert (reply.status, reply.text, reply.attempts) == (Status.OK, plain.text, 2)
        if fault != "filtered":  # both were paid for
            assert reply.input_tokens == 2 * plain.input_tokens

    def test_a_seed_is_counted_up(self, stand_in, url, tmp_path, fault, status):
        stand_in.misbehave(fault)
        chat(door_to(url, tmp_path, sampling={"seed": 5}))
        assert [body["seed"] for body in sent(stand_in, "chat")] == [5, 6]


def test_an_overflow_is_final_at_once(stand_in, url, tmp_path):
    stand_in.context_length = 100
    with door_to(url, tmp_path) as door:
        reply = chat(door, "word " * 200)
        assert (reply.status, reply.attempts, reply.text) == (Status.CONTEXT_OVERFLOW, 1, "")
        assert "maximum context length is 100 tokens" in reply.error
        assert chat(door, "word " * 200) == reply
    assert sum(stand_in.received.values()) == 1


# -- embeddings ----------------------------------------------------------------------------------------

TEXTS = ["The red door", "A blue window", "Two green gardens", "One grey roof", "Five black cats"]


def test_vectors_are_those_of_the_embedded_engine(stand_in, url, tmp_path):
    door = door_to(url, tmp_path, "embedding", batch=2)
    found = door.run(door.embed([*TEXTS, TEXTS[0]]))
    np.testing.assert_array_equal(found.vectors, provider.embed([*TEXTS, TEXTS[0]]))
    assert not found.was_cut.any() and not found.empty.any()
    assert [len(body["input"]) for body in sent(stand_in, "embeddings")] == [2, 2, 1]


@pytest.mark.parametrize("fault", ["shuffled", "no_indexes", "unnormalised", "no_usage"])
def test_what_can_be_put_right_is(stand_in, url, tmp_path, fault):
    stand_in.misbehave(fault)
    door = door_to(url, tmp_path, "embedding")
    found = door.run(door.embed(TEXTS))
    np.testing.assert_allclose(found.vectors, provider.embed(TEXTS), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("too_few", "gives 4 vectors for 5 texts, the first 'The red door'"),
        ("same_indexes", "numbers the vectors"),
        ("null_value", "'The red door' has a value that is no number"),
        ("null_vector", "'The red door' is missing"),
        ("nan", "'The red door' has a value that is no number"),
        ("zero", "'The red door' is zero"),
        ("other_dimension", "has 25[56] dimensions, others 25[56]"),
    ],
)
def test_what_cannot_is_an_error_that_names_the_text(stand_in, url, tmp_path, fault, message):
    stand_in.misbehave(fault)
    door = door_to(url, tmp_path, "embedding")
    with pytest.raises(ItemsFailedError, match=message) as caught:
        door.run(door.embed(TEXTS))
    assert isinstance(caught.value.errors[0], EmbeddingError)
    door.run(door.embed(TEXTS))  # nothing of it was kept
    assert list(stand_in.answered.values()) == [1]


@pytest.mark.parametrize("anew", [False, True])
def test_another_dimension_is_refused_before_it_is_journaled(stand_in, url, tmp_path, anew):
    door = door_to(url, tmp_path, "embedding")
    door.run(door.embed(TEXTS[:2]))
    stand_in.misbehave("all_other_dimension")
    door = door_to(url, tmp_path, "embedding") if anew else door
    with pytest.raises(ItemsFailedError, match=r"'One grey roof' has 128 dimensions, others 256"):
        door.run(door.embed([TEXTS[0], TEXTS[3]]))
    assert door.run(door.embed(TEXTS)).vectors.shape == (5, 256)


def test_a_batch_is_split_where_the_server_limits_it(stand_in, url, tmp_path):
    stand_in.max_batch = 3
    texts = [f"number {n}" for n in range(23)]
    door = door_to(url, tmp_path, "embedding", batch=16, concurrency=1)
    np.testing.assert_array_equal(door.run(door.embed(texts)).vectors, provider.embed(texts))
    assert stand_in.repeated == []
    refused = len(stand_in.bodies) - len(stand_in.answered)
    assert refused <= 8  # those in flight before the limit was known
    door.run(door.embed([f"further {n}" for n in range(23)]))
    assert len(stand_in.bodies) - len(stand_in.answered) == refused


def test_only_the_over_long_text_is_cut(stand_in, url, tmp_path):
    stand_in.max_input_tokens = 100
    texts = [*TEXTS, "door window " * 400, "a short one"]
    door = door_to(url, tmp_path, "embedding")
    found = door.run(door.embed(texts))
    assert found.was_cut.tolist() == [False] * 5 + [True, False]
    np.testing.assert_array_equal(found.vectors[:5], provider.embed(TEXTS))
    kept = [
        text for body in sent(stand_in, "embeddings") for text in body["input"] if text.startswith("door")
    ]
    assert len(kept[-1]) == int(4800 * 0.95 * 100 / 1600)  # near the limit, not a half of a half of a half
    assert stand_in.repeated == []
    again = door_to(url, tmp_path, "embedding")
    assert again.run(again.embed(texts)).was_cut.tolist() == found.was_cut.tolist()


def test_a_failing_batch_leaves_the_others(stand_in, url, tmp_path):
    texts = [f"number {n}" for n in range(10)]
    stand_in.misbehave("status:500", times=None, containing='"number 4"')
    door = door_to(url, tmp_path, "embedding", batch=2)
    with pytest.raises(ItemsFailedError, match="1 of 5 items failed"):
        door.run(door.embed(texts))
    stand_in.behave()
    door.run(door.embed(texts))
    assert stand_in.repeated == [] and sum(stand_in.texts.values()) == 10


# -- loops, limits, items ------------------------------------------------------------------------------


def test_case_19_one_door_over_several_event_loops(stand_in, url, tmp_path):
    door = door_to(url, tmp_path, "reader", "embedding", concurrency=2, requests_per_minute=6000)

    async def some(round_):
        work = [lambda n=n: door.chat("reader", ask(f"{round_} {n}")) for n in range(5)]
        await gather_rows([*work, lambda: door.embed([f"text {round_}"])])

    for round_ in range(2):
        door.run(some(round_))
    for round_ in range(2, 4):
        asyncio.run(some(round_))  # a plug-in's own loop, left without a word
    assert len(stand_in.received) == 24 and max(stand_in.received.values()) == 1


def test_slots_bound_what_is_in_flight(stand_in, url, tmp_path):
    stand_in.delay_s = 0.3
    door = door_to(url, tmp_path, slots={"reader": 2})
    replies = door.run(gather_rows([lambda n=n: door.chat("reader", ask(str(n))) for n in range(6)]))
    assert stand_in.most_in_flight == 2
    waits = sorted(reply.queue_wait_s for reply in replies)
    assert waits[0] < 0.3 and waits[-1] >= 0.6
    assert sum(reply.latency_s for reply in replies) < 3.6  # waiting is not in it


def test_a_slot_is_free_while_another_item_backs_off(stand_in, url, tmp_path):
    stand_in.misbehave("retry_after:1", containing="slow")
    door = door_to(url, tmp_path, slots={"reader": 1})
    texts = ["slow", *map(str, range(5))]
    slow, *others = door.run(gather_rows([lambda t=t: door.chat("reader", ask(t)) for t in texts]))
    assert slow.retry_wait_s >= 1 and sum(reply.queue_wait_s for reply in others) < 1


def test_requests_per_minute_are_shared_by_slots(stand_in, url, tmp_path):
    door = door_to(url, tmp_path, slots={"reader": 2}, requests_per_minute=1200)  # 2 of 8: five a second
    began = time.perf_counter()
    door.run(gather_rows([lambda n=n: door.chat("reader", ask(str(n))) for n in range(6)]))
    assert 0.9 < time.perf_counter() - began < 3


def test_case_24_one_item_fails_for_good_the_others_are_kept(stand_in, url, tmp_path):
    texts = [f"question {n}" for n in range(12)]
    stand_in.misbehave("status:500", times=None, containing="question 11")

    def read():
        with door_to(url, tmp_path) as door:
            work = [lambda text=text: door.chat("reader", ask(text)) for text in texts]
            return door.run(gather_rows(work))

    with pytest.raises(ItemsFailedError, match=r"1 of 12 items failed; the others are kept.*\n.*500"):
        read()
    assert len(stand_in.answered) == 11
    stand_in.behave()
    before = sum(stand_in.received.values())
    assert len(read()) == 12
    assert sum(stand_in.received.values()) == before + 1


def test_case_29_a_good_reply_after_an_error_is_what_is_kept(stand_in, url, tmp_path):
    stand_in.misbehave("error_body", times=4)
    with door_to(url, tmp_path) as door, pytest.raises(TransientError):
        chat(door)
    with door_to(url, tmp_path) as door:
        good = chat(door)
    assert good.status == Status.OK
    with door_to(url, tmp_path) as door:
        assert chat(door) == good
    assert list(stand_in.answered.values()) == [1]


def test_a_replay_needs_no_key_and_no_server(stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", "canary-123")
    stand_in.key = "canary-123"
    with serving(stand_in) as url, door_to(url, tmp_path, "reader", "embedding", key_env="A_KEY") as door:
        reply = chat(door)
        vectors = door.run(door.embed(TEXTS)).vectors
    monkeypatch.delenv("A_KEY")
    with door_to(url, tmp_path, "reader", "embedding", key_env="A_KEY", replay=True) as door:
        assert chat(door) == reply
        np.testing.assert_array_equal(door.run(door.embed(TEXTS)).vectors, vectors)
        with pytest.raises(JournalMissError):
            chat(door, "never asked")


@pytest.mark.parametrize("fault", ["echo_key:500", "echo_key:401", "echo_key:400", "echo_key:403"])
def test_a_key_that_a_server_repeats_reaches_no_error_and_no_log(
    stand_in, url, tmp_path, monkeypatch, caplog, fault
):
    monkeypatch.setenv("A_KEY", "canary-123")
    stand_in.misbehave(fault, times=None)
    with caplog.at_level(logging.DEBUG), pytest.raises((ItemError, EndpointError)) as caught:
        chat(door_to(url, tmp_path, key_env="A_KEY"))
    raised = caught.value
    while raised:
        assert "canary" not in f"{raised} {vars(raised)}"
        raised = raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)
    assert not [
        record for record in caplog.records if record.levelno >= logging.INFO and "canary" in str(record)
    ]


def test_connections_are_shared_and_bounded(stand_in, url, tmp_path):
    door = door_to(url, tmp_path, concurrency=32)
    door.run(gather_rows([lambda n=n: door.chat("reader", ask(str(n))) for n in range(200)]))
    assert len(stand_in.connections) <= 32
    assert len(stand_in.received) == 200 and max(stand_in.received.values()) == 1

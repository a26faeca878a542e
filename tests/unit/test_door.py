import asyncio
import json
from dataclasses import replace

import numpy as np
import pytest

from lmev2.journal import JournalMissError
from lmev2.llm.door import Door, chat_request
from lmev2.llm.engine import Answer, Vector
from lmev2.llm.faults import EmbeddingError, OverlongError, RejectedError, TransientError
from lmev2.llm.meter import metered
from lmev2.llm.models import Model
from lmev2.records import Status
from lmev2.rows import ItemsFailedError

LIMITS = {
    "concurrency": 4,
    "requests_per_minute": None,
    "tokens_per_minute": None,
    "attempts": 3,
    "backoff_s": 0.001,
    "answer_attempts": 2,
    "batch": 4,
}
GOOD = Answer("\\boxed{A}", "hm", "stop", Status.OK, 100, 10)


class FakeEngine:
    """Gives its outcomes in turn, then good ones; lengths of texts are their vectors' direction."""

    def __init__(self, *outcomes, most=99):
        self.outcomes, self.most, self.asked, self.closed = list(outcomes), most, [], 0

    def _next(self, good):
        outcome = self.outcomes.pop(0) if self.outcomes else good
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def chat(self, messages, sampling, nth):
        self.asked.append((messages, dict(sampling), nth))
        return self._next(GOOD)

    async def embed(self, texts):
        self.asked.append(list(texts))
        if len(texts) > self.most:
            raise RejectedError("too many")
        return self._next([Vector(np.array([len(text), 1], np.float32), len(text)) for text in texts])

    async def close(self):
        self.closed += 1


def a_model(role="reader", **changes):
    sampling = {"temperature": 0.5}
    return replace(
        Model(role, "openai", "m", "", sampling, LIMITS, prices={"input": 1.0, "output": 2.0}), **changes
    )


def door_to(engine, folder, role="reader", **options):
    model = options.pop("model", a_model(role))
    return Door({role: model}, folder / "journal", engines=lambda _: engine, **options)


def chat(door, text="q", **how):
    return door.run(door.chat("reader", [{"role": "user", "content": text}], **how))


def test_a_reply_books_all_that_was_paid_and_the_last_latency(tmp_path):
    engine = FakeEngine(
        TransientError("busy"), Answer("", "hm", "length", Status.LENGTH_NO_ANSWER, 100, 50), GOOD
    )
    reply = chat(door_to(engine, tmp_path))
    assert (reply.status, reply.calls, reply.attempts) == (Status.OK, 1, 3)
    assert (reply.input_tokens, reply.output_tokens) == (200, 60)
    assert reply.cost == pytest.approx((200 + 2 * 60) / 1e6)
    assert reply.latency_s < reply.retry_wait_s
    assert [nth for _, _, nth in engine.asked] == [0, 0, 1]  # a transient fault is no asking


def test_askings_and_repeats_are_told_apart(tmp_path):
    engine = FakeEngine()
    door = door_to(engine, tmp_path)
    for repeat, ask in [(0, 0), (0, 1), (1, 0), (2, 3)]:
        chat(door, repeat=repeat, ask=ask)
    assert [nth for _, _, nth in engine.asked] == [0, 1, 1000, 2003]


@pytest.mark.parametrize("status", [Status.EMPTY_REPLY, Status.REFUSAL, Status.CONTENT_FILTER])
def test_a_fruitless_reply_is_final_after_its_bound_and_kept(tmp_path, status):
    bad = Answer("", "", "stop", status, 1, 1, "words")
    with door_to(FakeEngine(bad, bad), tmp_path) as door:
        reply = chat(door)
    assert (reply.status, reply.attempts, reply.error) == (status, 2, "words")
    silent = FakeEngine()
    with door_to(silent, tmp_path) as door:
        assert chat(door) == reply
    assert silent.asked == []


def test_what_fails_leaves_no_record(tmp_path):
    engine = FakeEngine(*[TransientError("busy")] * 3)
    door = door_to(engine, tmp_path)
    with pytest.raises(TransientError, match="tried 3 times"):
        chat(door)
    assert chat(door).status == Status.OK and len(engine.asked) == 4


def test_endpoint_limits_prices_and_key_are_not_in_the_request(tmp_path):
    plain = a_model()
    other = a_model(base_url="http://else", api_key_env="K", limits={**LIMITS, "attempts": 9}, prices={})
    requests = [
        chat_request(m, [{"role": "user", "content": "q"}], repeat=0, ask=0, sampling=None)
        for m in (plain, other)
    ]
    assert requests[0] == requests[1] and "else" not in json.dumps(requests)


def test_a_replay_makes_no_engine(tmp_path):
    with door_to(FakeEngine(), tmp_path) as door:
        reply = chat(door)

    def none(_):
        raise AssertionError("no engine is of use in a replay")

    with Door({"reader": a_model()}, tmp_path / "journal", replay=True, engines=none) as door:
        assert chat(door) == reply
        with pytest.raises(JournalMissError):
            chat(door, "else")


def test_an_engine_is_made_and_closed_in_each_loop(tmp_path):
    engine = FakeEngine()
    door = door_to(engine, tmp_path)
    chat(door)
    chat(door, "more")
    assert engine.closed == 2


def test_a_failure_that_two_wait_for_leaves_nothing_behind_for_the_next_loop(tmp_path):
    engine = FakeEngine(*[RejectedError("no")] * 3)
    door = door_to(engine, tmp_path)

    async def thrice():
        same = [door.chat("reader", [{"role": "user", "content": "q"}]) for _ in range(3)]
        return await asyncio.gather(*same, return_exceptions=True)

    assert [isinstance(outcome, RejectedError) for outcome in door.run(thrice())] == [True] * 3
    assert len({reply.request for reply in door.run(thrice())}) == 1
    assert len(engine.asked) == 4


def test_the_engine_is_closed_after_an_error(tmp_path):
    engine = FakeEngine(RejectedError("no"))
    with pytest.raises(RejectedError):
        chat(door_to(engine, tmp_path))
    assert engine.closed == 1


def embed(door, *texts):
    return door.run(door.embed(texts))


def test_embedding_asks_each_distinct_text_once_in_batches(tmp_path):
    engine = FakeEngine()
    door = door_to(engine, tmp_path, "embedding")
    found = embed(door, "a", "bb", "ccc", "dddd", "eeeee", "a", "bb")
    assert engine.asked == [["a", "bb", "ccc", "dddd"], ["eeeee"]]
    assert found.vectors[:, 0].tolist() == [1, 2, 3, 4, 5, 1, 2]
    embed(door, "a", "f", "bb")
    assert engine.asked[2:] == [["f"]]


def test_a_refused_batch_is_halved_and_the_size_remembered(tmp_path):
    engine = FakeEngine(most=2)
    door = door_to(engine, tmp_path, "embedding")
    embed(door, *"abcd")
    embed(door, *"efgh")
    assert list(map(len, engine.asked)) == [4, 2, 2, 2, 2]


def test_one_refused_text_names_itself_and_leaves_the_others(tmp_path):
    class Picky(FakeEngine):
        async def embed(self, texts):
            self.asked.append(list(texts))
            if "bad" in texts:
                raise OverlongError(f"{texts}")
            return [Vector(np.ones(2, np.float32), 1) for _ in texts]

    engine = Picky()
    door = door_to(engine, tmp_path, "embedding")
    with pytest.raises(ItemsFailedError, match=r"1 × \['bad'\]"):
        embed(door, "a", "b", "bad", "d")
    assert embed(door, "a", "b", "d").vectors.shape == (3, 2)
    assert engine.asked == [["a", "b", "bad", "d"], ["a", "b"], ["bad", "d"], ["bad"], ["d"]]


def test_vectors_of_another_dimension_are_never_recorded(tmp_path):
    engine = FakeEngine()
    with door_to(engine, tmp_path, "embedding") as door:
        embed(door, "a")
    engine.outcomes = [[Vector(np.ones(3, np.float32), 1)]]
    with door_to(engine, tmp_path, "embedding") as door:
        with pytest.raises(ItemsFailedError, match=r"'b' has 3 dimensions, others 2") as caught:
            embed(door, "a", "b")
        assert isinstance(caught.value.errors[0], EmbeddingError)
        assert embed(door, "a", "b").vectors.shape == (2, 2)


def test_cut_texts_are_told(tmp_path):
    engine = FakeEngine([Vector(np.ones(2, np.float32), 1), Vector(np.ones(2, np.float32), 1, was_cut=True)])
    door = door_to(engine, tmp_path, "embedding")
    assert embed(door, "a", "b").was_cut.tolist() == [False, True]
    assert embed(door, "b", "a").was_cut.tolist() == [True, False]


def test_a_query_is_charged_with_service_and_not_with_waiting(tmp_path):
    """Case 26: three calls of equal length through one slot."""

    class Slow(FakeEngine):
        async def chat(self, messages, sampling, nth):
            await asyncio.sleep(0.1)
            return GOOD

    door = door_to(Slow(), tmp_path, slots={"reader": 1})
    meters = []

    async def query(text):
        with metered() as meter:
            await door.chat("reader", [{"role": "user", "content": text}])
        meters.append(meter)

    async def all_three():
        await asyncio.gather(*map(query, "abc"))

    door.run(all_three())
    waits = [meter.replies[0].queue_wait_s for meter in meters]
    assert waits == sorted(waits)
    # Each waits as long as those before it were served, however slow the machine is; clocks round.
    served = [meter.booked_s for meter in meters]
    assert waits[1] - waits[0] >= 0.9 * served[0]
    assert waits[2] - waits[1] >= 0.9 * served[1]
    assert all(
        meter.not_latency_s >= meter.booked_s + wait - 0.01 for meter, wait in zip(meters, waits, strict=True)
    )
    for meter, wait in zip(meters, waits, strict=True):
        assert meter.not_latency_s >= meter.booked_s + wait

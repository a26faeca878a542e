import asyncio
from dataclasses import replace

import pytest

from lmev2.image import Image
from lmev2.llm.reply import Reply
from lmev2.memory.protocol import Question
from lmev2.prompts import Prompts, prompt_params
from lmev2.reader import Reader
from lmev2.records import ROW_KEY, SCHEMAS, Status
from lmev2.truncation import ApproximateCounter

PLACE = {"domain": "web", "environment": "shop"}
NUMBERS = {"calls": 1, "attempts": 1, "input_tokens": 9, "output_tokens": 3, "cost": 0.1}
TIMES = {"latency_s": 1.0, "queue_wait_s": 0.0, "retry_wait_s": 0.0}


class FakeDoor:
    def __init__(self, text="I know: \\boxed{Save}", status=Status.OK, reasoning=""):
        self.text, self.status, self.reasoning, self.asked = text, status, reasoning, []

    async def chat(self, role, messages, *, repeat):
        self.asked.append((role, messages, repeat))
        return Reply(
            self.text, self.reasoning, "stop", self.status, model="m", request="r", **NUMBERS, **TIMES
        )


def item(text=None, image=None):
    empty = dict.fromkeys(("text", "image", "image_sha256", "width", "height"))
    if image:
        return {**empty, "kind": "image", "image": image, "image_sha256": "s", "width": 64, "height": 32}
    return {**empty, "kind": "text", "text": text}


def read(door, items=(), *, budget=1000, status="ok", domains=None, image=None, retruncate=False):
    prompts = Prompts(prompt_params(("reader.",), {}))
    counter = ApproximateCounter()
    reader = Reader(door, prompts, domains or {"web": "the shop"}, budget, counter, retruncate)
    query = {"items": list(items), "status": status, "error": "boom" if status != "ok" else "", "repeat": 2}
    return asyncio.run(reader.read(Question("h", "What is $x?", image), PLACE, query))


def test_the_prompt_is_system_then_context_then_question_then_its_image(tmp_path):
    door = FakeDoor()
    picture = Image(tmp_path / "q.png", "sha", 8, 8)
    read(door, [item("first"), item(image="a.png"), item("second")], image=picture)
    role, (system, user), repeat = door.asked[0]
    assert (role, repeat) == ("reader", 2)
    assert "the shop" in system["content"]
    kinds = [part["text"] if part["type"] == "text" else part["sha256"] for part in user["content"]]
    assert kinds[:3] == ["first", "s", "second"]
    assert "<question>\nWhat is $x?\n</question>" in kinds[3]
    assert kinds[4] == "sha"


def test_a_row_has_the_schema_and_the_answer():
    row = read(FakeDoor(), [item("first")])
    assert row.keys() | set(ROW_KEY) == set(SCHEMAS["read"].names)
    assert (row["status"], row["prediction"], row["boxed"], row["is_unknown"]) == ("ok", "Save", "one", False)
    assert (row["input_tokens"], row["calls"]) == (9, 1)


def test_items_beyond_the_budget_are_not_sent_and_counted():
    door = FakeDoor()
    row = read(door, [item("a" * 90), item("b" * 90), item("c" * 90)], budget=75)
    sent = [part["text"] for part in door.asked[0][1][1]["content"]]
    assert [text[0] for text in sent[:-1]] == ["a", "b"]
    assert (row["context_items"], row["context_items_kept"], row["was_truncated"]) == (3, 2, True)
    assert row["context_tokens_kept"] <= 75 < row["context_tokens"]


def test_unknown_is_recognised():
    assert read(FakeDoor("\\boxed{ unknown }"))["is_unknown"]
    assert not read(FakeDoor("\\boxed{unknown.}"))["is_unknown"]


def test_a_failed_query_costs_no_reader_call():
    door = FakeDoor()
    row = read(door, status="query_failed")
    assert door.asked == []
    assert (row["status"], row["error"], row["prediction"], row["calls"]) == ("query_failed", "boom", "", 0)


def take(text, status="ok"):
    items = [item(text)] if status == "ok" else []
    asked = FakeDoor()
    reader = Reader(asked, Prompts(prompt_params(("reader.",), {})), {}, 1000, ApproximateCounter())
    query = {
        "items": items,
        "status": status,
        "error": "",
        "model": "codex:m",
        "prompt_sha256": "of the agent",
    }
    row = reader.take(query)
    assert asked.asked == []
    return row


def test_an_answer_of_the_memory_is_taken_without_a_reader():
    row = take(" set {a} } \n")
    assert row.keys() | set(ROW_KEY) == set(SCHEMAS["read"].names)
    assert (row["status"], row["response_raw"], row["prediction"]) == ("ok", " set {a} } \n", "set {a} }")
    assert (row["model"], row["prompt_sha256"]) == ("codex:m", "of the agent")
    assert (row["calls"], row["cost"], row["latency_s"]) == (0, 0, 0)  # booked with the query
    assert take("unknown")["is_unknown"]
    failed = take("", "agent_failed")
    assert (failed["status"], failed["prediction"], failed["model"]) == ("agent_failed", "", "codex:m")


@pytest.mark.parametrize("status", [Status.LENGTH_NO_ANSWER, Status.CONTENT_FILTER])
def test_a_reply_that_is_no_answer_is_never_parsed(status):
    row = read(FakeDoor("cut \\boxed{Save", status, reasoning="perhaps \\boxed{Open}"))
    assert (row["status"], row["prediction"], row["boxed"]) == (str(status), "", "")
    assert row["reasoning"] == "perhaps \\boxed{Open}"


def test_an_undescribed_domain_is_introduced_by_its_environment():
    door = FakeDoor()
    read(door, domains={"other": "elsewhere"})
    assert "'shop'" in door.asked[0][1][0]["content"]


class Served(FakeDoor):
    """Serves prompts of at most `limit` characters, and says so if `tells`."""

    def __init__(self, limit, tells=True):
        super().__init__()
        self.limit, self.tells = limit, tells

    async def chat(self, role, messages, *, repeat):
        reply = await super().chat(role, messages, repeat=repeat)
        parts = [part["text"] for part in messages[1]["content"] if part["type"] == "text"]
        if (length := sum(map(len, parts))) <= self.limit:
            return reply
        said = f"maximum context length is {self.limit}, you requested {length}" if self.tells else "no"
        return replace(reply, text="", status=Status.CONTEXT_OVERFLOW, error=said)


@pytest.mark.parametrize("tells", [True, False])
def test_an_overflow_is_cut_to_what_is_served_if_so_configured(tells):
    items = [item("x" * 500) for _ in range(20)]
    row = read(Served(4000, tells), items, budget=10**6, retruncate=True)
    assert (row["status"], row["prediction"], row["was_truncated"]) == ("ok", "Save", True)
    assert (5 if tells else 3) <= row["context_items_kept"] <= 7
    assert row["context_items"] == 20 and row["context_tokens"] > row["context_tokens_kept"]
    assert 2 <= row["calls"] <= 4


def test_an_overflow_is_else_the_outcome_with_the_words_of_the_server():
    row = read(Served(4000), [item("x" * 500) for _ in range(20)], budget=10**6)
    assert (row["status"], row["prediction"], row["calls"]) == ("context_overflow", "", 1)
    assert "maximum context length is 4000" in row["error"]


def test_an_overflow_without_any_context_ends():
    door = Served(10)
    row = read(door, [item("x" * 500)], budget=10**6, retruncate=True)
    assert row["status"] == "context_overflow" and len(door.asked) == 2


@pytest.mark.parametrize(
    ("text", "status", "prediction"),
    [
        ("So \\boxed{Save} and fur", "ok", "Save"),
        ("So \\boxed{Sa", "length_no_answer", ""),
        ("So I be", "length_no_answer", ""),
    ],
)
def test_a_cut_reply_counts_if_its_box_is_closed(text, status, prediction):
    row = read(FakeDoor(text, Status.LENGTH_NO_ANSWER))
    assert (row["status"], row["prediction"]) == (status, prediction)

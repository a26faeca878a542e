import asyncio

import pytest

from lmev2.eval_function import parse_eval_function
from lmev2.judge.evaluators import AnswerError
from lmev2.judge.judging import SYSTEM_PROMPTS, USER_PROMPTS, Judgement, judge_answer
from lmev2.llm.reply import Reply
from lmev2.prompts import FOLDER
from lmev2.records import Status

PROMPTS = {
    name: (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for name in [*SYSTEM_PROMPTS.values(), *USER_PROMPTS.values()]
}


def reply(text, status=Status.OK):
    return Reply(
        text=text,
        reasoning='{"label": 1}',
        finish_reason="stop",
        status=status,
        model="judge",
        request="key",
        calls=1,
        attempts=1,
        input_tokens=10,
        output_tokens=2,
        cost=0.5,
        latency_s=0.1,
        queue_wait_s=0.0,
        retry_wait_s=0.0,
    )


class Chat:
    """Plays the given replies in order and remembers how it was called."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.calls = []

    async def __call__(self, role, messages, *, repeat, ask):
        self.calls.append((role, messages, repeat, ask))
        return self.replies[len(self.calls) - 1]


def judge(chat, text, prediction, *, answer="ref", response=None, question="q", prompts=PROMPTS, **options):
    function = parse_eval_function(text)
    response = prediction if response is None else response
    return asyncio.run(
        judge_answer(chat, function, question, answer, prediction, response, prompts, **options)
    )


@pytest.mark.parametrize(("prediction", "score"), [("the ref.", 1), ("other", 0), ("", 0), ("unknown", 0)])
def test_deterministic_evaluators_ask_nobody(prediction, score):
    judgement = judge(chat := Chat(), "norm_phrase_set_match", prediction)
    assert (judgement.score, judgement.label, judgement.status, judgement.replies) == (
        score,
        None,
        Status.OK,
        [],
    )
    assert chat.calls == []


@pytest.mark.parametrize("name", ["norm_phrase_set_match", "llm_abstention_checker", "llm_gotchas_checker"])
def test_unknown_is_wrong_without_a_call(name):
    judgement = judge(chat := Chat(), name, " Unknown ", answer="unknown")
    assert (judgement.score, judgement.reason, chat.calls) == (0, "the answer is UNKNOWN", [])


def test_a_blank_prediction_is_wrong_without_a_call():
    assert judge(chat := Chat(), "llm_gotchas_checker", " ") == Judgement(0, reason="the answer is blank")
    assert chat.calls == []


def test_a_blank_prediction_is_judged_if_it_may_be_empty():
    chat = Chat(reply('{"label": 1, "reason": "r"}'))
    assert judge(chat, "llm_gotchas_checker|require_non_empty=false", "").score == 1


@pytest.mark.parametrize(("label", "name"), [(1, "llm_gotchas_checker"), (0, "llm_abstention_checker")])
def test_the_verdict_is_the_score(label, name):
    said = reply(f'{{"label": {label}, "reason": "so"}}')
    assert judge(Chat(said), name, "an answer") == Judgement(
        label, label, "so", Status.OK, response_raw=said.text, replies=[said]
    )


def test_unreadable_replies_are_asked_again_with_the_same_messages():
    replies = [reply("hm"), reply("", Status.EMPTY_REPLY), reply('{"label": 1}')]
    judgement = judge(chat := Chat(*replies), "llm_gotchas_checker", "a", repeat=2)
    assert (judgement.score, judgement.status, judgement.replies) == (1, Status.OK, replies)
    assert [(role, repeat, ask) for role, _, repeat, ask in chat.calls] == [
        ("judge", 2, ask) for ask in range(3)
    ]
    assert chat.calls[0][1] == chat.calls[1][1] == chat.calls[2][1]


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        ([reply("hm"), reply('{"label": 2}')], Status.JUDGE_UNREADABLE),
        ([reply("", Status.REFUSAL), reply("", Status.CONTENT_FILTER)], Status.CONTENT_FILTER),
        ([reply("", Status.REFUSAL), reply("hm")], Status.JUDGE_UNREADABLE),
        # A verdict in a reply that failed, or in its reasoning, does not count.
        ([reply("hm"), reply('{"label": 1}', Status.LENGTH_NO_ANSWER)], Status.LENGTH_NO_ANSWER),
    ],
)
def test_without_a_verdict_the_status_says_why(replies, status):
    judgement = judge(Chat(*replies), "llm_abstention_checker", "a", attempts=2)
    assert (judgement.score, judgement.label, judgement.status) == (0, None, status)
    assert judgement.replies == replies and judgement.response_raw == replies[-1].text


def test_the_judge_sees_question_reference_response_and_answer():
    chat = Chat(reply('{"label": 1}'))
    response = "I pay ${amount} for \\boxed{$answer and {x}}"
    judge(
        chat,
        "llm_gotchas_checker",
        "$answer and {x}",
        question="How $much?",
        answer="$$5 {a}",
        response=response,
    )
    system, user = chat.calls[0][1]
    assert (system["role"], user["role"]) == ("system", "user")
    for tag, text in {
        "question": "How $much?",
        "reference": "$$5 {a}",
        "response": response,
        "answer": "$answer and {x}",
    }.items():
        assert f"<{tag}>\n{text}\n</{tag}>" in user["content"]


def test_each_kind_has_its_own_system_prompt():
    systems = {}
    for name in SYSTEM_PROMPTS:
        judge(chat := Chat(reply('{"label": 1}')), name, "a")
        systems[name] = chat.calls[0][1][0]["content"]
    abstention, gotchas = systems["llm_abstention_checker"], systems["llm_gotchas_checker"]
    # By these words the embedded judge tells them apart.
    assert "premise" in abstention and "insight" not in abstention
    assert "insight" in gotchas and "premise" not in gotchas
    assert '"label"' in abstention and '"label"' in gotchas


def test_an_unusable_reference_is_an_error():
    with pytest.raises(AnswerError, match="must be a string"):
        judge(Chat(), "norm_phrase_set_match", "5", answer=5)

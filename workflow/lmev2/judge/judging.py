"""One answer's score: by rule where a rule decides, else by asking the judge."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lmev2.boxed import is_unknown
from lmev2.eval_function import ABSTENTION, GOTCHAS, EvalFunction, parse_eval_function
from lmev2.judge.evaluators import score_deterministic
from lmev2.judge.verdict import parse_verdict
from lmev2.llm.reply import Reply, usage_columns
from lmev2.prompts import Prompts, fill
from lmev2.records import Status

# chat(role, messages, repeat=…, ask=…); `ask` tells the askings of one question apart in the journal.
Chat = Callable[..., Awaitable[Reply]]

SYSTEM_PROMPTS = {ABSTENTION: "judge_abstention.system", GOTCHAS: "judge_gotchas.system"}
USER_PROMPTS = {ABSTENTION: "judge_abstention.user", GOTCHAS: "judge_gotchas.user"}


@dataclass(frozen=True)
class Judgement:
    """The score of one answer and how it came about.

    `label` is the judge's verdict, None where no model judged or none was readable; `response_raw`
    is the judge's last reply; `replies` are all that were paid for, in order.
    """

    score: int
    label: int | None = None
    reason: str = ""
    status: Status = Status.OK
    response_raw: str = ""
    replies: list[Reply] = field(default_factory=list)


async def judge_answer(
    chat: Chat,
    function: EvalFunction,
    question: str,
    answer: str,
    prediction: str,
    response: str,
    prompts: Mapping[str, str],
    *,
    attempts: int = 3,
    repeat: int = 0,
) -> Judgement:
    """Score `prediction`, which was extracted from the reader's `response`, by the reference `answer`.

    UNKNOWN is wrong without further look, and for the judged evaluators a blank prediction is too,
    unless `require_non_empty` is off. Deterministic evaluators never call `chat`. The others ask it
    up to `attempts` times until a verdict can be read; `prompts` maps template names to texts
    (`SYSTEM_PROMPTS`, `USER_PROMPTS`). When no asking succeeds the score is 0 and the status is the
    last asking's: the reply's own, or `JUDGE_UNREADABLE`.

    Raises:
        AnswerError: the reference is not of a kind that the evaluator can use.
        PromptError: a template has an unknown placeholder.
        KeyError: a template is missing.
    """
    if is_unknown(prediction):
        return Judgement(0, reason="the answer is UNKNOWN")
    if not function.judged:
        return Judgement(int(score_deterministic(function, prediction, answer)))
    if function.require_non_empty and not prediction.strip():
        return Judgement(0, reason="the answer is blank")

    values = {"question": question, "reference": answer, "response": response, "answer": prediction}
    messages = [
        {"role": "system", "content": fill(prompts[SYSTEM_PROMPTS[function.name]], **values)},
        {"role": "user", "content": fill(prompts[USER_PROMPTS[function.name]], **values)},
    ]
    replies: list[Reply] = []
    for ask in range(attempts):
        reply = await chat("judge", messages, repeat=repeat, ask=ask)
        replies.append(reply)
        verdict = parse_verdict(reply.text) if reply.status == Status.OK else None
        if verdict is not None:
            return Judgement(
                verdict.label, verdict.label, verdict.reason, response_raw=reply.text, replies=replies
            )
    failure = Status.JUDGE_UNREADABLE if reply.status == Status.OK else reply.status
    return Judgement(0, status=failure, response_raw=reply.text, replies=replies)


async def judge_read(
    chat: Chat,
    question: Mapping[str, Any],
    read: Mapping[str, Any],
    prompts: Mapping[str, str],
    *,
    attempts: int,
) -> Judgement:
    """`judge_answer` for a row of the questions and a row of the read table."""
    return await judge_answer(
        chat,
        parse_eval_function(question["eval_function"]),
        question["text"],
        question["answer"],
        read["prediction"],
        read["response_raw"],
        prompts,
        attempts=attempts,
        repeat=read["repeat"],
    )


async def judge_row(
    chat: Chat, question: Mapping[str, Any], read: Mapping[str, Any], prompts: Prompts, *, attempts: int
) -> dict[str, Any]:
    """The columns of the judge table but for its key, for one row of the read table.

    An answer that was never given (the read row's status) is not judged: 0, with that status.
    """
    function = parse_eval_function(question["eval_function"])
    if read["status"] != Status.OK:
        judged = Judgement(0, status=Status(read["status"]))
    else:
        judged = await judge_read(chat, question, read, prompts, attempts=attempts)
    return {
        "status": str(judged.status),
        "error": read["error"],
        "evaluator": function.name,
        "score": judged.score,
        "label": judged.label,
        "reason": judged.reason,
        "response_raw": judged.response_raw,
        "prompt_sha256": prompts.sha256 if judged.replies else "",
        **usage_columns(judged.replies),
    }

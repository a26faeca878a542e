"""What the stand-in can do wrong, by name.

`HTTP_FAULTS` answer instead of the engine; `CHAT_FAULTS` and `EMBEDDING_FAULTS` change its good answer.
A name may carry a number after a colon: `retry_after:2`, `status:418`, `sleep:3`.
"""

import asyncio
import json
import math
from collections.abc import Callable
from email.utils import formatdate
from time import time
from typing import Any

from aiohttp import web

Payload = dict[str, Any]


def error(status: int, message: str, code: str | None = None, headers: dict | None = None) -> web.Response:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return web.json_response(body, status=status, headers=headers)


async def _status(request: web.Request, number: float) -> web.StreamResponse:
    return error(int(number), f"the stand-in was told to answer {number:g}")


async def _retry_after(request: web.Request, number: float) -> web.StreamResponse:
    return error(429, "slow down", headers={"Retry-After": f"{number:g}"})


async def _retry_after_date(request: web.Request, number: float) -> web.StreamResponse:
    return error(503, "busy", headers={"Retry-After": formatdate(time() + number, usegmt=True)})


async def _reset(request: web.Request, number: float) -> web.StreamResponse:
    request.transport.abort()
    return web.Response()


async def _torn(request: web.Request, number: float) -> web.StreamResponse:
    """Promise a long body, send a bit of it, hang up."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    request.transport.close()
    return response


async def _sleep(request: web.Request, number: float) -> web.StreamResponse:
    await asyncio.sleep(number)
    return error(500, "too late")


async def _html(request: web.Request, number: float) -> web.StreamResponse:
    return web.Response(text="<html>Bad gateway</html>", content_type="text/html")


async def _error_body(request: web.Request, number: float) -> web.StreamResponse:
    return web.json_response({"error": {"message": "upstream is overloaded", "code": 502}})


async def _no_choices(request: web.Request, number: float) -> web.StreamResponse:
    return web.json_response({"object": "chat.completion", "choices": [], "data": []})


async def _no_money(request: web.Request, number: float) -> web.StreamResponse:
    return error(429, "You exceeded your current quota", "insufficient_quota")


async def _filtered(request: web.Request, number: float) -> web.StreamResponse:
    return error(400, "The response was filtered due to the content policy", "content_filter")


async def _overlong(request: web.Request, number: float) -> web.StreamResponse:
    limit = int(number) or 100
    return error(
        400, f"This model's maximum context length is {limit} tokens. However, you requested {4 * limit}"
    )


async def _echo_key(request: web.Request, number: float) -> web.StreamResponse:
    """Repeat the key, as careless servers do."""
    key = request.headers.get("Authorization", "")
    return error(int(number) or 500, f"cannot take {key} ({json.dumps({'headers': dict(request.headers)})})")


HTTP_FAULTS: dict[str, Callable] = {
    "status": _status,
    "retry_after": _retry_after,
    "retry_after_date": _retry_after_date,
    "reset": _reset,
    "torn": _torn,
    "sleep": _sleep,
    "html": _html,
    "error_body": _error_body,
    "no_choices": _no_choices,
    "no_money": _no_money,
    "filtered": _filtered,
    "overlong": _overlong,
    "echo_key": _echo_key,
}


def said(payload: Payload, finish: str = "stop", **message: Any) -> Payload:
    """A chat answer with another message."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": None, **message},
    }
    return {**payload, "choices": [choice]}


def _content(payload: Payload) -> str:
    return payload["choices"][0]["message"]["content"]


CHAT_FAULTS: dict[str, Callable[[Payload], Payload]] = {
    "null_content": lambda payload: said(payload, reasoning="It may be \\boxed{A}."),
    "null_content_old": lambda payload: said(payload, reasoning_content="It may be \\boxed{A}."),
    "thinking_cut": lambda payload: said(payload, "length", content="<think>It may be \\boxed{A}."),
    "length": lambda payload: said(payload, "length", content="I begin to ans"),
    "length_boxed": lambda payload: said(payload, "length", content=f"{_content(payload)} And"),
    "empty": lambda payload: said(payload, content=""),
    "content_filter": lambda payload: said(payload, "content_filter", content="I"),
    "refusal": lambda payload: said(payload, refusal="I cannot help with that."),
    "no_usage": lambda payload: {key: value for key, value in payload.items() if key != "usage"},
    "null_usage": lambda payload: {**payload, "usage": None},
    "think_tags": lambda payload: said(payload, content=f"<think>\\boxed{{no}}</think>\n{_content(payload)}"),
    "parts": lambda payload: said(payload, content=[{"type": "text", "text": _content(payload)}]),
    "fenced": lambda payload: said(payload, content=f"```json\n{_content(payload)}\n```\nThat is all."),
    "surrogate": lambda payload: said(payload, content=f"{_content(payload)}\ud83d"),
}


def _with_vectors(payload: Payload, change: Callable[[list[Payload]], list[Payload]]) -> Payload:
    return {**payload, "data": change(payload["data"])}


def _first(change: Callable[[list[float]], Any]) -> Callable[[Payload], Payload]:
    return lambda payload: _with_vectors(
        payload, lambda data: [{**data[0], "embedding": change(data[0]["embedding"])}, *data[1:]]
    )


EMBEDDING_FAULTS: dict[str, Callable[[Payload], Payload]] = {
    "shuffled": lambda payload: _with_vectors(payload, lambda data: [*data[2:], *data[:2]]),
    "no_indexes": lambda payload: _with_vectors(
        payload, lambda data: [{"embedding": e["embedding"]} for e in data]
    ),
    "same_indexes": lambda payload: _with_vectors(payload, lambda data: [{**e, "index": 0} for e in data]),
    "too_few": lambda payload: _with_vectors(payload, lambda data: data[:-1]),
    "null_value": _first(lambda vector: [None, *vector[1:]]),
    "null_vector": _first(lambda vector: None),
    "nan": _first(lambda vector: [math.nan, *vector[1:]]),
    "zero": _first(lambda vector: [0.0] * len(vector)),
    "other_dimension": _first(lambda vector: vector[:-1]),
    "all_other_dimension": lambda payload: _with_vectors(
        payload, lambda data: [{**e, "embedding": e["embedding"][:128]} for e in data]
    ),
    "unnormalised": lambda payload: _with_vectors(
        payload, lambda data: [{**e, "embedding": [3 * value for value in e["embedding"]]} for e in data]
    ),
    "no_usage": lambda payload: {key: value for key, value in payload.items() if key != "usage"},
}

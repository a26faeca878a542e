"""The stand-in's three routes, its script of faults, and what it counts.

Faults are told by `misbehave`, in the process, over HTTP (`POST /script`) or on the command line
(`--fault '{"fault": "status:500", "times": 2, "path": "chat", "containing": "some text"}'`).
The fault `say:<text>` puts a text of its own in place of the chat engine's.
"""

import asyncio
import base64
import hashlib
import json
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from lmev2.llm.embedded import provider
from lmev2.tokens import approximate_tokens
from server.faults import CHAT_FAULTS, EMBEDDING_FAULTS, HTTP_FAULTS, error, said

NO_LIMIT = 10**9


@dataclass
class Rule:
    """Misbehave at requests to `path` whose body contains a text, at most `times` times."""

    fault: str
    times: int | None
    path: str
    containing: str

    def takes(self, path: str, body: str) -> bool:
        return self.times != 0 and path.startswith(self.path) and self.containing in body


@dataclass
class Mixture:
    """Misbehave at random, by each request's content and the seed: not by the order."""

    seed: int
    share: float
    in_a_row: int
    faults: Sequence[str]

    def fault(self, path: str, content: str, attempt: int) -> str | None:
        draw = random.Random(f"{self.seed} {content} {attempt}")
        if attempt >= self.in_a_row or draw.random() >= self.share:
            return None
        known = CHAT_FAULTS if path == "chat" else EMBEDDING_FAULTS
        return draw.choice([fault for fault in self.faults if fault.split(":")[0] in {*HTTP_FAULTS, *known}])


@dataclass
class StandIn:
    """The server.

    `received` counts requests by content, `answered` those that got a good answer, `texts` the texts that
    got a vector. Contents are sha256 of (path, body); `bodies` has the bodies themselves, in order.
    """

    key: str | None = None
    context_length: int | None = None
    max_input_tokens: int | None = None
    cut_at_tokens: int | None = None
    max_batch: int | None = None
    delay_s: float = 0.0
    think_in: str = "reasoning"
    blind: bool = False
    rules: list[Rule] = field(default_factory=list)
    mixture: Mixture | None = None
    received: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    bodies: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    connections: set[Any] = field(default_factory=set)
    _attempts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def misbehave(
        self, fault: str, *, times: int | None = 1, path: str = "", containing: str = ""
    ) -> "StandIn":
        """Misbehave at the next requests that fit; `times` None: for good. Rules are taken in order."""
        self.rules.append(Rule(fault, times, path, containing))
        return self

    def behave(self) -> None:
        """Forget all faults that are still to come."""
        self.rules.clear()
        self.mixture = None

    @property
    def repeated(self) -> list[str]:
        """Contents that got a good answer more than once, and texts that got more than one vector."""
        return [key for counts in (self.answered, self.texts) for key, count in counts.items() if count > 1]

    def app(self) -> web.Application:
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/chat/completions", self._chat_route)
        app.router.add_post("/v1/embeddings", self._embedding_route)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/script", self._script)
        app.router.add_get("/counts", self._counts)
        return app

    # -- routes ------------------------------------------------------------------------------------

    async def _models(self, request: web.Request) -> web.Response:
        if refused := self._refused(request):
            return refused
        length = self.context_length or self.max_input_tokens
        data = [
            {"id": name, "object": "model", **({"max_model_len": length} if length else {})}
            for name in provider.ENGINES
        ]
        return web.json_response({"object": "list", "data": data})

    async def _script(self, request: web.Request) -> web.Response:
        told = await request.json()
        if told.pop("behave", False):
            self.behave()
        if "fault" in told:
            self.misbehave(**told)
        return web.json_response({"rules": len(self.rules)})

    async def _counts(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "received": self.received,
                "answered": self.answered,
                "texts": self.texts,
                "repeated": self.repeated,
            }
        )

    async def _chat_route(self, request: web.Request) -> web.StreamResponse:
        return await self._handle(request, "chat")

    async def _embedding_route(self, request: web.Request) -> web.StreamResponse:
        return await self._handle(request, "embeddings")

    async def _handle(self, request: web.Request, path: str) -> web.StreamResponse:
        raw = await request.text()
        content = hashlib.sha256(f"{path}\n{raw}".encode()).hexdigest()
        self.received[content] += 1
        self.bodies.append((path, json.loads(raw)))
        self.headers.append(dict(request.headers))
        self.connections.add(request.transport)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._answer(request, path, raw, content)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.Request, path: str, raw: str, content: str) -> web.StreamResponse:
        if refused := self._refused(request):
            return refused
        name, _, number = (self._fault(path, raw, content) or "").partition(":")
        if name == "say":
            return web.json_response(said(self._chat(json.loads(raw)), content=number))
        if name in HTTP_FAULTS:
            return await HTTP_FAULTS[name](request, float(number or 0))
        await asyncio.sleep(self.delay_s)
        body = json.loads(raw)
        answer = self._chat(body) if path == "chat" else self._embed(body)
        if isinstance(answer, web.Response):
            return answer
        change = (CHAT_FAULTS if path == "chat" else EMBEDDING_FAULTS)[name] if name else None
        if not change or name in GOOD:
            self.answered[content] += 1
            if path == "embeddings":
                self.texts.update(body["input"])
        # NaN is no JSON, yet servers send it.
        return web.Response(
            text=json.dumps(change(answer) if change else answer), content_type="application/json"
        )

    def _refused(self, request: web.Request) -> web.Response | None:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return error(401, "Incorrect API key provided", "invalid_api_key")
        return None

    def _fault(self, path: str, raw: str, content: str) -> str | None:
        for rule in self.rules:
            if rule.takes(path, raw):
                rule.times = rule.times - 1 if rule.times else rule.times
                return rule.fault
        if self.mixture:
            attempt = self._attempts[content]
            self._attempts[content] += 1
            return self.mixture.fault(path, content, attempt)
        return None

    # -- engines -----------------------------------------------------------------------------------

    def _chat(self, body: dict[str, Any]) -> dict[str, Any] | web.Response:
        if body["model"] not in provider.ENGINES:
            return error(404, f"The model `{body['model']}` does not exist.", "model_not_found")
        messages = [_plain(message) for message in body["messages"]]
        if self.blind and any(part["type"] == "image" for message in messages for part in message["content"]):
            return error(400, "extractive is not a multimodal model")
        raw = provider.chat(messages)
        if self.context_length and raw["input_tokens"] > self.context_length:
            return error(
                400,
                f"This model's maximum context length is {self.context_length} tokens. However, your request "
                f"has {raw['input_tokens']} input tokens. Please reduce the length of the input messages.",
            )
        message = {"role": "assistant", "content": raw["text"]}
        if body.get("chat_template_kwargs", {}).get("enable_thinking"):
            thought = "I look at what is given, perhaps \\boxed{thought}."
            if self.think_in == "content":
                message["content"] = f"<think>{thought}</think>\n{raw['text']}"
            else:
                message[self.think_in] = thought
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": raw["input_tokens"], "completion_tokens": raw["output_tokens"]},
        }

    def _embed(self, body: dict[str, Any]) -> dict[str, Any] | web.Response:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if body["model"] not in provider.ENGINES:
            return error(404, f"The model `{body['model']}` does not exist.", "model_not_found")
        if len(texts) > (self.max_batch or NO_LIMIT):
            return error(413, f"batch size {len(texts)} > maximum allowed batch size {self.max_batch}")
        longest = max(approximate_tokens(len(text)) for text in texts)
        if longest > (self.max_input_tokens or NO_LIMIT):
            return error(
                400,
                f"This model's maximum context length is {self.max_input_tokens} tokens. However, you "
                f"requested {longest} tokens in the input for embedding generation. Please reduce it.",
            )
        if self.cut_at_tokens:
            texts = [text[: self.cut_at_tokens * 3] for text in texts]
        tokens = sum(approximate_tokens(len(text)) for text in texts)
        return {
            "object": "list",
            "model": body["model"],
            "data": [
                {"object": "embedding", "index": index, "embedding": vector}
                for index, vector in enumerate(provider.embed(texts).tolist())
            ],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }


# Changes of an answer that leave it of use.
GOOD = frozenset(
    {
        *("no_usage", "null_usage", "think_tags", "parts", "fenced", "surrogate"),
        *("shuffled", "no_indexes", "unnormalised", "length_boxed"),
    }
)


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message as the engines take it; pictures must be readable data URLs."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts = []
    for part in content:
        if part["type"] == "image_url":
            head, _, data = part["image_url"]["url"].partition(",")
            kind = head.removeprefix("data:image/").removesuffix(";base64")
            assert kind in ("png", "jpeg") and base64.b64decode(data, validate=True)
            parts.append({"type": "image"})
        else:
            parts.append(part)
    return {"role": message["role"], "content": parts}


@contextmanager
def serving(stand_in: StandIn) -> Iterator[str]:
    """Serve in a thread; gives the base URL."""
    loop, ready, address = asyncio.new_event_loop(), threading.Event(), []

    async def start() -> web.AppRunner:
        runner = web.AppRunner(stand_in.app(), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        address.append(site._server.sockets[0].getsockname()[1])
        return runner

    def run() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{address[0]}/v1"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

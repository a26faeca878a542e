"""Does every configured model answer as the pipeline needs it? A few tiny calls, nothing recorded.

For each role behind a server: reachable, the served names and context length, a first answer, the
thinking switch, pictures, the embedding's dimension, and whether long texts are read to their end.
"""

import hashlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image as Picture

from lmev2.image import Image
from lmev2.llm.address import located
from lmev2.llm.engine import Answer
from lmev2.llm.faults import EndpointError, ModelError, OverlongError, RejectedError, TransientError
from lmev2.llm.models import Model, model_of, roles_of
from lmev2.llm.remote import Remote
from lmev2.records import Status
from lmev2.tokens import CHARS_PER_TOKEN

# Enough for a model that thinks a little before it says one word.
TINY_TOKENS = 512
QUESTION = "Reply with the single word: ready"
SEES_PICTURES = ("reader", "controller")
# What the prompt around a context may take.
PROMPT_TOKENS = 2_000
# Two vectors that are nearer than this times the server's own noise are of the same text.
NOISE_FACTOR = 3.0
LEAST_DISTANCE = 1e-6
SHARED = 0.9  # of the two long texts of the truncation probe
PROBES = (256, 512, 1024, 2048, 4096, 8192, 16384)


@dataclass(frozen=True)
class Finding:
    """One line of the check: passed, or what to do."""

    role: str
    passed: bool
    text: str

    def __str__(self) -> str:
        return f"{self.role:<13}{'pass' if self.passed else 'FAIL'}  {self.text}"


async def check_endpoints(config: Mapping[str, Any], say: Callable[[Finding], None]) -> list[Finding]:
    """Check all roles of the resolved config; `say` gets each finding as soon as it is there."""
    findings = []
    for role in roles_of(config):
        async for finding in _check(model_of(role, config), config):
            findings.append(finding)
            say(finding)
    return findings


async def _check(model: Model, config: Mapping[str, Any]) -> AsyncIterator[Finding]:
    def finding(passed: bool, text: str) -> Finding:
        return Finding(model.role, passed, text)

    if model.provider == "embedded":
        yield finding(True, f"{model.name} is embedded: it runs here and needs no server")
        return
    try:
        server = Remote(located(model, patience_s=0))
    except EndpointError as error:
        yield finding(False, str(error))
        return
    try:
        passed, text, length = await _served(server)
        yield finding(passed, text)
        if not passed:
            return
        if length:
            yield finding(*_fits(model, config, length))
        checks = (
            _embedding(server, config["insert"]["embedding"]["max_tokens"])
            if model.role == "embedding"
            else _chat(server)
        )
        async for passed, text in checks:
            yield finding(passed, text)
    except ModelError as error:
        yield finding(False, str(error))
    finally:
        await server.close()


Outcome = tuple[bool, str]


async def _served(server: Remote) -> tuple[bool, str, int | None]:
    """Whether the server is there and lists the model; the context length if it tells."""
    model = server.model
    try:
        listed = await server.list_models()
    except TransientError as error:
        return False, f"{error}. Is the server started, and is base_url right? See docs/models.md", None
    except EndpointError as error:
        if " 404: " in str(error):  # some gateways have no list of models
            return True, f"reachable: {model.endpoint}; it does not list its models", None
        raise
    names = {str(entry.get("id")): entry for entry in listed}
    if names and model.model not in names:
        shown = ", ".join(sorted(names)[:10])
        return (
            False,
            f"{model.endpoint} does not list {model.model}; set models.{model.role}.model to one of: {shown}",
            None,
        )
    length = names.get(model.model, {}).get("max_model_len")
    tells = f", {length:,} tokens" if length else "; it does not tell its context length"
    return True, f"reachable: {model.endpoint} serves {model.model}{tells}", length


def _fits(model: Model, config: Mapping[str, Any], length: int) -> Outcome:
    """Whether the largest request of the role fits the served context length."""
    if model.role == "embedding":
        needed, keys = config["insert"]["embedding"]["max_tokens"], "insert.embedding.max_tokens"
    else:
        output = model.sampling.get("max_tokens", 0)
        needed, keys = output + PROMPT_TOKENS, f"models.{model.role}.sampling.max_tokens"
        if model.role == "reader":
            needed, keys = needed + config["read"]["context_tokens"], f"read.context_tokens and {keys}"
    if needed <= length:
        return True, f"context length: {length:,} tokens, the config needs {needed:,}"
    return False, (
        f"context length: {length:,} tokens are served, the config needs {needed:,}: serve more "
        f"(vLLM --max-model-len, llama.cpp -c), or lower {keys}"
    )


async def _chat(server: Remote) -> AsyncIterator[Outcome]:
    model = server.model
    began = time.perf_counter()
    answer = await _ask(server, {})
    seconds = time.perf_counter() - began
    if answer.status in (Status.OK, Status.LENGTH_NO_ANSWER):
        yield True, f"answers: {_said(answer)} ({answer.output_tokens} tokens, {seconds:.1f} s)"
    else:
        yield (
            False,
            (
                f"answers with the status {answer.status} {answer.error!r}: look at the server's log, or try "
                "the same request by hand"
            ),
        )
    if "thinking" in model.sampling:
        off = await _ask(server, {"thinking": False})
        yield (
            (not off.reasoning),
            (
                "thinking off is obeyed"
                if not off.reasoning
                else "thinking off is not obeyed: the served chat template has no enable_thinking; serve a "
                f"model that has the switch, or take `thinking` out of models.{model.role}.sampling"
            ),
        )
        on = await _ask(server, {"thinking": True})
        yield (
            bool(on.reasoning),
            (
                "thinking on is obeyed"
                if on.reasoning
                else "thinking on brings no reasoning: start the server with its reasoning parser (vLLM "
                "--reasoning-parser, llama.cpp --reasoning-format), or take `thinking` out of "
                f"models.{model.role}.sampling"
            ),
        )
    if model.role in SEES_PICTURES:
        yield await _picture(server)


async def _ask(server: Remote, sampling: Mapping[str, Any], *parts: Mapping[str, Any]) -> Answer:
    most = min(server.model.sampling.get("max_tokens", TINY_TOKENS), TINY_TOKENS)
    content = [{"type": "text", "text": QUESTION}, *parts]
    messages = [{"role": "user", "content": content if parts else QUESTION}]
    return await server.chat(messages, {**server.model.sampling, **sampling, "max_tokens": most}, 0)


async def _picture(server: Remote) -> Outcome:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "probe.png"
        Picture.new("RGB", (64, 64), (200, 30, 30)).save(path)
        part = Image(path, hashlib.sha256(path.read_bytes()).hexdigest(), 64, 64).part()
        try:
            answer = await _ask(server, {}, part)
        except RejectedError as error:
            return False, (
                f"pictures are refused: {error}. Serve a model that sees (llama.cpp also needs its "
                "--mmproj), or use a dataset without screenshots"
            )
    if answer.status in (Status.OK, Status.LENGTH_NO_ANSWER):
        return True, "pictures are accepted"
    return False, f"a request with a picture ends with the status {answer.status}: {answer.error}"


async def _embedding(server: Remote, max_tokens: int) -> AsyncIterator[Outcome]:
    began = time.perf_counter()
    vector = (await server.embed(["ready"]))[0]
    yield True, f"embeds: {len(vector.values)} dimensions ({time.perf_counter() - began:.1f} s)"
    outcome = await _long_text(server, max_tokens)
    if outcome == "read":
        yield True, f"long texts are read: two of {max_tokens:,} tokens that differ at their end differ"
        return
    limit = max_tokens
    for length in (length for length in PROBES if length < max_tokens):
        if await _long_text(server, length) != "read":
            limit = length
            break
    found = {
        "cut": f"long texts are cut in silence: two of about {limit:,} tokens that differ in the last tenth "
        "get the same vector",
        "refused": f"long texts are refused, from about {limit:,} tokens on; their ends would be cut off",
    }
    yield (
        False,
        f"{found[outcome]}. Serve a longer input (vLLM --max-model-len, llama.cpp -c and -ub, TEI without "
        f"--auto-truncate), or set insert.embedding.max_tokens below {limit:,}",
    )


async def _long_text(server: Remote, tokens: int) -> str:
    """Whether the last tenth of a text of `tokens` tokens is in its vector: "read", "cut" or "refused"."""
    start, tails = _long_texts(tokens * CHARS_PER_TOKEN)
    try:
        one, other, again = await server.embed([start + tail for tail in (*tails, tails[0])])
    except OverlongError:
        return "refused"
    noise = _distance(one.values, again.values)
    differ = _distance(one.values, other.values) > max(LEAST_DISTANCE, NOISE_FACTOR * noise)
    return "read" if differ else "cut"


def _long_texts(chars: int) -> tuple[str, tuple[str, str]]:
    """A start and two ends of it, together `chars` characters that look like an accessibility tree."""
    shared = int(chars * SHARED)
    start = "".join(f"[{n}] link 'Order {n * 37 % 1000} of the shop'\n" for n in range(shared // 20))[:shared]
    tails = (
        "heading 'Delivery by ship to the northern islands'\n",
        "textbox 'Password of the new colleague', required\n",
    )
    rest = chars - shared
    return start, tuple((tail * (rest // len(tail) + 1))[:rest] for tail in tails)


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(1.0 - np.dot(one.astype(np.float64), other.astype(np.float64)))


def _said(answer: Answer) -> str:
    if answer.text.strip():
        return repr(answer.text.strip()[:40])
    return "still thinking after the tiny number of tokens that it was given"

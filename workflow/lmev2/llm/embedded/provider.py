"""The embedded engines behind the same face as a remote model: no network, no key, same answer always."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lmev2.provenance import code_digest
from lmev2.tokens import approximate_tokens

FOLDER = Path(__file__).parent
# model name -> (roles that it can play, module that makes it; its code digest is the model's version)
ENGINES = {
    "extractive": (("reader", "controller", "judge", "second_judge"), "chat.py"),
    "wordllama-256": (("embedding",), "embedder.py"),
}


@cache
def version(role: str, model: str) -> str:
    """Code digest of the engine `model`, so that an edited engine is another model.

    Raises:
        ValueError: there is no such engine, or it cannot play `role`.
    """
    fitting = [name for name, (roles, _) in ENGINES.items() if role in roles]
    if model not in fitting:
        raise ValueError(
            f"models.{role}.model: no embedded engine {model!r} for this role; there is {', '.join(fitting)}"
        )
    return code_digest(FOLDER / ENGINES[model][1])


def chat(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Answer `messages` (OpenAI style) and count tokens approximately; images are not seen."""
    from lmev2.llm.embedded import chat as engine

    text = engine.complete(list(messages))
    return {
        "text": text,
        "reasoning": "",
        "finish_reason": "stop",
        "input_tokens": approximate_tokens(sum(len(part) for part in _texts(messages))),
        "output_tokens": approximate_tokens(len(text)),
    }


def embed(texts: Sequence[str]) -> np.ndarray:
    """Embed `texts` as a float32 array [n, 256] of unit rows; a text without known words gives a zero row."""
    return _embedder().encode(texts)


@cache
def _embedder() -> Any:
    from lmev2.llm.embedded.embedder import StaticEmbedder

    return StaticEmbedder()


def _texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = []
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts += [part["text"] for part in parts if part["type"] == "text"]
    return texts

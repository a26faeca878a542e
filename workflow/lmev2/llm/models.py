"""A model role of the config, split into what changes results and what does not."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from lmev2.llm.embedded import provider as embedded

ROLES = ("reader", "controller", "embedding", "judge")
SECOND_JUDGE = "second_judge"  # may be missing from a config
OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Model:
    """One role's model.

    `identity` is all that a result depends on and enters params, request keys and meta files.
    `limits` (concurrency, time-outs, attempts, ...) and the endpoint never change a result.
    """

    role: str
    provider: str
    model: str
    version: str  # of an embedded engine: its code digest; "" for remote models
    sampling: Mapping[str, Any]
    limits: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    api_key_env: str | None = None
    prices: Mapping[str, float] = field(default_factory=dict)  # {"input", "output"} a million tokens

    @property
    def name(self) -> str:
        """The model as tables and figures name it; an embedded engine says that it is one."""
        return f"{self.provider}:{self.model}" if self.provider == "embedded" else self.model

    @property
    def key(self) -> str | None:
        """The key for the endpoint, read from the environment only; never kept, never in an error."""
        return os.environ.get(self.api_key_env) or None if self.api_key_env else None

    @property
    def is_openai(self) -> bool:
        """Whether the server is OpenAI's own."""
        return urlsplit(self.base_url or OPENAI).hostname == urlsplit(OPENAI).hostname

    @property
    def endpoint(self) -> str:
        """The server's address without credentials and query, for errors."""
        parts = urlsplit(self.base_url or OPENAI)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def place(self) -> str:
        """Role, model and endpoint, for errors."""
        return f"models.{self.role} ({self.model} at {self.endpoint})"

    def cost(self, input_tokens: float, output_tokens: float = 0) -> float:
        """What some tokens cost, in the currency of the config's prices, which are for a million tokens."""
        prices = self.prices
        return (input_tokens * prices.get("input", 0.0) + output_tokens * prices.get("output", 0.0)) / 1e6

    def redacted(self, text: str) -> str:
        """`text` without the key, should a server repeat it."""
        return text.replace(self.key, "[key]") if self.key else text

    def identity(self) -> dict[str, Any]:
        """What a result of this model depends on."""
        identity = {"provider": self.provider, "model": self.model, "sampling": dict(self.sampling)}
        return {**identity, "version": self.version} if self.version else identity


def roles_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The model roles of the resolved config, without the agent."""
    return (*ROLES, SECOND_JUDGE) if SECOND_JUDGE in config["models"] else ROLES


def model_of(role: str, config: Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> Model:
    """The model of `role` from the config's `models` and `prices` sections.

    Args:
        role: one of `roles_of(config)`.
        config: the resolved config.
        overrides: sampling values of a method's operating point, which win.
    """
    section = config["models"][role]
    return Model(
        role=role,
        provider=section["provider"],
        model=section["model"],
        version=embedded.version(role, section["model"]) if section["provider"] == "embedded" else "",
        sampling={**section["sampling"], **(overrides or {})},
        limits=section["limits"],
        base_url=section["base_url"],
        api_key_env=section["api_key_env"],
        prices=config["prices"].get(section["model"], {}),
    )

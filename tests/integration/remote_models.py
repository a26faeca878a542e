"""Models on the stand-in, for tests of the door."""

from server import StandIn

from lmev2.llm.models import Model

LIMITS = {
    "concurrency": 8,
    "requests_per_minute": None,
    "tokens_per_minute": None,
    "connect_timeout_s": 2.0,
    "read_timeout_s": 1.0,
    "attempts": 4,
    "backoff_s": 0.01,
    "answer_attempts": 2,
    "batch": 8,
}
NAMES = {"embedding": "wordllama-256"}


def model(role: str, url: str, *, sampling=None, key_env=None, **limits) -> Model:
    return Model(
        role=role,
        provider="openai",
        model=NAMES.get(role, "extractive"),
        version="",
        sampling=sampling or {},
        limits={**LIMITS, **limits},
        base_url=url,
        api_key_env=key_env,
        prices={"input": 2.0, "output": 10.0},
    )


def ask(text: str = "what") -> list[dict]:
    return [{"role": "user", "content": text}]


def sent(stand_in: StandIn, path: str) -> list[dict]:
    return [body for at, body in stand_in.bodies if at == path]

"""What can go wrong between us and a model's server, and what follows from it.

Nothing here is ever journaled. An `ItemError` concerns one request: the other items of the job go on and
are kept, then the job fails. An `EndpointError` concerns them all: the job stops at once.

| the server says | becomes |
|---|---|
| 408, 409, 425, 429, 5xx; no connection, time-out; 200 with an error or nonsense | `TransientError` |
| too long for the model (400, 413, 422; llama.cpp also 500) | `OverlongError` |
| refused by a content filter (400) | `FilteredError` |
| 401, 403, 404, no money left | `EndpointError` |
| any other 4xx | `RejectedError` |
"""

import re
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

from lmev2.errors import UserError

if TYPE_CHECKING:
    import openai

    from lmev2.llm.models import Model

RETRIED = frozenset({408, 409, 425, 429})
NOTHING_SAID = "no message"


class ModelError(UserError):
    """A model call came to nothing."""


class ItemError(ModelError):
    """It came to nothing for this request; others may do better."""


class TransientError(ItemError):
    """It may come to something if it is asked again, after `retry_after` seconds if the server says so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RejectedError(ItemError):
    """The server will not have this request, however often it is asked."""


class OverlongError(RejectedError):
    """The request does not fit the model; the text is what the server said."""


class FilteredError(RejectedError):
    """A content filter refused the request; the text is what the server said."""


class EmbeddingError(ItemError):
    """A model returned a vector that must not be ranked."""


class EndpointError(ModelError):
    """No request of this role can succeed before the user does something."""


def fault_of(error: "openai.APIError", model: "Model") -> ModelError:
    """What `error` of the client means; the message holds no key."""
    import openai

    said = shortened(model.redacted(_said(error)))
    if isinstance(error, openai.APIStatusError):
        return fault_of_status(error.status_code, said, error.code, error.response.headers, model)
    cause = error.__cause__ or error
    kind = "no answer in time" if isinstance(error, openai.APITimeoutError) else "no connection"
    return TransientError(
        f"{model.place}: {kind} ({type(cause).__name__}: {shortened(model.redacted(str(cause)))})"
    )


def fault_of_status(status: int, said: str, code: str | None, headers: Any, model: "Model") -> ModelError:
    """What an answer with an error status means.

    Args:
        status: HTTP status.
        said: the server's own words.
        code: the `code` of an OpenAI error body.
        headers: of the answer.
        model: who was asked.
    """
    words = f"{model.place} answers {status}: {said}"
    if code == "context_length_exceeded" or (status in (400, 413, 422, 500) and is_overlong(said)):
        return OverlongError(said)
    if code == "insufficient_quota":
        return EndpointError(f"{words}. The account has no money left: pay, then run again")
    if status in RETRIED or status >= 500:
        return TransientError(words, retry_after(headers))
    if remedy := _remedies(model).get(status):
        return EndpointError(f"{words}. {remedy}")
    if code in ("content_filter", "content_policy_violation"):
        return FilteredError(said)
    return RejectedError(f"{words}. Asking again cannot help: see the server's own log and docs/models.md")


def _remedies(model: "Model") -> dict[int, str]:
    key = model.api_key_env
    section = f"models.{model.role}"
    return {
        401: f"Put a valid key in the environment variable {key}, then run again"
        if key
        else f"The server wants a key: name its environment variable in {section}.api_key_env",
        403: f"The key in {key or 'api_key_env'} may not use this model: see its rights, or change "
        f"{section}.model",
        404: f"Check {section}.base_url (it usually ends in /v1) and {section}.model (/models has the names)",
    }


def _said(error: "openai.APIError") -> str:
    """The server's words, without the client's wrapping."""
    body = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body.get("error") or body
    return str(body or error.message)


def shortened(words: object) -> str:
    """`words` as one line of at most 500 characters."""
    text = " ".join(str(words).split()) or NOTHING_SAID
    return text if len(text) <= 500 else f"{text[:500]}…"


# The ways in which vLLM, SGLang, llama.cpp, Ollama, TEI, OpenAI and gateways say that a request is too long.
# A number of completion tokens that is too large by itself is a fault of the config and not among them.
_OVERLONG = re.compile(
    r"context[ _-]?(?:length|size|window|limit)|n_ctx|max_model_len|"
    r"(?:prompt|input|inputs|text|request)`? (?:is|are) (?:too|longer)|too large to process|"
    r"(?:input|prompt|sequence)\b[^.:]{0,40} (?:longer|exceeds?|too long)|must have less than \d+ tokens|"
    r"reduce the length",
    re.IGNORECASE,
)


def is_overlong(said: str) -> bool:
    """Whether a server's words say that the request has too many tokens."""
    return bool(_OVERLONG.search(said))


def share_that_fits(said: str) -> float:
    """How much of a request would fit, from the server's words on it; a half if it gives no numbers."""
    numbers = [int(number) for number in re.findall(r"\b\d{3,}\b", said.replace(",", ""))][:2]
    if len(set(numbers)) < 2:
        return 0.5
    # The limit and the length, in either order; a little less, as text is not evenly dense in tokens.
    return 0.95 * min(numbers) / max(numbers)


def retry_after(headers: Any) -> float | None:
    """Seconds that the server asks to wait: `Retry-After` as a number or as a date, or `retry-after-ms`."""
    if (value := headers.get("retry-after-ms")) and (seconds := _number(value)) is not None:
        return seconds / 1000
    value = headers.get("retry-after")
    if not value:
        return None
    if (seconds := _number(value)) is not None:
        return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

"""What a model said, and what it cost."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lmev2.records import Status


@dataclass(frozen=True)
class Reply:
    """One finished chat call as it is journaled: the raw text, the outcome, the usage.

    `latency_s` is the time of the attempt that succeeded; waiting for a free slot and for rate limits
    (`queue_wait_s`), and the attempts that failed with the pauses after them (`retry_wait_s`), are booked
    apart. Times are of the call as it was first made; a replay keeps them. Tokens and cost are those of all
    attempts that the server answered. `error` has the server's words where it gave no text.
    """

    text: str
    reasoning: str
    finish_reason: str
    status: Status
    model: str
    request: str
    calls: int
    attempts: int
    input_tokens: int
    output_tokens: int
    cost: float
    latency_s: float
    queue_wait_s: float
    retry_wait_s: float
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the journal."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> "Reply":
        """The reply that `to_dict` wrote."""
        return cls(**{**value, "status": Status(value["status"])})


def usage_columns(replies: Iterable[Reply]) -> dict[str, Any]:
    """Sum the replies behind one row into its usage columns (`records._usage`).

    `model` and `request` are those of the last reply, empty strings when no model was asked.
    """
    replies = list(replies)
    last = replies[-1] if replies else None
    return {
        "model": last.model if last else "",
        "request": last.request if last else "",
        **{name: sum(getattr(reply, name) for reply in replies) for name in ("calls", "attempts")},
        **{
            name: sum(getattr(reply, name) for reply in replies) for name in ("input_tokens", "output_tokens")
        },
        **{
            name: float(sum(getattr(reply, name) for reply in replies))
            for name in ("cost", "latency_s", "queue_wait_s", "retry_wait_s")
        },
    }

"""The lines of an estimate."""

from collections.abc import Sequence
from dataclasses import dataclass

from lmev2.llm.models import Model
from lmev2.money.dry import Book, Place
from lmev2.money.outputs import Outputs


@dataclass(frozen=True)
class Line:
    """One line of the estimate: what one role still has to do for one method and tier.

    `calls`, `input_tokens`, `output_tokens` and `cost` are expected; each has a bound beside it. `recorded`
    are calls that the journal holds; they cost nothing any more.
    """

    stage: str
    role: str
    model: str
    method: str
    tier: str
    recorded: int
    calls: float
    calls_at_most: float
    input_tokens: float
    input_tokens_at_most: float
    output_tokens: float
    output_tokens_at_most: float
    cost: float
    cost_at_most: float


@dataclass(frozen=True)
class Estimate:
    """All lines, in the order of stages and config, and what they rest on."""

    lines: list[Line]
    notes: list[str]
    spent: float
    budget: float | None

    def total(self, name: str) -> float:
        """Sum of one column."""
        return sum(getattr(line, name) for line in self.lines)


def line_of(
    place: Place, role: str, model: Model, book: Book, known: Sequence[float], outputs: Outputs
) -> Line:
    """What one role still has to do at one place.

    Args:
        place: stage, method and tier.
        role: the role.
        model: its model.
        book: its calls there.
        known: input tokens of each known call of its stage and method, over all tiers.
        outputs: what it is expected to write.
    """
    typical = sum(known) / len(known) if known else None
    expected_output, most_output = outputs.of(role, book.most_output)
    calls = len(book.measured) + sum(part.calls for part in book.unknown)
    once = len(book.measured) + sum(part.most_calls for part in book.unknown)
    tokens = sum(book.measured) + sum(
        part.calls * next(n for n in (part.tokens, typical, part.most_tokens) if n is not None)
        for part in book.unknown
    )
    tokens_once = sum(book.measured) + sum(part.most_calls * part.most_tokens for part in book.unknown)
    # A further asking repeats the request and the reply before it.
    most_tokens = book.rounds * tokens_once + (book.rounds - 1) * once * most_output
    most_calls = book.rounds * once
    price = model.cost
    return Line(
        stage=place.stage,
        role=role,
        model=model.name,
        method=place.method,
        tier=place.tier,
        recorded=len(book.recorded),
        calls=calls,
        calls_at_most=most_calls,
        input_tokens=tokens,
        input_tokens_at_most=most_tokens,
        output_tokens=calls * expected_output,
        output_tokens_at_most=most_calls * most_output,
        cost=price(tokens, calls * expected_output),
        cost_at_most=price(most_tokens, most_calls * most_output),
    )

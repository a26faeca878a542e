"""Fitting a context into the reader's token budget: Trunc(c) of the paper.

Whole items are kept from the front; the first item that does not fit ends the context. Counting is
one cumulative pass over the items, whatever the budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lmev2.tokens import CHARS_PER_TOKEN

# What the chat template puts around a message and for each image (Qwen's format).
ENVELOPE = ("<|im_start|>user\n", "<|im_end|>\n")
IMAGE_MARK = "<|image|>"


class Counter(Protocol):
    """A way of counting a context's tokens: approximate (here) or a model's own (`lmev2.tokenizer`)."""

    def prefix_tokens(self, items: Sequence[Any]) -> list[int]:
        """Tokens of the first 0, 1, … n items.

        Items have `kind`, `text`, `width` and `height` as in `records.ITEM`. No items are no tokens; any
        others have the envelope of a message around them. Never falls.
        """


@dataclass(frozen=True)
class ApproximateCounter:
    """Tokens without a tokenizer: text by its length, images by their area.

    Args:
        chars_per_token: text of n characters counts ceil(n / chars_per_token) tokens.
        image_patch: side in pixels of the square of an image that makes one token.
        image_extra: tokens around each image.
    """

    chars_per_token: int = CHARS_PER_TOKEN
    image_patch: int = 32
    image_extra: int = 2

    def text(self, n_chars: int) -> int:
        """Tokens of a run of text."""
        return -(-n_chars // self.chars_per_token)

    def image(self, width: int, height: int) -> int:
        """Tokens of an image, without its mark in the text."""
        return self.image_extra + -(-width // self.image_patch) * -(-height // self.image_patch)

    def prefix_tokens(self, items: Sequence[Any]) -> list[int]:
        """Tokens of the first 0, 1, … n items, all text in one run; see `Counter`."""
        chars, images, totals = sum(map(len, ENVELOPE)), 0, [0]
        for item in items:
            if item["kind"] == "image":
                chars += len(IMAGE_MARK)
                images += self.image(item["width"], item["height"])
            else:
                chars += len(item["text"])
            totals.append(self.text(chars) + images)
        return totals


@dataclass(frozen=True)
class Truncated:
    """What is left of a context, and its tokens before and after; no items are no tokens."""

    kept: int
    tokens: int
    tokens_kept: int

    @property
    def was_truncated(self) -> bool:
        """Whether an item was dropped."""
        return self.tokens_kept < self.tokens


def truncate(items: Sequence[Any], budget: int, counter: Counter) -> Truncated:
    """The longest prefix of whole items within `budget` tokens.

    Raises:
        ValueError: the budget is not positive.
    """
    if budget < 1:
        raise ValueError(f"a context's budget must be at least one token, it is {budget}")
    totals = counter.prefix_tokens(items)
    # Totals never fall, so the first prefix over budget ends the search.
    kept = next((n for n, total in enumerate(totals) if total > budget), len(totals)) - 1
    return Truncated(kept=kept, tokens=totals[-1], tokens_kept=totals[kept])

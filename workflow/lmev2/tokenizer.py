"""Counting with a model's own tokenizer instead of approximately.

`read.tokenizer.name` of the config names one of
- `approximate`: no tokenizer, see `lmev2.truncation` (the default);
- a `tokenizer.json` on disk, or the folder that holds it: a name with a slash at its start, a dot
  before it, or the ending `.json`, and any other that is there;
- a model on the Hugging Face hub, e.g. `Qwen/Qwen3.5-9B`: fetched once, kept in the hub's own cache.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from lmev2.errors import UserError
from lmev2.truncation import ENVELOPE, ApproximateCounter, Counter

APPROXIMATE = "approximate"
FILE = "tokenizer.json"


class TokenizerError(UserError):
    """The tokenizer that the config names cannot be had."""


@dataclass(frozen=True)
class ImageRule:
    """Image tokens by the rule of the Qwen-VL family; the defaults are those of Qwen3-VL.

    An image is scaled, its aspect ratio nearly kept, so that both sides are multiples of
    `patch * merge` pixels and its area lies between `min_pixels` and `max_pixels`; each square of that
    side is one token.

    Args:
        patch: side of a vision patch in pixels.
        merge: patches by side that become one token.
        min_pixels: smallest area; smaller images are scaled up.
        max_pixels: largest area; larger images are scaled down.
        extra: tokens around each image.
    """

    patch: int = 16
    merge: int = 2
    min_pixels: int = 65_536
    max_pixels: int = 16_777_216
    extra: int = 2

    def tokens(self, width: int, height: int) -> int:
        """Tokens of an image of `width` by `height` pixels, those around it included."""
        side = self.patch * self.merge
        columns, rows = (max(1, round(length / side)) for length in (width, height))
        area = width * height
        if columns * rows * side**2 > self.max_pixels:
            shrink = math.sqrt(area / self.max_pixels)
            columns, rows = (max(1, math.floor(length / shrink / side)) for length in (width, height))
        elif columns * rows * side**2 < self.min_pixels:
            grow = math.sqrt(self.min_pixels / area)
            columns, rows = (math.ceil(length * grow / side) for length in (width, height))
        return columns * rows + self.extra


class TokenizerCounter:
    """Tokens by a real tokenizer, item by item.

    Each text is counted by itself, so that a context takes time in proportion to its length. A token
    that would span the border of two items is thus counted as two.
    """

    def __init__(self, tokenizer: Tokenizer, images: ImageRule) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._images = images
        self._envelope = sum(map(self.text, ENVELOPE))

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def prefix_tokens(self, items: Sequence[Any]) -> list[int]:
        """Tokens of the first 0, 1, … n items; see `Counter`."""
        total, totals = self._envelope, [0]
        for item in items:
            if item["kind"] == "image":
                total += self._images.tokens(item["width"], item["height"])
            else:
                total += self.text(item["text"])
            totals.append(total)
        return totals


def counter_of(section: Mapping[str, Any]) -> Counter:
    """The counter that the config's `read.tokenizer` describes.

    Raises:
        TokenizerError: there is no such tokenizer, or it cannot be fetched.
    """
    if section["name"] == APPROXIMATE:
        return ApproximateCounter(section["chars_per_token"], section["image_patch"], section["image_extra"])
    path = tokenizer_file(section["name"])
    tokenizer = _from_file(path) if path else _from_hub(section["name"], section["revision"])
    return TokenizerCounter(tokenizer, ImageRule(**section["images"]))


def tokenizer_file(name: str) -> Path | None:
    """The file that `name` means on this machine, None if it is a name on the hub or `approximate`.

    Raises:
        TokenizerError: `name` is a path, but nothing is there.
    """
    if name == APPROXIMATE:
        return None
    path = Path(name).expanduser()
    if path.is_dir():
        path /= FILE
    if path.is_file():
        return path
    if name.startswith((".", "/", "~")) or name.endswith(".json"):
        raise TokenizerError(
            f"read.tokenizer.name: there is no file {path}; give the path of a model's {FILE}, a name on the "
            f"Hugging Face hub, or {APPROXIMATE!r}"
        )
    return None


def _from_file(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise TokenizerError(f"read.tokenizer.name: {path} is not a {FILE} ({error})") from error


def _from_hub(name: str, revision: str) -> Tokenizer:
    try:
        return Tokenizer.from_pretrained(name, revision=revision)
    except (OSError, ValueError) as error:
        raise TokenizerError(
            f"read.tokenizer.name: cannot get {FILE} of {name!r} (revision {revision}) from the Hugging Face "
            f"hub: {str(error).splitlines()[0]} Without network, copy the model's {FILE} here and give its "
            f"path, or set the name to {APPROXIMATE}"
        ) from error

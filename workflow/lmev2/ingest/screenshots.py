"""Images of a dataset: found, opened, measured and hashed."""

import hashlib
import io
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from PIL import Image as PillowImage

# What browsers record and what model servers take. Pillow's other decoders stay closed.
FORMATS = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "GIF": ".gif"}


class Missing(StrEnum):
    """Why a state has no screenshot."""

    NULL = "null"  # null, or no such field
    NOT_A_PATH = "not a path"  # a number, an empty string, ...
    OUTSIDE = "outside the dataset"  # an absolute path or one with ".."
    NO_FILE = "no such file"
    DAMAGED = "damaged"  # a file that does not open as an image


@dataclass(frozen=True)
class Image:
    """An image that opened.

    Attributes:
        path: inside the dataset folder, with forward slashes.
        sha256: of the file's bytes.
        width: pixels.
        height: pixels.
        suffix: file suffix of its format, by content and not by name.
    """

    path: str
    sha256: str
    width: int
    height: int
    suffix: str


def find_image(dataset: Path, value: Any) -> str | Missing:
    """Resolve an image field to the path of an existing file inside `dataset`, or say why not.

    A path counts from the dataset folder or from its `screenshots/` (docs/benchmark.md). A path that
    leads out of the dataset is not followed, so that no stray file of the machine reaches a model.
    """
    if value is None:
        return Missing.NULL
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        return Missing.NOT_A_PATH
    if value.startswith("/") or ".." in value.split("/"):
        return Missing.OUTSIDE
    for candidate in (value, f"screenshots/{value}"):
        # Not by pathlib: for the 52,500 states of the released dataset it takes as long as to parse them.
        if os.path.isfile(f"{dataset}/{candidate}"):  # noqa: PTH113
            return str(PurePosixPath(candidate))
    return Missing.NO_FILE


def load_image(dataset: Path, path: str) -> Image | Missing:
    """Read the image file `path` of `dataset` and decode all of it; `DAMAGED` if that fails."""
    try:
        data = (dataset / path).read_bytes()
        with PillowImage.open(io.BytesIO(data), formats=list(FORMATS)) as image:
            image.load()
            width, height = image.size
            suffix = FORMATS[image.format]
    except (OSError, SyntaxError, ValueError, PillowImage.DecompressionBombError):
        # Pillow's decoders report a damaged file by any of these.
        return Missing.DAMAGED
    return Image(path, hashlib.sha256(data).hexdigest(), width, height, suffix)


def find_and_load(dataset: Path, value: Any) -> Image | Missing:
    """`find_image`, then `load_image`."""
    path = find_image(dataset, value)
    return path if isinstance(path, Missing) else load_image(dataset, path)

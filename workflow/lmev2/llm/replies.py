"""Reading JSON out of what models write."""

import json
from collections.abc import Mapping
from typing import Any


def json_object(text: str) -> dict[str, Any] | None:
    """The first complete JSON object in `text` (fences, prose and a think block around it do not matter)."""
    text = text.rpartition("</think>")[2]
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            found, _ = decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            start = text.find("{", start + 1)
            continue
        return found if isinstance(found, Mapping) else None
    return None

"""What exports of our own add to a record, checked before it is read back."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from lmev2.official.run_folder import OURS
from lmev2.records import Status

_FIELD = "memory_post_query_metadata"
_COUNT = {"type": ["integer", "null"], "minimum": 0, "maximum": 2**31 - 1}
_PLACE = [{"type": "string"}, {"type": ["string", "null"]}, _COUNT, _COUNT]
_VALIDATOR = Draft202012Validator(
    {
        "type": "object",
        "properties": {
            "status": {
                "type": "object",
                "additionalProperties": {"enum": [str(status) for status in Status]},
            },
            "error": {"type": "string"},
            "context_items": _COUNT,
            "in_flight": _COUNT,
            "insert_s": {"type": ["number", "null"]},
            # Of each item of the context: source, trajectory, first and last state.
            "items": {
                "type": "array",
                "items": {"type": "array", "prefixItems": _PLACE, "minItems": 4, "maxItems": 4},
            },
        },
    }
)


def additions_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What an export of ours has added to a record; empty for a record of others."""
    metadata = record.get(_FIELD)
    return metadata.get(OURS, {}) if isinstance(metadata, dict) else {}


def addition_faults(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and fault of the additions that no export of ours writes."""
    for error in _VALIDATOR.iter_errors(additions_of(record)):
        yield ".".join([_FIELD, OURS, *map(str, error.absolute_path)]), f"is wrong: {error.message:.80}"

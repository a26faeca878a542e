"""Which archives make the screenshots, and whether they are unpacked already."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from lmev2.release.archives import unpack_archive
from lmev2.store import write_json

FOLDER = "trajectory_screenshots"
# domain -> its archives: each overlays the one before per file, what it lacks stays.
ARCHIVES = {
    "web": ("web_screenshots.tar.gz",),
    "enterprise": ("enterprise_screenshots_base.tar.gz", "enterprise_screenshots_patch.tar.gz"),
}


def is_unpacked(dataset: Path, domain: str, digests: Mapping[str, str | None]) -> bool:
    """Whether just these archives (name to sha256) of the domain lie unpacked in the dataset folder.

    False where a sha256 is not known.
    """
    if None in digests.values():
        return False
    try:
        note = json.loads(_marker(dataset, domain).read_bytes())
    except (FileNotFoundError, ValueError):  # none, or a damaged one
        return False
    return note == {"archives": dict(digests)}


def unpack(dataset: Path, domain: str, digests: Mapping[str, str | None]) -> list[str]:
    """Unpack the archives of a domain, in order of their overlay, and note that it is done.

    Begins anew after an interruption: the note is written at the very end.

    Returns:
        Lines to print.

    Raises:
        ReleaseError: see `unpack_archive`.
    """
    _marker(dataset, domain).unlink(missing_ok=True)
    lines = []
    for name in digests:
        count, others = unpack_archive(dataset / FOLDER / name, dataset / "screenshots")
        lines.append(f"{name}: {count:,} screenshots unpacked")
        if others:
            shown = ", ".join(map(repr, others[:3])) + (", …" if len(others) > 3 else "")
            lines.append(f"{name}: {len(others):,} members are no screenshots and were left out: {shown}")
    os.sync()  # the screenshots first, then the note that they are there
    write_json({"archives": dict(digests)}, _marker(dataset, domain))
    return lines


def _marker(dataset: Path, domain: str) -> Path:
    return dataset / "screenshots" / f".{domain}.unpacked.json"

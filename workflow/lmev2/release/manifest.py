"""What the files of a release must be: sizes and sha256, known beforehand or from its checksums.sha256."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lmev2.errors import UserError
from lmev2.progress import Progress

CHECKSUMS = "checksums.sha256"
CORE = (
    "questions.jsonl",
    "trajectories.jsonl",
    "haystacks/lme_v2_small.json",
    "haystacks/lme_v2_medium.json",
)

_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](?:\./)?(\S.*)")
_BLOCK = 2**20
_AGAIN = (
    "remove the file and run again to fetch it anew; or, if this is another dataset's folder, let "
    "dataset.path name one for the release"
)
LONG = 50 * 10**6  # bytes from which a file's progress is worth a line


class ReleaseError(UserError):
    """A file of the release is missing, cut short or altered, or cannot be fetched."""


@dataclass(frozen=True)
class Expected:
    """What a file must be.

    Attributes:
        sha256: of its bytes, 64 lower-case hex digits; None where nothing tells.
        size: in bytes; None where nothing tells.
    """

    sha256: str | None
    size: int | None = None


def known_files(repo: str, revision: str) -> dict[str, Expected]:
    """Path to `Expected` of the release that this package knows; empty for any other."""
    released = _released()
    if (released["repo"], released["revision"]) != (repo, revision):
        return {}
    return {path: Expected(**entry) for path, entry in released["files"].items()}


def released_digests() -> dict[str, str]:
    """Path to sha256 of the release that this package knows."""
    return {path: entry["sha256"] for path, entry in _released()["files"].items()}


def _released() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("released.json").read_text(encoding="utf-8"))


def read_checksums(path: Path, known: Mapping[str, Expected]) -> dict[str, Expected]:
    """The files that a checksums.sha256 names, with the sizes of `known`.

    Raises:
        ReleaseError: a line has another form, a path leads out of the folder or comes twice, a core file is
            not named, or a sha256 is another than the known one.
    """
    found: dict[str, Expected] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{path}: not a list of checksums ({error}); {_AGAIN}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if not match:
            raise ReleaseError(f"{path}, line {number}: not `<sha256>  <path>`; {_AGAIN}")
        sha256, name = match[1].lower(), match[2]
        if name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise ReleaseError(f"{path}, line {number}: {name!r} leads out of the dataset folder; {_AGAIN}")
        if name in found:
            raise ReleaseError(f"{path}, line {number}: {name!r} comes twice; {_AGAIN}")
        expected = known.get(name, Expected(sha256))
        if expected.sha256 != sha256:
            raise ReleaseError(
                f"{path}, line {number}: the sha256 of {name} is not that of the release; {_AGAIN}"
            )
        found[name] = expected
    for name in CORE:
        if name not in found:
            raise ReleaseError(f"{path}: {name} is not named; {_AGAIN}")
    return found


def verify(path: Path, expected: Expected, remedy: str = _AGAIN) -> None:
    """Check a file's size and sha256.

    Raises:
        ReleaseError: it is cut short, too long or altered; `remedy` says what to do.
    """
    size = path.stat().st_size
    if expected.size is not None and size != expected.size:
        how = "cut short" if size < expected.size else "too long"
        raise ReleaseError(f"{path}: {how}, {size:,} bytes instead of {expected.size:,}; {remedy}")
    if expected.sha256 is not None and (sha256 := digest(path)) != expected.sha256:
        raise ReleaseError(
            f"{path}: altered or cut short, sha256 {sha256} instead of {expected.sha256}; {remedy}"
        )


def digest(path: Path) -> str:
    """The sha256 of a file, with progress on a long one."""
    size = path.stat().st_size
    progress = Progress(f"verify {path.name}", "MB", size // 10**6) if size >= LONG else None
    state = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            state.update(block)
            if progress:
                progress.at(file.tell() // 10**6)
    if progress:
        progress.close()
    return state.hexdigest()

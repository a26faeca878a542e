"""The released dataset in a folder: what is there is verified, the rest fetched, archives are unpacked."""

import fcntl
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lmev2.release.hub import Hub
from lmev2.release.manifest import (
    CHECKSUMS,
    CORE,
    Expected,
    ReleaseError,
    known_files,
    read_checksums,
    verify,
)
from lmev2.release.screenshots import ARCHIVES, FOLDER, is_unpacked, unpack

Report = Callable[[str], None]


@dataclass(frozen=True)
class _Folder:
    """A dataset folder on the way to be a copy of the release."""

    path: Path
    hub: Hub

    def ensure(self, name: str, expected: Expected) -> bool:
        """Have a file in place and verified; True if it had to be fetched.

        A file that is there is never replaced: it is somebody's.
        """
        target = self.path / name
        if target.is_file():
            verify(target, expected)
            return False
        self.hub.fetch(name, target, self.path / ".download" / f"{name.replace('/', '-')}.part", expected)
        return True


def download(
    dataset: str | Path,
    *,
    repo: str,
    revision: str,
    parts: Collection[str],
    endpoint: str | None = None,
    report: Report = print,
) -> None:
    """Make `dataset` a verified copy of a release.

    A file that is there is verified and not asked for: with all files in place nothing is fetched. What has
    been fetched stays when something fails, and the next call goes on.

    Args:
        dataset: the folder.
        repo: dataset repository on the hub.
        revision: its commit; for the pinned one sizes and digests are known beforehand.
        parts: "text" (all but the archives), "screenshots" (the archives, unpacked) or both.
        endpoint: address of the hub; None for the usual one.
        report: called with each line to print.

    Raises:
        ReleaseError: a file is missing and cannot be fetched, or is not what it must be; another download is
            at work in the folder; or it cannot be written to.
    """
    folder = _Folder(Path(dataset), Hub(repo, revision, endpoint))
    known = known_files(repo, revision)
    try:
        with _alone(folder.path):
            if "text" in parts:
                _text(folder, known, report)
            if "screenshots" in parts:
                _screenshots(folder, known, report)
            else:
                report("screenshots: not asked for (dataset.download.parts), so the dataset is text only")
    except OSError as error:
        raise ReleaseError(
            f"{error.filename or dataset}: {error.strerror}; see to it (rights, room on the disk, something "
            "else of that name) and run again: what is there stays"
        ) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep a second download out of the folder, which would write the same files."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ReleaseError(f"{folder}: another download is at work there; wait for its end") from error
        except OSError:
            pass  # NFS locks no folders; two at once are then found out by the digests
        yield
    finally:
        os.close(handle)


def _text(folder: _Folder, known: Mapping[str, Expected], report: Report) -> None:
    for name in CORE:  # before anything is written: the folder may be that of another dataset
        if name in known and (folder.path / name).is_file():
            verify(folder.path / name, Expected(None, known[name].size))
    folder.ensure(CHECKSUMS, Expected(None))
    files = read_checksums(folder.path / CHECKSUMS, known)
    fetched = [folder.ensure(name, expected) for name, expected in sorted(files.items())]
    report(f"text: {len(fetched)} files verified, {sum(fetched)} of them fetched")


def _screenshots(folder: _Folder, known: Mapping[str, Expected], report: Report) -> None:
    for domain, (base, *overlays) in ARCHIVES.items():
        found = {base: _archive(folder, base, known), **dict.fromkeys(overlays)}
        for name in overlays:
            try:
                found[name] = _archive(folder, name, known)
            except ReleaseError as error:
                report(f"{name}: taken as not published ({error})")
        archives = {name: entry for name, entry in found.items() if entry}
        if base not in archives:
            report(f"{domain} screenshots: no archive in this release, so the domain is text only")
            continue
        if is_unpacked(folder.path, domain, {name: entry.sha256 for name, entry in archives.items()}):
            report(f"{domain} screenshots: unpacked already")
            continue
        for name, entry in archives.items():
            folder.ensure(f"{FOLDER}/{name}", entry)
            if entry.sha256 is None:
                report(f"{name}: nothing tells its sha256, so it is taken as it is")
        for line in unpack(folder.path, domain, {name: entry.sha256 for name, entry in archives.items()}):
            report(line)


def _archive(folder: _Folder, name: str, known: Mapping[str, Expected]) -> Expected | None:
    """What an archive must be; None if the release has no such archive."""
    path = f"{FOLDER}/{name}"
    in_place = (folder.path / path).is_file()
    if known:  # whole; a patch that somebody has put there counts, too
        return known.get(path, Expected(None) if in_place else None)
    try:
        return folder.hub.expected(path)
    except ReleaseError:
        if in_place:  # without the hub: nothing to compare it with
            return Expected(None)
        raise

"""Screenshot archives, unpacked member by member to `screenshots/<trajectory id>/<step>.png`."""

import gzip
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from lmev2.progress import Progress
from lmev2.release.manifest import ReleaseError

SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".gif"}
_AGAIN = "fetch the archive again, from where you trust it"


def unpack_archive(archive: Path, folder: Path) -> tuple[int, list[str]]:
    """Unpack the screenshots of a .tar.gz, one after the other; a file that is there already is replaced.

    Of a member's path the last two parts count, `<trajectory id>/<step>.png`, whatever folders an archive has
    around them. Each file appears whole or not at all.

    Args:
        archive: the .tar.gz.
        folder: the dataset's `screenshots`.

    Returns:
        How many screenshots there were, and the names of the files that are none; those are not unpacked.

    Raises:
        ReleaseError: a member is a link, a device or the like, has an absolute path or one with "..", or two
            members stand for one screenshot; or the archive is damaged. The message names the member.
    """
    progress = Progress(f"unpack {archive.name}", "screenshots")
    sources: dict[str, str] = {}
    others = []
    member = None
    try:
        with gzip.open(archive) as data, tarfile.open(fileobj=data, mode="r|") as tar:
            for member in tar:
                _refuse(archive, member)
                if member.isdir():
                    continue
                path = PurePosixPath(member.name)
                if len(path.parts) < 2 or path.suffix.lower() not in SUFFIXES:
                    others.append(member.name)
                    continue
                target = "/".join(path.parts[-2:])
                if sources.setdefault(target, member.name) != member.name:
                    raise ReleaseError(
                        f"{archive}: the members {sources[target]!r} and {member.name!r} both stand for the "
                        f"screenshot {target!r}; {_AGAIN}"
                    )
                write_member(tar, member, folder / target)
                progress.at(len(sources))
            while data.read(2**20):  # to the end, where gzip has its checksum
                pass
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        after = f" after the member {member.name!r}" if member else ""
        raise ReleaseError(f"{archive}: damaged or cut short{after} ({error}); {_AGAIN}") from error
    if not sources:
        raise ReleaseError(f"{archive}: holds no screenshot <trajectory id>/<step>.png; {_AGAIN}")
    progress.close()
    return len(sources), others


def _refuse(archive: Path, member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute():
        problem = "has an absolute path"
    elif ".." in path.parts:
        problem = "leads out of the archive ('..')"
    elif member.issym() or member.islnk():
        problem = f"is a link (to {member.linkname!r})"
    elif member.isdev():
        problem = "is a device or a pipe"
    elif not (member.isdir() or member.isreg()) or member.issparse():
        problem = "is neither a plain file nor a folder"
    else:
        return
    raise ReleaseError(f"{archive}: the member {member.name!r} {problem}, which is refused; {_AGAIN}")


def write_member(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Write the bytes of a plain file in an archive, and nothing else of it, to `target`, whole or not.

    `TarFile.extract(filter=…)` came with Python 3.11.4 only.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.part")
    content = tar.extractfile(member)
    with content, temporary.open("wb") as file:
        shutil.copyfileobj(content, file, 2**20)
    temporary.replace(target)

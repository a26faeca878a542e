"""The archive of a package: written so that equal files give equal bytes, and unpacked with suspicion."""

import gzip
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from lmev2.errors import UserError
from lmev2.official.run_folder import NAME
from lmev2.release.archives import write_member


class ArchiveError(UserError):
    """An archive cannot be read."""


def write_archive(folder: Path, archive: Path) -> None:
    """Write `folder` as a .tar.gz whose bytes depend on its files alone: sorted, no times, no owners."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        # What says which runs are inside comes first, so that it is found without unpacking the rest.
        paths = sorted(folder.rglob("*"), key=lambda path: (path.suffix == ".jsonl", path.as_posix()))
        for path in [folder, *(path for path in paths if path.is_dir()), *filter(Path.is_file, paths)]:
            member = tarfile.TarInfo(path.relative_to(folder.parent).as_posix())
            if path.is_dir():
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(member)
            else:
                member.size, member.mode = path.stat().st_size, 0o644
                with path.open("rb") as content:
                    tar.addfile(member, content)


def unpack(archive: Path, place: Path) -> tuple[list[str], Path]:
    """Unpack a package; the problems of its members, and the folder that it held.

    Raises:
        ArchiveError: it cannot be read.
    """
    problems, tops = [], set()
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                parts = PurePosixPath(member.name).parts
                tops.add(parts[0] if parts else "")
                if not (member.isreg() or member.isdir()):
                    problems.append(f"{member.name}: neither a file nor a folder; links are not allowed")
                elif not all(NAME.fullmatch(part) for part in parts) or ".." in parts:
                    problems.append(f"{member.name}: names are of letters, digits and . _ -")
                elif member.isdir():
                    place.joinpath(*parts).mkdir(parents=True, exist_ok=True)
                else:
                    write_member(tar, member, place.joinpath(*parts))
            while tar.fileobj.read(2**20):  # to the end, where gzip has its checksum
                pass
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise ArchiveError(f"{archive}: cannot be read as a .tar.gz: {error}") from error
    if len(tops) != 1:
        problems.append(f"{archive.name} holds {len(tops)} folders at its top; it should be one")
    return problems, place / min(tops, default="")

"""A tiny release: the tiny dataset as the hub has it, with checksums and screenshot archives."""

import hashlib
import io
import tarfile
from pathlib import Path

from dataset_factory import make_dataset

BASE = "trajectory_screenshots/enterprise_screenshots_base.tar.gz"
PATCH = "trajectory_screenshots/enterprise_screenshots_patch.tar.gz"
WEB = "trajectory_screenshots/web_screenshots.tar.gz"


def archive(members: dict[str, bytes | tarfile.TarInfo]) -> bytes:
    """A .tar.gz of files by name; a TarInfo stands for itself."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", compresslevel=1) as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return data.getvalue()


def checksums(files: dict[str, bytes]) -> bytes:
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()).encode()


def make_release(folder: Path) -> dict[str, bytes]:
    """The files of the release, by path; `folder` is for work in between."""
    make_dataset(folder)
    # The released dataset has no labels and no families.
    text = {
        name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not (name := path.relative_to(folder).as_posix()).startswith(("screenshots", "coverage", "famil"))
    }
    pictures = sorted((folder / "screenshots").rglob("*.png"))
    shots = {path.relative_to(folder / "screenshots").as_posix(): path.read_bytes() for path in pictures}
    web = {f"web_screenshots/{name}": data for name, data in shots.items() if name < "t4"}
    enterprise = {name: data for name, data in shots.items() if name >= "t4"}
    return {
        **text,
        "checksums.sha256": checksums(text),
        WEB: archive(web),
        BASE: archive(enterprise),
    }

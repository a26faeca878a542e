"""Pictures of the explorer: linked where they lie, copied, or as thumbnails."""

import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from urllib.parse import quote

from PIL import Image as Picture

from lmev2.image import Image

_QUALITY = 70


@dataclass(frozen=True)
class Settings:
    """The config's section `explorer`.

    Attributes:
        screenshots: "link" (the originals) or "thumbnails" (small copies in the explorer).
        thumbnail_width: pixels.
        self_contained: whether the explorer must work without the dataset: it then links to nothing outside.
    """

    screenshots: str = "link"
    thumbnail_width: int = 480
    self_contained: bool = False


class Screenshots:
    """Where pages find the pictures of states.

    Args:
        site: folder of the site; addresses are relative to it.
        settings: how.
    """

    def __init__(self, site: Path, settings: Settings) -> None:
        self._site = site.resolve()
        self._settings = settings

    def addresses(self, image: Image) -> dict[str, str]:
        """`full` (the picture itself) and `small` (what pages show), relative addresses.

        `full` is left out where the site has nothing but a thumbnail.
        """
        small, full = f"pictures/{image.sha256}.webp", f"pictures/{image.sha256}{image.path.suffix.lower()}"
        thumbnails, contained = self._settings.screenshots == "thumbnails", self._settings.self_contained
        if thumbnails and contained:
            return {"small": small}
        if not contained:
            full = quote(relpath(image.path.resolve(), self._site))
        return {"small": small if thumbnails else full, "full": full}

    def write(self, images: Iterable[Image], folder: Path) -> int:
        """Write the pictures that the site needs of its own to `folder`; returns how many it has."""
        folder.mkdir(parents=True, exist_ok=True)
        wanted = {image.sha256: image for image in images}
        if self._settings.screenshots == "thumbnails":
            make = self._thumbnail
        elif self._settings.self_contained:
            make = _copy
        else:
            return 0
        with ThreadPoolExecutor() as pool:
            list(pool.map(make, wanted.values(), [folder] * len(wanted)))
        return len(wanted)

    def _thumbnail(self, image: Image, folder: Path) -> None:
        width = min(self._settings.thumbnail_width, image.width)
        height = max(1, round(image.height * width / image.width))
        with Picture.open(image.path) as picture:
            small = picture.convert("RGB").resize((width, height))
        small.save(folder / f"{image.sha256}.webp", "WEBP", quality=_QUALITY)


def _copy(image: Image, folder: Path) -> None:
    shutil.copyfile(image.path, folder / f"{image.sha256}{image.path.suffix.lower()}")

"""A picture by reference: where it lies, what it holds, how big it is."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Image:
    """A picture on disk, identified by its content; width and height in pixels."""

    path: Path
    sha256: str
    width: int
    height: int

    def part(self) -> dict:
        """The image as a part of a chat message; only the sha256 enters a request's key."""
        return {
            "type": "image",
            "path": str(self.path),
            "sha256": self.sha256,
            "width": self.width,
            "height": self.height,
        }

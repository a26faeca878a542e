"""What a memory method is, what it is given, and what it gives back.

A method is a class. It is built once per distinct haystack, then asked every question of it:

    memory = Name(options, services)          # options: its section of the config
    memory.insert(trajectory)                 # in haystack order, if the class defines insert
    memory.attach(view)                       # or: the shared pools it names in `pools`
    items = memory.query(question)            # plain or async; a list of Item

Privacy rule (docs/benchmark.md): a question is its text and image. Its id, type, answer, evaluator and
evidence labels are not in `Question` and not in any file that the query stage reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lmev2.image import Image
from lmev2.memory.services import Services
from lmev2.memory.view import HaystackView


@dataclass(frozen=True)
class Question:
    """All that a method may know of a question.

    `handle` is an opaque name for logs and folders, made from text and image alone.
    """

    handle: str
    text: str
    image: Image | None

    @property
    def identity(self) -> list[Any]:
        """All that an answer to it may depend on."""
        return [self.text, self.image.sha256 if self.image else None]


@dataclass(frozen=True)
class Item:
    """One part of a context: a text or an image, and where it comes from.

    `source` names the pool or part ("slices", "notes", ...); the trajectory and the inclusive range of
    state indexes are None where an item stands for none or several.
    """

    kind: str
    text: str | None = None
    image: Image | None = None
    source: str = ""
    trajectory_id: str | None = None
    first_state: int | None = None
    last_state: int | None = None

    def __post_init__(self) -> None:
        if (self.kind, self.text is None, self.image is None) not in {
            ("text", False, True),
            ("image", True, False),
        }:
            raise ValueError(f"an item is a text with `text` or an image with `image`, not {self!r:.200}")


class Memory(Protocol):
    """A memory method; see the module's text for its life.

    Class attributes (optional):
        pools: names of the shared pools that `attach` needs, e.g. ("slices", "notes").
    """

    def __init__(self, options: Mapping[str, Any], services: Services) -> None: ...

    def attach(self, view: HaystackView) -> None:
        """Take the haystack as a view of shared pools; nothing is rebuilt."""

    def query(self, question: Question) -> list[Item]:
        """The evidence for one question, most important first: truncation drops items from the end."""

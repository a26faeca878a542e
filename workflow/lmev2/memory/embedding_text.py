"""The texts whose vectors stand for a state slice, and the query text of a question.

A slice's text is its states' trees with their state numbers. It is often longer
than an embedding model reads, and there are three recipes for that:

- `cut`: from the start, as far as `max_tokens` go: the paper's rule. The window's first state may
  fill it, so that the slice's centre state is not in its vector at all.
- `centre_first`: the same, with the centre state's tree moved to the front.
- `chunks`: every few lines of each state's tree are a text of their own. Nothing is lost, and a text
  that many states share (a menu, a footer) is embedded once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from lmev2.accessibility import TreeLine, iterate_lines, parse_attributes
from lmev2.tokens import CHARS_PER_TOKEN

LONG_TEXT = ("cut", "centre_first", "chunks")

# Attributes that say what a user sees of an element; the others are browser bookkeeping (visible,
# clickable, url, hasPopup, ...).
_STATE_ATTRIBUTES = (
    "value",
    "valuetext",
    "checked",
    "selected",
    "expanded",
    "required",
    "disabled",
    "invalid",
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a slice becomes texts; the defaults are the paper's.

    Attributes:
        long_text: `cut`, `centre_first` or `chunks`.
        max_tokens: longest text in tokens, counted approximately (`lmev2.tokens`).
        chunk_lines: lines of a chunk; other recipes ignore it.
        clean: embed role, name and state of each element instead of the raw line; see `clean_line`.
    """

    long_text: str = "cut"
    max_tokens: int = 4096
    chunk_lines: int = 3
    clean: bool = False

    def __post_init__(self):
        if self.long_text not in LONG_TEXT:
            raise ValueError(f"long_text must be one of {', '.join(LONG_TEXT)}, it is {self.long_text!r}")
        for key in ("max_tokens", "chunk_lines"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key} must be at least 1, it is {getattr(self, key)}")


@dataclass(frozen=True, slots=True)
class EmbeddingTexts:
    """The texts of one slice.

    Attributes:
        texts: in order, without duplicates; none if all trees are empty (no zero vectors).
        centre_share: share of the centre state's tree (in characters) that is in the texts; 1 for an
            empty tree, of which nothing is lost.
        was_cut: whether any text lost its end to `max_tokens`.
    """

    texts: list[str]
    centre_share: float
    was_cut: bool


def slice_texts(trees: Sequence[str], indexes: Sequence[int], centre: int, recipe: Recipe) -> EmbeddingTexts:
    """Make the embedding texts of one slice.

    Args:
        trees: the trees of the slice's states.
        indexes: their state indexes, one a tree.
        centre: the slice's centre state, one of `indexes`.
        recipe: how.
    """
    if centre not in indexes:
        raise ValueError(f"centre state {centre} is not among the slice's states {list(indexes)}")
    lines = {index: _lines(tree, recipe.clean) for index, tree in zip(indexes, trees, strict=True)}
    if not any(lines.values()):
        return EmbeddingTexts([], 1.0, False)
    limit = recipe.max_tokens * CHARS_PER_TOKEN
    if recipe.long_text == "chunks":
        return _chunks(lines, centre, recipe.chunk_lines, limit)
    if recipe.long_text == "centre_first":
        lines = {centre: lines[centre]} | lines
    return _one_text(lines, centre, limit)


def _one_text(lines: dict[int, tuple[str, ...]], centre: int, limit: int) -> EmbeddingTexts:
    text = ""
    centre_start = centre_length = 0
    for index, state_lines in lines.items():
        text += f"State {index}\n"
        tree = "\n".join(state_lines)
        if index == centre:
            centre_start, centre_length = len(text), len(tree)
        text += f"{tree}\n"
    kept = min(max(limit - centre_start, 0), centre_length)
    return EmbeddingTexts([text[:limit]], kept / centre_length if centre_length else 1.0, len(text) > limit)


def _chunks(lines: dict[int, tuple[str, ...]], centre: int, chunk_lines: int, limit: int) -> EmbeddingTexts:
    chunks = {
        index: [
            "\n".join(state_lines[start : start + chunk_lines])
            for start in range(0, len(state_lines), chunk_lines)
        ]
        for index, state_lines in lines.items()
    }
    lengths = [len(chunk) for chunk in chunks[centre]]
    kept = sum(min(length, limit) for length in lengths)
    everything = [chunk for state_chunks in chunks.values() for chunk in state_chunks]
    return EmbeddingTexts(
        # Neighbouring states repeat most of each other; a chunk counts once in a slice's score.
        list(dict.fromkeys(chunk[:limit] for chunk in everything)),
        kept / sum(lengths) if lengths else 1.0,
        any(len(chunk) > limit for chunk in everything),
    )


@lru_cache(maxsize=8)  # a state is in up to three slices, made one after the other
def _lines(tree: str, clean: bool) -> tuple[str, ...]:
    """Lines of the tree that hold anything, in order."""
    lines = map(clean_line, iterate_lines(tree)) if clean else tree.split("\n")
    return tuple(line for line in lines if line and not line.isspace())


def clean_line(line: TreeLine) -> str:
    """Role, name and state of an element, "" if it has neither name nor state.

    Bids, indentation and bookkeeping attributes change from page to page and say nothing of what is
    on it; without them equal elements give equal texts. Text nodes are their text alone.
    """
    states = [
        f"{name}={value}" if value not in ("", "True", "true") else name
        for name, value in parse_attributes(line.attributes).items()
        if name in _STATE_ATTRIBUTES and value not in ("False", "false")
    ]
    if not line.name and not states:
        return ""
    role = "" if line.role == "StaticText" else line.role
    return " ".join(part for part in (role, line.name, *states) if part)


# Sentences that say in which form to answer. They may follow a list of options, whose last one ends
# without a full stop; hence it is their capital letter that marks their start.
_ANSWER_FORMAT = re.compile(
    r"(?:(?<=\s)|^)(?:"
    r"(?:Mark|Give|Write|Put|Provide|State|Return|Format|Enclose|Wrap|Output|Present|Express|Submit|Report|Place"
    r"|Please \w+) (?:only )?(?:your|the) (?:final )?answers?\b"
    r"|(?:Please (?:answer|respond|reply)|Answer|Respond|Reply) (?:only |just )?(?:with|in|using|as|by)\b"
    r"|(?:Your|The) (?:final )?answer (?:should|must|has to|is to|needs to)\b"
    r"|More than one (?:option|choice|answer|letter)s? (?:may|can|might|could) be (?:correct|right|true)\b"
    r"|(?:Select|Choose|Mark) all that apply\b"
    r").*?(?<!e\.g)(?<!i\.e)(?:[.!?](?=\s|$)|$)",
    re.MULTILINE,
)


def question_query_text(text: str, strip_answer_format: bool) -> str:
    """The text by which a question searches.

    Args:
        text: the question.
        strip_answer_format: drop its sentences on the form of the answer ("Mark your final answer
            as ...", "Answer with a single letter ..."): no page is about them.

    Returns:
        The question, whole if nothing else would be left.
    """
    if not strip_answer_format:
        return text
    return _ANSWER_FORMAT.sub("", text).strip() or text

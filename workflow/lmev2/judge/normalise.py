"""Text normalisation of the phrase evaluators (docs/benchmark.md)."""

import re
from collections.abc import Sequence

DEFAULT_SEPARATORS = (",", ";")


def normalise(
    text: str, *, lower: bool = True, normalize_hyphen: bool = True, strip_punct: bool = True
) -> str:
    """Reduce `text` to words with single spaces between them.

    Commas and semicolons become spaces, and so do hyphens and underscores if `normalize_hyphen`.
    Other punctuation is deleted if `strip_punct`: what is neither a word character (Python's `\\w`,
    which combining marks are not) nor white space. `lower` means `str.lower`, not case folding.
    """
    if lower:
        text = text.lower()
    if normalize_hyphen:
        text = re.sub(r"[-_]", " ", text)
    text = re.sub(r"[,;]", " ", text)
    if strip_punct:
        text = re.sub(r"[^\w\s]", "", text)
    return re.sub(r"\s+", " ", text).strip()


def split_phrases(text: str, separators: Sequence[str] = DEFAULT_SEPARATORS, **options: bool) -> list[str]:
    """Split `text` at any of `separators`, normalise each part (`options` of `normalise`), drop empty ones.

    Without separators all of `text` is one phrase; an empty string as a separator splits everywhere.
    """
    parts = re.split("|".join(map(re.escape, separators)), text) if separators else [text]
    return [phrase for part in parts if (phrase := normalise(part, **options))]

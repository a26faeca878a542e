"""Words, stems, quoted phrases and sentences: the small text tools of the extractive engine."""

import re
import unicodedata
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, split at white space, as a set (for vocabularies)."""
    return frozenset(text.split())


STOPWORDS = word_set(
    """
    a about all also although an and another any are as at be been before being both but by can
    could did do does done each either ever every for from get gets give given gives had has have
    having he her here him his how i if in instead into is it its itself just like list may me might
    more most much must my name no nor not of off on once only or other our out over own put same
    say says shall she should so some such than that the their them then there these they this those
    through to too under until up upon us very was we were what when where whether which while who
    whom whose why will with within without would you your s t ll re ve d m
    """
)

NEGATIONS = word_set(
    "no not never none nothing nobody cannot without unable neither nor isn aren doesn don didn won wasn "
    "weren"
)
# Words that, beside negations, say that something does not work or is not there.
DENIALS = NEGATIONS | word_set(
    "disabled unavailable missing impossible false wrong incorrect refuse refused refuses reject rejected"
)

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        start=1,
    )
}

_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(
    r"(?<![\w])'([^'\n]{1,80}?)'(?![\w])|\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|‘([^’\n]{1,80})’|`([^`\n]{1,80})`"
)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=[\w'\"“‘(])|\n+")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Reduce a lower-case English word to a rough stem (without plural, -ed, -ing, -ly)."""
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    for suffix, replacement in (("sses", "ss"), ("ies", "y"), ("ied", "y")):
        if word.endswith(suffix):
            return word[: -len(suffix)] + replacement
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed", "ly"):
        root = word[: -len(suffix)]
        if word.endswith(suffix) and len(root) >= 3 and re.search("[aeiouy]", root):
            word = root[:-1] if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


NUMBER_STEMS = frozenset(stem(word) for word in NUMBER_WORDS)


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """Return the lower-case words of a text, in order, without punctuation."""
    return tuple(_WORD.findall(text.lower()))


@lru_cache(maxsize=65536)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of all words of a text, in order."""
    return tuple(stem(word) for word in words(text))


@lru_cache(maxsize=65536)
def terms(text: str) -> frozenset[str]:
    """Return the stems of a text's content words (stop words left out)."""
    return frozenset(stem(word) for word in words(text) if word not in STOPWORDS)


def contains(sequence: tuple[str, ...], part: tuple[str, ...]) -> bool:
    """Tell whether ``part`` (not empty) occurs in ``sequence`` as neighbouring words."""
    if not part:
        return False
    first, size = part[0], len(part)
    return any(word == first and sequence[i : i + size] == part for i, word in enumerate(sequence))


def quoted(text: str) -> list[str]:
    """Return the quoted phrases of a text in order, each once; an apostrophe in a word quotes nothing."""
    found = ("".join(match.groups("")).strip(" .,;:") for match in _QUOTED.finditer(text))
    return list(dict.fromkeys(phrase for phrase in found if words(phrase)))


def sentences(text: str) -> list[str]:
    """Split a text into sentences at end marks and line ends."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


@lru_cache(maxsize=65536)
def display(name: str) -> str:
    """Return a control's name as people read it: without icon glyphs and repeated white space."""
    if not name.isascii():
        name = "".join(char for char in name if unicodedata.category(char) not in ("Co", "Cc", "Cf", "So"))
    return " ".join(name.split())


def shorten(text: str, limit: int) -> str:
    """Cut a text to ``limit`` words, at a clause end if one lies in the second half."""
    parts = text.split()
    if len(parts) <= limit:
        return text
    for size in range(limit, limit // 2, -1):
        if parts[size - 1][-1] in ",;:.":
            return " ".join(parts[:size]).rstrip(",;:")
    return " ".join(parts[:limit])

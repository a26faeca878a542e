"""Chance without a state: a draw depends on the seed and on what it is for, on nothing else.

So it is the same on every machine and in every version of every library, and one more trajectory
changes no other trajectory's draw.
"""

import hashlib
from collections.abc import Iterable


def draw(*parts: object) -> float:
    """A number in [0, 1), uniform over what `parts` (the seed, a purpose, names) say."""
    digest = hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53


def shuffled(ids: Iterable[str], *parts: object) -> list[str]:
    """`ids` in the order of their draws."""
    return sorted(ids, key=lambda id_: (draw(*parts, id_), id_))

"""Standard streams, which a parent process may have closed: Python then has None in their place."""

import errno
import sys
from typing import BinaryIO, TextIO


def standard_input() -> BinaryIO:
    """Standard input as bytes.

    Raises:
        OSError: it is closed.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed; give a file")
    return sys.stdin.buffer


def standard_output() -> TextIO:
    """Standard output.

    Raises:
        OSError: it is closed.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed; give a file")
    return sys.stdout

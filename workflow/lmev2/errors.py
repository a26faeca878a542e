"""Faults of the user's input, config, memory method or machine."""

import traceback


class UserError(Exception):
    """Its message names what is wrong and what to do; programs print it without a traceback."""


class UndeclaredError(UserError):
    """A memory method uses a model or a pool that its class does not name."""


def describe(error: BaseException) -> str:
    """An error of somebody else's code in one line: its type, its words, and the line that raised it."""
    words = f"{type(error).__name__}: {error}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<frozen")
    ]
    if isinstance(error, SyntaxError) or not frames:
        return words  # a syntax error names its place itself
    return f"{words} ({frames[-1].filename}, line {frames[-1].lineno})"

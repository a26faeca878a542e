"""Faults of the user's input, config or machine."""


class UserError(Exception):
    """Its message names what is wrong and what to do; programs print it without a traceback."""

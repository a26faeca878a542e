"""How figures are written: csv cells for machines, short forms for people."""

import numpy as np


def csv_accuracy(value: float | None) -> str:
    """Four decimals, empty for None."""
    return "" if value is None else f"{value:.4f}"


def csv_seconds(value: float | None) -> str:
    """Four significant digits without an exponent, empty for None."""
    if value is None:
        return ""
    return np.format_float_positional(value, precision=4, fractional=False, trim="-")


def short_accuracy(value: float | None) -> str:
    """Three decimals without the leading zero, as in the paper: `.428`."""
    return "" if value is None else f"{value:.3f}".removeprefix("0")


def short_seconds(value: float | None) -> str:
    """One decimal from a tenth of a second on, two significant digits below, `0` for exactly none."""
    if value is None:
        return ""
    if value >= 0.095:
        return f"{value:.1f}"
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")

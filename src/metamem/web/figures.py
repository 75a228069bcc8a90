"""Figures as people read them, the same on the page and on the screen."""


def percent(value: float) -> str:
    """A share as a percentage, without its sign for it."""
    return f"{_tenths(value):.1f}"


def points(value: float) -> str:
    """A difference of shares in percentage points."""
    return f"{_tenths(value):+.1f}"


def span(low: float, high: float) -> str:
    return f"{percent(low)} … {percent(high)}"


def gain_span(low: float, high: float) -> str:
    return f"{points(low)} … {points(high)}"


def chance(p: float) -> str:
    """A p-value."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def _tenths(value: float) -> float:
    return round(100 * value, 1) + 0.0  # there is no minus zero on a page

"""Shares and their differences, with intervals that never leave what is possible."""

import math

from metamem.core.errors import UsageError


def wilson_interval(share: float, n: int, errors: float) -> tuple[float, float]:
    """Of a share of n, or of a mean of n values between 0 and 1, `errors` standard errors to each side
    (Wilson's, after the score test): within 0 and 1, and no point where all agree."""
    if not 0.0 <= share <= 1.0 or n < 1:
        raise UsageError(f"{share} of {n} cannot be a share")
    square = errors * errors / n
    centre = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return max(0.0, centre - half), min(1.0, centre + half)


def difference_interval(
    one: tuple[float, int], other: tuple[float, int], errors: float
) -> tuple[float, float]:
    """Of one share less another, each with its n (Newcombe's, made of Wilson's): within -1 and 1."""
    (p, _), (q, _) = one, other
    low, high = wilson_interval(*one, errors)
    lower, upper = wilson_interval(*other, errors)
    difference = p - q
    return (
        max(-1.0, difference - math.hypot(p - low, upper - q)),
        min(1.0, difference + math.hypot(high - p, q - lower)),
    )

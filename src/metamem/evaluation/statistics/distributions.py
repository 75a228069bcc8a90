"""Normal and Student t distributions on the standard library alone."""

import math
from functools import lru_cache
from statistics import NormalDist

from metamem.core.errors import UsageError

_STANDARD = NormalDist()
_CONVERGED = 4e-16
_MOST_TERMS = 100_000
_MOST_STEPS = 5_000
_SMALLEST_TAIL = 1e-100


def normal_sf(z: float) -> float:
    """P(Z > z). Through erfc, so that far tails keep their digits."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def normal_cdf(z: float) -> float:
    return normal_sf(-z)


def normal_quantile(p: float) -> float:
    if not 0.0 < p < 1.0:
        raise UsageError(f"a quantile needs a probability between 0 and 1, not {p}")
    return _STANDARD.inv_cdf(p)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta integral, by Lentz's method."""
    tiny = 1e-300
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < _CONVERGED:
            break
    return value


def regularized_beta(a: float, b: float, x: float, y: float) -> float:
    """I_x(a, b), given x and y = 1 - x separately, so that neither loses digits."""
    if x <= 0.0:
        return 0.0
    if y <= 0.0:
        return 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y)
    )
    front = math.exp(log_front)
    # The fraction converges fast only on the near side of the mean; mirror it on the far side.
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, y) / b


def t_sf(t: float, df: float) -> float:
    """P(T > t) for Student's t with `df` degrees of freedom."""
    if not df > 0.0:
        raise UsageError(f"Student's t needs more than 0 degrees of freedom, not {df}")
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    square = t * t
    tail = 0.5 * regularized_beta(df / 2.0, 0.5, df / (df + square), square / (df + square))
    return tail if t >= 0.0 else 1.0 - tail


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The value that Student's t stays below with probability p."""
    if not 0.0 < p < 1.0:
        raise UsageError(f"a quantile needs a probability between 0 and 1, not {p}")
    if p == 0.5:
        return 0.0
    if p > 0.5:
        return -t_quantile(1.0 - p, df)
    if p < _SMALLEST_TAIL:
        raise UsageError(f"a tail of {p} is too small to mean anything")
    # Newton's method on the mirrored, positive quantile. The tail is convex there and the normal
    # quantile lies below the root, so the steps approach it from one side and never overshoot.
    log_scale = math.lgamma((df + 1.0) / 2.0) - math.lgamma(df / 2.0) - 0.5 * math.log(df * math.pi)
    t = -normal_quantile(p)
    for _ in range(_MOST_STEPS):
        density = math.exp(log_scale - (df + 1.0) / 2.0 * math.log1p(t * t / df))
        step = (t_sf(t, df) - p) / density
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return -t


def t_critical(level: float, df: float) -> float:
    """The value that Student's t exceeds with probability `level` (exact for tiny levels)."""
    return -t_quantile(level, df)

"""How far the mean may be off: t intervals, one-sided bounds, bootstrap over tasks."""

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.evaluation.statistics.distributions import normal_cdf, normal_quantile, t_critical
from metamem.evaluation.statistics.samples import Numbers, deviation, mean, numbers

BOOTSTRAP_DRAWS = 5_000


def _check(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"a confidence lies between 0 and 1, not at {confidence}")


def standard_error(values: Iterable[float]) -> float:
    given = numbers(values, least=2)
    return deviation(given) / math.sqrt(given.size)


def lower_bound(values: Iterable[float], level: float) -> float:
    """The true mean lies below this with probability `level` at most (Student's t)."""
    given = numbers(values, least=2)
    reach = t_critical(level, given.size - 1.0) * deviation(given) / math.sqrt(given.size)
    return mean(given) - reach


def upper_bound(values: Iterable[float], level: float) -> float:
    return -lower_bound([-v for v in values], level)


def t_interval(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float]:
    """Shrinks to one point where all values agree."""
    _check(confidence)
    given = numbers(values, least=2).tolist()
    tail = (1.0 - confidence) / 2.0
    return lower_bound(given, tail), upper_bound(given, tail)


def _resampled_means(given: Numbers, seed: int, draws: int) -> Numbers:
    generator = np.random.default_rng(derive_seed("bootstrap", seed))
    ordered = np.sort(given)  # the order of tasks changes nothing
    means = np.empty(draws)
    batch = max(1, 1_000_000 // ordered.size)
    for start in range(0, draws, batch):
        stop = min(draws, start + batch)
        picks = generator.integers(0, ordered.size, size=(stop - start, ordered.size))
        means[start:stop] = ordered[picks].mean(axis=1)
    return means


def _bca_levels(given: Numbers, means: Numbers, tails: tuple[float, float]) -> tuple[float, ...]:
    """The percentiles to read instead, corrected for bias and skew (Efron's BCa)."""
    centre = mean(given)
    below = float(np.count_nonzero(means < centre) + 0.5 * np.count_nonzero(means == centre))
    bias = normal_quantile(min(max(below, 0.5), means.size - 0.5) / means.size)
    centred = given - centre
    skew = float((centred**3).sum()) / (6.0 * float((centred**2).sum()) ** 1.5)
    levels = []
    for tail in tails:
        shifted = bias + normal_quantile(tail)
        levels.append(normal_cdf(bias + shifted / (1.0 - skew * shifted)))
    return tuple(levels)


def bootstrap_interval(
    values: Iterable[float],
    *,
    confidence: float = 0.95,
    method: Literal["percentile", "bca"] = "bca",
    seed: int = 0,
    draws: int = BOOTSTRAP_DRAWS,
) -> tuple[float, float]:
    """An interval for the mean by resampling tasks. Shrinks to one point where all agree."""
    _check(confidence)
    given = numbers(values, least=2)
    if deviation(given) == 0.0:
        return mean(given), mean(given)
    means = _resampled_means(given, seed, draws)
    tails: tuple[float, ...] = ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0)
    if method == "bca":
        tails = _bca_levels(given, means, (tails[0], tails[1]))
    low, high = np.quantile(means, tails)
    return float(low), float(high)

"""How large a difference is, and how many tasks it takes to see one that large."""

import math
from collections.abc import Iterable

import numpy as np

from metamem.core.errors import UsageError
from metamem.evaluation.statistics.distributions import normal_quantile, t_critical
from metamem.evaluation.statistics.samples import DUST, deviation, mean, numbers

_ABOUT_NORMAL = 10_000  # tasks beyond which Student's t and the normal curve ask for the same


def cohens_d(differences: Iterable[float]) -> float | None:
    """Mean difference in units of the differences' spread; None where they have none."""
    given = numbers(differences, least=2)
    spread = deviation(given)
    if spread == 0.0:
        return 0.0 if abs(mean(given)) <= DUST else None
    return mean(given) / spread


def hedges_g(differences: Iterable[float]) -> float | None:
    """Cohen's d without its upward bias in small samples."""
    given = numbers(differences, least=2)
    d = cohens_d(given.tolist())
    df = given.size - 1
    if d is None or df < 2:  # the correction tends to 0 at one degree of freedom: no estimate
        return d
    log_ratio = math.lgamma(df / 2) - math.lgamma((df - 1) / 2)
    return d * math.exp(log_ratio) / math.sqrt(df / 2)


def superiority(differences: Iterable[float]) -> float:
    """The share of tasks won, ties counting half."""
    given = numbers(differences)
    wins = np.count_nonzero(given > DUST)
    ties = np.count_nonzero(np.abs(given) <= DUST)
    return float(wins + 0.5 * ties) / given.size


def tasks_needed(
    effect: float, sd: float, alpha: float = 0.05, power: float = 0.8, *, one_sided: bool = False
) -> int:
    """How many tasks a paired t test needs to see `effect` with the given power.

    `sd` is the standard deviation of the per-task differences.
    """
    if effect == 0.0 or not math.isfinite(effect):
        raise UsageError("no number of tasks can show a difference of nothing", hint="effect != 0")
    if sd < 0.0 or not math.isfinite(sd):
        raise UsageError(f"a standard deviation is 0 or more, not {sd}")
    if not (0.0 < alpha < 1.0 and 0.0 < power < 1.0):
        raise UsageError("alpha and power lie between 0 and 1")
    tail = alpha if one_sided else alpha / 2.0

    def enough(n: int) -> bool:
        return math.sqrt(n) * abs(effect) >= reach(n - 1.0, alpha, power, one_sided=one_sided) * sd

    # The normal curve asks for a few tasks less than Student's t; count up from there.
    at_least = -normal_quantile(tail) - normal_quantile(1.0 - power)
    n = max(2, math.ceil((at_least * sd / effect) ** 2))
    while n < _ABOUT_NORMAL and not enough(n):
        n += 1
    return n


def detectable(
    n: int, sd: float, alpha: float = 0.05, power: float = 0.8, *, one_sided: bool = False
) -> float:
    """The least mean difference that a paired t test on `n` tasks sees with the given power."""
    if n < 2:
        raise UsageError(f"{n} tasks can show no difference, whatever its size")
    if sd < 0.0 or not math.isfinite(sd):
        raise UsageError(f"a standard deviation is 0 or more, not {sd}")
    return reach(n - 1.0, alpha, power, one_sided=one_sided) * sd / math.sqrt(n)


def reach(df: float, alpha: float, power: float, *, one_sided: bool) -> float:
    """How many standard errors an effect must measure to be seen with the given power."""
    if not (0.0 < alpha < 1.0 and 0.0 < power < 1.0):
        raise UsageError("alpha and power lie between 0 and 1")
    tail = alpha if one_sided else alpha / 2.0
    return t_critical(tail, df) + t_critical(1.0 - power, df)


def power_hint(n: int, gain: float, sd: float, alpha: float = 0.05, power: float = 0.8) -> str:
    """One sentence on whether so many tasks could have shown a difference of this size."""
    if abs(gain) <= DUST:
        return f"no difference over {n} tasks; no number of tasks shows a difference of nothing"
    needed = tasks_needed(gain, sd, alpha, power)
    if needed > n:
        return f"you need about {needed} tasks to see a difference of {gain:+.3f} (here: {n})"
    return f"{n} tasks are enough to see a difference of {gain:+.3f} (about {needed} needed)"

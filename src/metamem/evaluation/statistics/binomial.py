"""Exact statements about a share, from successes and failures."""

from metamem.core.errors import UsageError
from metamem.evaluation.statistics.distributions import regularized_beta

_HALVINGS = 60  # of the interval in which the bound lies: beyond what a float can tell apart


def binomial_tail(successes: int, trials: int, share: float) -> float:
    """P(at least so many successes) where each trial succeeds with probability `share`."""
    _check(successes, trials)
    if successes == 0:
        return 1.0
    return regularized_beta(successes, trials - successes + 1.0, share, 1.0 - share)


def binomial_lower_bound(successes: int, trials: int, level: float) -> float:
    """The true share lies below this with probability `level` at most (Clopper and Pearson)."""
    _check(successes, trials)
    if not 0.0 < level < 1.0:
        raise UsageError(f"a level lies between 0 and 1, not at {level}")
    if successes == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if binomial_tail(successes, trials, middle) <= level:
            low = middle
        else:
            high = middle
    return low


def _check(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials or trials < 1:
        raise UsageError(f"{successes} successes of {trials} trials cannot be")

"""For figures that cannot be paired (published means), and for many p-values at once."""

import math
from collections.abc import Iterable, Sequence

from metamem.core.errors import UsageError
from metamem.evaluation.statistics.distributions import t_sf
from metamem.evaluation.statistics.intervals import standard_error
from metamem.evaluation.statistics.samples import Side, Significance, mean, numbers, two_sided


def welch_from_summary(
    mean_a: float,
    se_a: float,
    n_a: int,
    mean_b: float,
    se_b: float,
    n_b: int,
    *,
    side: Side = "two-sided",
) -> Significance:
    """Welch's t test of a against b from means, standard errors and group sizes.

    A ratio of the same size read off the normal curve (a "z test") is wrong for few groups: it
    takes the standard errors as known, although they were estimated from those few.
    """
    if n_a < 2 or n_b < 2:
        raise UsageError("Welch's test needs two values in each group")
    if not all(math.isfinite(v) for v in (mean_a, se_a, mean_b, se_b)) or min(se_a, se_b) < 0.0:
        raise UsageError("Welch's test needs finite means and standard errors of 0 or more")
    part_a, part_b = se_a**2, se_b**2
    if part_a + part_b == 0.0:
        raise UsageError("Welch's test needs some spread in at least one group")
    t = (mean_a - mean_b) / math.sqrt(part_a + part_b)
    df = (part_a + part_b) ** 2 / (part_a**2 / (n_a - 1) + part_b**2 / (n_b - 1))
    if side == "two-sided":
        p = two_sided(t_sf(abs(t), df))
    else:
        p = t_sf(t if side == "greater" else -t, df)
    return Significance(t, p, "welch", df)


def welch(a: Iterable[float], b: Iterable[float], *, side: Side = "two-sided") -> Significance:
    group_a, group_b = numbers(a, least=2), numbers(b, least=2)
    return welch_from_summary(
        mean(group_a),
        standard_error(group_a.tolist()),
        group_a.size,
        mean(group_b),
        standard_error(group_b.tolist()),
        group_b.size,
        side=side,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given: reject where they are at most the level."""
    if any(not 0.0 <= p <= 1.0 for p in p_values):
        raise UsageError("a p-value lies between 0 and 1")
    adjusted = [0.0] * len(p_values)
    so_far = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: (p_values[i], i))):
        so_far = max(so_far, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = so_far
    return adjusted

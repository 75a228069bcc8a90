"""Tests of paired differences: is the mean difference of the tasks more than luck?

All take one difference per task. `greater` asks whether the differences lean above zero.
"""

import math
import sys
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from metamem.core.ids import derive_seed
from metamem.evaluation.statistics.distributions import normal_sf, t_sf
from metamem.evaluation.statistics.samples import (
    DUST,
    Numbers,
    Side,
    Significance,
    deviation,
    mean,
    numbers,
    two_sided,
)

MONTE_CARLO_DRAWS = 20_000
_EXACT_WORK = 20_000_000  # additions that an exact distribution may cost
_ENUMERATED = 18  # differences whose 2**n sign patterns are listed one by one
_LARGEST_SCALE = 10_000  # rewards counted in parts finer than this are not treated as integers

Integers = npt.NDArray[np.int64]


def _as_integers(differences: Numbers) -> Integers | None:
    """The differences in units of their common fraction (1/3 for three repeats), if any."""
    scale = 1
    for value in np.unique(np.abs(differences)).tolist():
        scale = math.lcm(scale, Fraction(value).limit_denominator(1000).denominator)
        if scale > _LARGEST_SCALE:
            return None
    scaled = differences * scale
    rounded = np.rint(scaled)
    if float(np.abs(scaled - rounded).max()) > 1e-9 or not rounded.all():
        return None
    if float(np.abs(rounded).sum()) * differences.size > _EXACT_WORK:
        return None
    whole = rounded.astype(np.int64)
    return whole // int(np.gcd.reduce(whole))


def _exact_upper_tail(sizes: Integers, observed: int) -> float:
    """P(sum of randomly signed sizes >= observed), from the whole distribution of the sum."""
    chances = np.ones(1)
    for size in sizes.tolist():  # chances[j]: the sizes with a plus sign add up to j
        longer = np.zeros(chances.size + size)
        longer[: chances.size] += chances
        longer[size:] += chances
        chances = 0.5 * longer
    plus = (int(sizes.sum()) + observed) // 2
    tail = math.fsum(chances[max(plus, 0) :].tolist())
    return min(1.0, max(tail, sys.float_info.min))


def _enumerated_upper_tail(sizes: Numbers, observed: float) -> float:
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate((sums + size, sums - size))
    slack = 1e-9 * float(sizes.sum())
    return float(np.count_nonzero(sums >= observed - slack)) / sums.size


def _sampled_upper_tail(sizes: Numbers, observed: float, seed: int, draws: int) -> float:
    """Seeded random signs. The +1 counts the observed signs themselves: never below 1/(draws+1)."""
    generator = np.random.default_rng(derive_seed("sign-flip", seed))
    slack = 1e-9 * float(sizes.sum())
    reached, left = 0, draws
    while left:
        batch = min(left, max(1, 1_000_000 // sizes.size))
        signs = generator.integers(0, 2, size=(batch, sizes.size), dtype=np.int8) * 2.0 - 1.0
        reached += int(np.count_nonzero(signs @ sizes >= observed - slack))
        left -= batch
    return (reached + 1) / (draws + 1)


def sign_flip(
    differences: Iterable[float],
    *,
    side: Side = "two-sided",
    seed: int = 0,
    draws: int = MONTE_CARLO_DRAWS,
) -> Significance:
    """Permutation test: were the two designs alike, each difference might as well be negative.

    Exact wherever the differences are multiples of a common fraction (wins and losses, means of
    repeats) or few; otherwise sampled. Needs no assumption on the shape of rewards.
    """
    given = numbers(differences)
    moved = given[np.abs(given) > DUST]
    statistic = mean(given)
    if moved.size == 0:
        return Significance(0.0, 1.0, "exact")
    # Flipping every sign mirrors the distribution, so that one upper tail serves all sides.
    turned = moved if side == "greater" or (side == "two-sided" and statistic >= 0) else -moved
    sizes = np.sort(np.abs(turned))  # sorted: the order of tasks changes nothing
    whole = _as_integers(turned)
    if whole is not None:
        tail, method = _exact_upper_tail(np.sort(np.abs(whole)), int(whole.sum())), "exact"
    elif moved.size <= _ENUMERATED:
        tail, method = _enumerated_upper_tail(sizes, math.fsum(turned.tolist())), "exact"
    else:
        observed = math.fsum(turned.tolist())
        tail, method = _sampled_upper_tail(sizes, observed, seed, draws), "monte carlo"
    return Significance(statistic, two_sided(tail) if side == "two-sided" else tail, method)


def _doubled_ranks(sizes: Numbers) -> Integers:
    """Ranks times two: ties share their average rank, which may be a half."""
    rounded = np.round(sizes / sizes.max(), 12)
    _, group, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Integers = (2 * last - counts + 1)[group].astype(np.int64)
    return ranks


def wilcoxon(differences: Iterable[float], *, side: Side = "two-sided") -> Significance:
    """Wilcoxon's signed-rank test; zero differences are left out. The statistic is W+.

    Exact, ties and all, up to some 270 differences; beyond that the normal approximation with
    tie and continuity corrections.
    """
    given = numbers(differences)
    moved = given[np.abs(given) > DUST]
    if moved.size == 0:
        return Significance(0.0, 1.0, "exact")
    ranks = _doubled_ranks(np.abs(moved))
    signed = int((ranks * np.sign(moved).astype(np.int64)).sum())
    positive = float(ranks[moved > 0].sum()) / 2.0
    excess = signed if side == "greater" or (side == "two-sided" and signed >= 0) else -signed
    if int(ranks.sum()) * ranks.size <= _EXACT_WORK:
        tail, method = _exact_upper_tail(np.sort(ranks), excess), "exact"
    else:
        # The doubled signed sum has mean 0 and variance sum(ranks**2). W+ moves in steps of 1,
        # this sum in steps of 4, so the continuity correction of 1/2 becomes 2.
        spread = math.sqrt(float((ranks.astype(np.float64) ** 2).sum()))
        tail, method = normal_sf((excess - 2.0) / spread), "normal"
    return Significance(positive, two_sided(tail) if side == "two-sided" else tail, method)


def paired_t(differences: Iterable[float], *, side: Side = "two-sided") -> Significance:
    """Student's t test of the mean difference.

    Where all differences agree there is no spread to measure by: the sign-flip test, which needs
    none, answers in its place, and the method says so.
    """
    given = numbers(differences, least=2)
    spread = deviation(given)
    if spread == 0.0:
        answer = sign_flip(given.tolist(), side=side)
        return Significance(answer.statistic, answer.p, "no spread: sign-flip", None)
    t = mean(given) / (spread / math.sqrt(given.size))
    df = float(given.size - 1)
    if side == "two-sided":
        p = two_sided(t_sf(abs(t), df))
    else:
        p = t_sf(t if side == "greater" else -t, df)
    return Significance(t, p, "t", df)

"""How often steps would follow each other by chance, in two ways in which chance may deal them.

- *Over all sessions*: every session keeps how much was done in it, and what was done is dealt anew to all of
  them. It tells that steps come together. The expected number of places of a pattern is known exactly, and
  their number is close to a Poisson distribution.
- *Within each session*: what was done in it is put into another order. It tells that steps keep their order,
  where all sessions have them. The probability that one session has a pattern is at most the expected number
  of its places; sessions are independent.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

_EXACT = 400  # sessions up to which a sum of coin throws is computed exactly


def dealt(pattern: Sequence[int], counts: Mapping[int, int], total: int) -> float:
    """The probability that so many given places hold the pattern's items, in their order."""
    chance = 1.0
    left: dict[int, int] = {}
    for drawn, item in enumerate(pattern):
        left.setdefault(item, counts.get(item, 0))
        if left[item] <= 0 or drawn >= total:
            return 0.0
        chance *= left[item] / (total - drawn)
        left[item] -= 1
    return chance


def tail(mean: float, times: int) -> float:
    """At most how probable so many are, where so many are expected."""
    if times <= mean:
        return 1.0
    if mean <= 0.0:
        return 0.0
    # Of a Poisson distribution: its first term, and what all further ones add at most.
    first = math.exp(times * math.log(mean) - mean - math.lgamma(times + 1))
    return min(1.0, first / (1.0 - mean / (times + 1)))


def in_order(pattern: Sequence[int], counts: Mapping[int, int], length: int, gap: int) -> float:
    """At most how probable it is that a random order of a session's items holds the pattern."""
    return min(1.0, dealt(pattern, counts, length) * places(length, len(pattern), gap))


def at_least(times: int, chances: Sequence[float]) -> float:
    """At most how probable so many successes are, each with a chance of its own."""
    if times <= 0:
        return 1.0
    if times > len(chances):
        return 0.0
    if len(chances) > _EXACT:
        return _chernoff(sum(chances), times)
    fewer = [1.0] + [0.0] * (times - 1)  # the probability of 0, 1, … successes so far
    reached = 0.0
    for chance in chances:
        reached += fewer[-1] * chance
        for at in range(times - 1, 0, -1):
            fewer[at] = fewer[at] * (1 - chance) + fewer[at - 1] * chance
        fewer[0] *= 1 - chance
    return reached


def _chernoff(mean: float, times: int) -> float:
    if times <= mean:
        return 1.0
    return math.exp(times - mean - times * math.log(times / mean)) if mean else 0.0


@lru_cache(maxsize=65_536)
def places(length: int, steps: int, gap: int) -> int:
    """Ways to put steps on a line in order, with at most `gap` others between neighbours."""
    ways = [1] * length
    for _ in range(steps - 1):
        sums = [0]
        for way in ways:
            sums.append(sums[-1] + way)
        ways = [sums[at] - sums[max(0, at - gap - 1)] for at in range(length)]
    return sum(ways)

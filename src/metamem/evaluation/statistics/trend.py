"""Does something grow along streams? One slope for all of them, each with a level of its own.

A stream is what was seen in an order, such as the gains on a project's bugs as they came. Streams may
differ in level; what is common to them is how much one place later is worth. The interval is Student's
t with errors that may differ from place to place (HC3); the test deals the values of every stream out
anew over its places, which is exact where order means nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.evaluation.statistics.distributions import t_critical
from metamem.evaluation.statistics.samples import DUST, Numbers, numbers

DRAWS = 20_000
FEWEST = 3  # places of a stream: two always lie on a line


@dataclass(frozen=True, slots=True)
class Trend:
    """How much each place later in a stream is worth."""

    n: int
    slope: float
    se: float
    low: float
    high: float
    confidence: float  # of the interval from low to high
    lower_bound: float  # the true slope lies below with probability `level` at most
    level: float
    p: float  # one-sided: dealt out anew, the slope is as steep or steeper
    by_stream: Mapping[str, float]  # the slope of each alone
    note: str = ""  # what a reader must know before believing the figures


def trend(
    streams: Mapping[str, Sequence[float]],
    level: float = 0.05,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> Trend:
    """The slope that all streams have in common; each one's values stand in their order."""
    given = {name: numbers(values) for name, values in sorted(streams.items())}
    if not given:
        raise UsageError("a trend needs a stream")
    for name, values in given.items():
        if values.size < FEWEST:
            raise UsageError(f"a trend needs {FEWEST} places in a stream; {name} has {values.size}")
    places = {name: _places(values.size) for name, values in given.items()}
    at = np.concatenate([places[name] for name in given])
    seen = np.concatenate([values - values.mean() for values in given.values()])
    spread = float(at @ at)
    slope = float(at @ seen) / spread
    own = np.concatenate([np.full(values.size, 1.0 / values.size) for values in given.values()])
    off = seen - slope * at
    se = math.sqrt(float((at**2 * (off / (1.0 - own - at**2 / spread)) ** 2).sum())) / spread
    df = float(at.size - len(given) - 1)
    half = t_critical((1.0 - confidence) / 2.0, df) * se
    flat = float(np.abs(seen).max()) <= DUST
    return Trend(
        n=at.size,
        slope=0.0 if flat else slope,
        se=se,
        low=slope - half,
        high=slope + half,
        confidence=confidence,
        lower_bound=slope - t_critical(level, df) * se,
        level=level,
        p=1.0 if flat else _dealt_anew(given, places, float(at @ seen), seed, draws),
        by_stream={
            n: float(places[n] @ v) / float(places[n] @ places[n]) for n, v in given.items()
        },
        note="nothing changed along any stream: there is nothing to tell apart" if flat else "",
    )


def places_spread(lengths: Sequence[int]) -> float:
    """How far the places of such streams lie apart, squared and summed: what the error of a slope
    is divided by, once its root is taken."""
    return math.fsum(length * (length**2 - 1) / 12.0 for length in lengths)


def _places(length: int) -> Numbers:
    return np.arange(length, dtype=np.float64) - (length - 1) / 2.0


def _dealt_anew(
    streams: Mapping[str, Numbers],
    places: Mapping[str, Numbers],
    observed: float,
    seed: int,
    draws: int,
) -> float:
    """The +1 counts the order that was seen itself: never below 1/(draws+1)."""
    generator = np.random.default_rng(derive_seed("trend", seed))
    sums = np.zeros(draws)
    for name, values in streams.items():
        dealt = generator.permuted(np.tile(values, (draws, 1)), axis=1)
        sums += dealt @ places[name]
    slack = 1e-9 * max(1.0, abs(observed))
    return (1.0 + float(np.count_nonzero(sums >= observed - slack))) / (draws + 1.0)

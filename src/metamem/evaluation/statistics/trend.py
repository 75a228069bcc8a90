"""Does something grow along streams, from their first place to their last?

A stream is what was seen in an order, such as the gains on a project's bugs as they came. Streams may
differ in level; what is asked of them is how much their last place is worth more than their first, along
a straight line.

The stream is the unit. What comes one after another in a stream is alike (a hard stretch, an easy one),
and one stream may rise where another falls; so many places of few streams are no evidence of as many. A
t test of how each stream leans knows neither how its places hang together nor how far streams differ, and
holds its level whatever these are, if streams are independent and lean to neither side by themselves
(Ibragimov and Müller 2010). But few streams may happen to agree more than their places allow. So a second
test deals the values of every stream out anew over its places, and bounds and intervals are no narrower than the
values' distances from their lines make them: of both, whatever says less is what counts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.evaluation.statistics.distributions import t_critical
from metamem.evaluation.statistics.paired import paired_t
from metamem.evaluation.statistics.samples import DUST, Numbers, numbers

DRAWS = 20_000
FEWEST = 3  # places of a stream: two always lie on a line
STREAMS = 2  # fewest: one says nothing of how far streams differ


@dataclass(frozen=True, slots=True)
class Trend:
    """How much the last place of a stream is worth more than its first."""

    n: int
    rise: float
    se: float
    low: float
    high: float
    confidence: float  # of the interval from low to high
    lower_bound: float  # the true rise lies below with probability `level` at most
    level: float
    p: float  # one-sided, the larger of the two below
    p_streams: float  # by streams: they lean to neither side
    p_dealt: float  # dealt out anew, they rise as much or more
    by_stream: Mapping[str, float]  # the rise of each alone
    note: str = ""  # what a reader must know before believing the figures


def trend(
    streams: Mapping[str, Sequence[float]],
    level: float = 0.05,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> Trend:
    """What is common to all streams; each one's values stand in their order.

    A stream counts by the root of how sure a line through it is, so that long ones count for more and none
    for nearly all.
    """
    given = {name: numbers(values) for name, values in sorted(streams.items())}
    if len(given) < STREAMS:
        raise UsageError(
            f"a trend needs {STREAMS} streams, not {len(given)}: the stream is its unit"
        )
    for name, values in given.items():
        if values.size < FEWEST:
            raise UsageError(f"a trend needs {FEWEST} places in a stream; {name} has {values.size}")
    places = {name: _places(values.size) for name, values in given.items()}
    roots = np.array([math.sqrt(float(at @ at)) for at in places.values()])
    leans = np.array([float(places[name] @ v) for name, v in given.items()]) / roots
    counts = np.array([_count(values.size) for values in given.values()])
    rise, df = float(leans.sum() / counts.sum()), len(given) - 1.0
    off = float(((leans - rise * counts) ** 2).sum()) * len(given) / df
    lines = [
        _off_line(v, places[n], lean) for (n, v), lean in zip(given.items(), leans, strict=True)
    ]
    errors = {  # by degrees of freedom
        df: math.sqrt(off) / float(counts.sum()),
        float(sum(v.size - 2 for v in given.values())): math.sqrt(sum(lines)) / float(counts.sum()),
    }

    def reach(tail: float) -> float:
        return max(t_critical(tail, df) * se for df, se in errors.items())

    half = reach((1.0 - confidence) / 2.0)
    flat = all(float(np.abs(values - values.mean()).max()) <= DUST for values in given.values())
    by_streams = 1.0 if flat else paired_t(leans.tolist(), side="greater").p
    dealt = 1.0 if flat else _dealt_anew(given, places, roots.tolist(), seed, draws)
    return Trend(
        n=sum(values.size for values in given.values()),
        rise=0.0 if flat else rise,
        se=max(errors.values()),
        low=rise - half,
        high=rise + half,
        confidence=confidence,
        lower_bound=rise - reach(level),
        level=level,
        p=max(by_streams, dealt),
        p_streams=by_streams,
        p_dealt=dealt,
        by_stream=dict(zip(given, (leans / counts).tolist(), strict=True)),
        note="nothing changed along any stream: there is nothing to tell apart" if flat else "",
    )


def rise_error(lengths: Sequence[int], spread: float) -> float:
    """The standard error of a rise along streams of such lengths whose values spread so much and hang
    together no further."""
    return spread * math.sqrt(len(lengths)) / math.fsum(map(_count, lengths))


def _count(length: int) -> float:
    """What a stream's rise counts: one by the error of a line through it, its first place to its last."""
    return math.sqrt(length * (length + 1) / (12.0 * (length - 1)))


def _off_line(values: Numbers, places: Numbers, lean: float) -> float:
    """The variance of a stream's values around a line of their own, which is that of its lean."""
    left = float(((values - values.mean()) ** 2).sum()) - lean**2
    return max(left, 0.0) / (values.size - 2)


def _places(length: int) -> Numbers:
    return np.arange(length, dtype=np.float64) - (length - 1) / 2.0


def _dealt_anew(
    streams: Mapping[str, Numbers],
    places: Mapping[str, Numbers],
    roots: Sequence[float],
    seed: int,
    draws: int,
) -> float:
    """The +1 counts the order that was seen itself: never below 1/(draws+1)."""
    generator = np.random.default_rng(derive_seed("trend", seed))
    sums, observed = np.zeros(draws), 0.0
    for (name, values), root in zip(streams.items(), roots, strict=True):
        dealt = generator.permuted(np.tile(values, (draws, 1)), axis=1)
        sums += dealt @ places[name] / root
        observed += float(values @ places[name]) / root
    slack = 1e-9 * max(1.0, abs(observed))
    return (1.0 + float(np.count_nonzero(sums >= observed - slack))) / (draws + 1.0)

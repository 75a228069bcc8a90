"""One design against another on the same tasks: all that a report needs to say."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from metamem.core.errors import UsageError
from metamem.core.stored import restored
from metamem.evaluation.statistics.effects import hedges_g, power_hint, superiority
from metamem.evaluation.statistics.intervals import t_interval
from metamem.evaluation.statistics.paired import paired_t, sign_flip
from metamem.evaluation.statistics.samples import DUST, deviation, mean, numbers
from metamem.evaluation.statistics.unpaired import holm

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a` against `b`, paired by task. A positive gain says that `a` did better."""

    n: int
    mean_a: float
    mean_b: float
    gain: float
    se: float  # of the gain
    low: float
    high: float
    confidence: float  # of the interval from low to high
    p_permutation: float  # two-sided sign-flip test: the p-value to quote
    permutation_method: str
    p_t: float
    effect_size: float | None  # Hedges' g of the differences; None where they have no spread
    superiority: float  # share of tasks won, ties counting half
    power_hint: str
    note: str = ""  # what a reader must know before believing the figures

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class HolmComparison(Comparison):
    """One of several that were made together."""

    p_holm: float  # `p_permutation`, corrected for all of them: where there are several, quote it

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "HolmComparison":
        return restored(HolmComparison, data)


def holm_corrected(comparisons: Mapping[Name, Comparison]) -> dict[Name, HolmComparison]:
    """All comparisons of one table, which share the chance of an error."""
    corrected = holm([found.p_permutation for found in comparisons.values()])
    return {
        name: HolmComparison(**found.to_json(), p_holm=p)
        for (name, found), p in zip(comparisons.items(), corrected, strict=True)
    }


def paired_differences(a: Mapping[str, float], b: Mapping[str, float]) -> list[float]:
    """a - b for each task, in task order. Refuses sets of tasks that do not match."""
    if a.keys() != b.keys():
        odd = sorted(a.keys() ^ b.keys())
        raise UsageError(
            f"the two evaluations do not share all tasks: {len(odd)} are in only one of them "
            f"(such as {odd[0]!r})",
            hint="compare evaluations of equal fingerprints, both complete",
        )
    if len(a) < 2:
        raise UsageError(f"a paired comparison needs at least 2 tasks, got {len(a)}")
    ours, theirs = (numbers([side[task] for task in sorted(side)]) for side in (a, b))
    return [0.0 if abs(d) <= DUST else d for d in (ours - theirs).tolist()]


def _note(n: int, spread: float, gain: float) -> str:
    if spread == 0.0 and abs(gain) <= DUST:
        return "the two did equally well on every task"
    if spread == 0.0:
        return (
            "every task changed by the same amount: the interval shrinks to a point, there is no "
            "effect size, and the sign-flip test stands in for the t test"
        )
    if n < 30:
        return f"only {n} tasks: quote the permutation test, the t interval is approximate"
    return ""


def paired_comparison(
    a: Mapping[str, float], b: Mapping[str, float], seed: int = 0, *, confidence: float = 0.95
) -> Comparison:
    """Compare per-task rewards of two designs. The seed matters only where the test samples."""
    differences = paired_differences(a, b)
    given = numbers(differences)
    n, gain, spread = given.size, mean(given), deviation(given)
    low, high = t_interval(differences, confidence)
    permutation = sign_flip(differences, seed=seed)
    return Comparison(
        n=n,
        mean_a=mean(numbers(a.values())),
        mean_b=mean(numbers(b.values())),
        gain=gain,
        se=spread / math.sqrt(n),
        low=low,
        high=high,
        confidence=confidence,
        p_permutation=permutation.p,
        permutation_method=permutation.method,
        p_t=paired_t(differences).p,
        effect_size=hedges_g(differences),
        superiority=superiority(differences),
        power_hint=power_hint(n, gain, spread),
        note=_note(n, spread, gain),
    )

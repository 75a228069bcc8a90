"""Off-policy estimates: the mean reward that a policy would have had, had it drawn the arms.

A decision that the policy would have made more often than it was made counts more, one that it would have
made less often counts less: its weight is the one propensity divided by the other. So a log without
propensities says nothing, and one in which an arm could not be drawn says nothing of that arm.

- `ips`, inverse propensity scores: the mean of weight times reward. Unbiased, and wild where weights are.
- `snips`, self-normalised: divided by the mean weight. A little biased, much calmer.
- `doubly_robust`: what a model predicts, and its errors weighed as above. Unbiased whatever the model,
  and the calmer the better the model is.

Intervals are Student's t of the decisions' terms (for `snips` of its linearised ones).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metamem.core.amounts import many
from metamem.core.errors import UsageError
from metamem.evaluation.statistics import lower_bound, standard_error, t_interval
from metamem.evaluation.statistics.samples import Numbers, mean, numbers

Odds = Mapping[str, float]  # of every arm that could be drawn, by name
FEW = 30  # decisions' worth of weight below which an interval is not to be trusted
_SLACK = 1e-6  # that odds may miss one by
_RAREST = 1e-9  # propensity of what was drawn: of anything rarer, one decision would count for all
_MOST = 1e100  # of a reward: squares of it are numbers, too


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of a log: how likely each arm was, which was drawn, and what it brought."""

    odds: Odds
    arm: str
    reward: float
    where: str = ""  # as a reader of the log finds it; else its number says so

    @property
    def propensity(self) -> float:
        return self.odds[self.arm]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a policy would have been worth on average."""

    method: str
    value: float
    low: float
    high: float
    confidence: float
    n: int
    effective: float  # decisions of equal weight that would say as much
    largest: float  # weight of a single decision, as a share of all
    note: str = ""  # what a reader must know before believing the figures


def ips(log: Sequence[Decided], policy: Sequence[Odds], confidence: float = 0.95) -> Estimate:
    weights, rewards = _weighed(log, policy)
    return _told("ips", weights * rewards, weights, confidence)


def snips(log: Sequence[Decided], policy: Sequence[Odds], confidence: float = 0.95) -> Estimate:
    weights, rewards = _weighed(log, policy)
    average = mean(weights)
    if average <= 0.0:
        raise UsageError("the policy draws none of the arms that were drawn: nothing can be said")
    value = mean(weights * rewards) / average
    # The derivative of the ratio: how much each decision moves it.
    return _told("snips", value + weights * (rewards - value) / average, weights, confidence)


def doubly_robust(
    log: Sequence[Decided],
    policy: Sequence[Odds],
    predicted: Sequence[Mapping[str, float]],
    confidence: float = 0.95,
) -> Estimate:
    """`predicted` is what each arm was expected to bring, by a model that has not seen the rewards."""
    weights, _ = _weighed(log, policy)
    return _told("doubly robust", _robust(log, policy, predicted), weights, confidence)


def difference(
    log: Sequence[Decided],
    policy: Sequence[Odds],
    rival: Sequence[Odds],
    predicted: Sequence[Mapping[str, float]],
    level: float = 0.05,
) -> tuple[Estimate, float]:
    """How much better a policy is than a rival (doubly robust, paired by decision), and the bound that
    the true difference lies below with probability `level` at most."""
    weights = np.maximum(_weighed(log, policy)[0], _weighed(log, rival)[0])
    terms = _robust(log, policy, predicted) - _robust(log, rival, predicted)
    found = _told("doubly robust", terms, weights, 1.0 - level)
    return found, lower_bound(terms.tolist(), level)


def refuse(log: Sequence[Decided]) -> None:
    """`UsageError` where a log cannot be judged by, in words that say what it lacks."""
    if len(log) < 2:
        raise UsageError(f"a log of {many(len(log), 'decision')} with an outcome says nothing")
    for number, decided in enumerate(log, 1):
        where = decided.where or f"decision {number} of the log"
        if not math.isfinite(decided.reward):
            raise UsageError(f"{where} has the reward {decided.reward}: it must be a finite number")
        if abs(decided.reward) > _MOST:
            raise UsageError(
                f"{where} has the reward {decided.reward:g}: that is too large to judge by"
            )
        if not decided.odds or decided.arm not in decided.odds:
            raise UsageError(
                f"{where} has no propensity for the arm that was drawn",
                hint="without propensities nobody can say what another policy would have brought:"
                " log the odds with every decision",
            )
        if any(not math.isfinite(p) or not 0.0 <= p <= 1.0 for p in decided.odds.values()):
            raise UsageError(f"{where} has propensities that are none: {dict(decided.odds)}")
        if decided.propensity <= 0.0:
            raise UsageError(
                f"{where} drew {decided.arm!r} with a propensity of 0, which cannot be",
                hint="log the probability with which the arm was really drawn",
            )
        if decided.propensity < _RAREST:
            raise UsageError(
                f"{where} drew {decided.arm!r} with a propensity of {decided.propensity:g}: that one"
                " decision would count for all others",
                hint=f"nothing can be judged by what is drawn less often than {_RAREST:g}",
            )
        if abs(math.fsum(decided.odds.values()) - 1.0) > _SLACK:
            raise UsageError(f"{where}: the propensities of all arms do not add up to one")
    if len({decided.arm for decided in log}) < 2:
        raise UsageError(
            f"only one arm, {log[0].arm!r}, was ever drawn: nothing can be said of another",
            hint="allow two arms or more, and leave the floor above zero",
        )


def _weighed(log: Sequence[Decided], policy: Sequence[Odds]) -> tuple[Numbers, Numbers]:
    """The weight and the reward of every decision."""
    refuse(log)
    if len(policy) != len(log):
        raise UsageError(f"{len(policy)} decisions of the policy for {len(log)} of the log")
    weights = []
    for number, (decided, odds) in enumerate(zip(log, policy, strict=True), 1):
        if (
            any(not math.isfinite(p) or p < 0.0 for p in odds.values())
            or abs(math.fsum(odds.values()) - 1.0) > _SLACK
        ):
            raise UsageError(f"the odds of the policy for decision {number} do not add up to one")
        for arm, chance in odds.items():
            if chance > 0.0 and decided.odds.get(arm, 0.0) <= 0.0:
                raise UsageError(
                    f"the policy would draw {arm!r} at decision {number}, where that could not be drawn",
                    hint="what was never possible cannot be judged by a log",
                )
        weights.append(odds.get(decided.arm, 0.0) / decided.propensity)
    return numbers(weights), numbers([decided.reward for decided in log])


def _robust(
    log: Sequence[Decided], policy: Sequence[Odds], predicted: Sequence[Mapping[str, float]]
) -> Numbers:
    if len(predicted) != len(log):
        raise UsageError(f"{len(predicted)} predictions for {len(log)} decisions")
    terms = [
        math.fsum(chance * guess[arm] for arm, chance in odds.items() if chance > 0.0)
        + odds.get(decided.arm, 0.0) / decided.propensity * (decided.reward - guess[decided.arm])
        for decided, odds, guess in zip(log, policy, predicted, strict=True)
    ]
    return numbers(terms)


def _told(method: str, terms: Numbers, weights: Numbers, confidence: float) -> Estimate:
    low, high = t_interval(terms.tolist(), confidence)
    squares, total = float(weights @ weights), float(weights.sum())
    effective = total**2 / squares if squares > 0.0 else 0.0
    largest = float(weights.max()) / total if total > 0.0 else 1.0
    note = ""
    if effective < FEW:
        note = (
            f"the weight lies on few decisions, worth {effective:.0f} of {len(weights)}: the interval"
            " may be too narrow"
        )
    elif standard_error(terms.tolist()) == 0.0:
        note = "every decision says the same: the interval shrinks to a point"
    value = mean(terms)
    return Estimate(method, value, low, high, confidence, len(weights), effective, largest, note)

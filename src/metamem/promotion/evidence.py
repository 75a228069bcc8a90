"""Rules of evidence: when what was seen proves that something is worth using."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from metamem.core.errors import UsageError
from metamem.core.ids import ID_LENGTH, short
from metamem.evaluation.statistics import (
    binomial_lower_bound,
    binomial_tail,
    lower_bound,
    paired_differences,
    sign_flip,
    standard_error,
)
from metamem.evaluation.statistics.distributions import normal_quantile, t_critical
from metamem.evaluation.statistics.samples import DUST, deviation, mean, numbers

POWER = 0.8  # the chance with which so many tasks as are said to be needed show the gain
MOST = 100_000  # tasks that are looked at

Rewards = Mapping[str, float]  # the mean reward of each task


@dataclass(frozen=True, slots=True)
class Rival:
    """What is to be beaten: the best human design, or a bar that has no name and no rewards."""

    name: str
    mean: float
    rewards: Rewards


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule makes of one candidate."""

    gain: float  # over the rival
    se: float  # of the gain
    lower_bound: float  # of the gain
    p: float  # one-sided
    passed: bool


class Judged(Protocol):
    """What a refusal is explained from: a finding, or what was kept of one."""

    @property
    def gain(self) -> float: ...

    @property
    def lower_bound(self) -> float: ...


class RuleOfEvidence(Protocol):
    def rival(self, humans: Mapping[str, Rewards]) -> Rival: ...

    def judge(self, ours: Rewards, rival: Rival, *, level: float, seed: int = 0) -> Finding:
        """Nothing that is no better than the rival passes with a probability above `level`."""
        ...

    def asked(self, rival: Rival, tasks: int) -> str:
        """What is to be beaten, in words."""
        ...

    def test_name(self) -> str:
        """What the p-value is of, in words."""
        ...

    @property
    def fewest_tasks(self) -> int:
        """With fewer nothing can ever pass."""
        ...

    def too_few(self, tasks: int) -> str:
        """Says so where so few tasks could prove nothing; empty where they could."""
        ...

    def missing(self, ours: Rewards, rival: Rival, found: Judged, level: float) -> str:
        """What it would take to pass, in words, for one that was judged and did not."""
        ...


@dataclass(frozen=True, slots=True)
class PairedGain:
    """The lower bound of the paired gain is above zero, and a sign-flip test agrees."""

    fewest_tasks: int = 30  # below this the t bound is not to be trusted for rewards of 0 and 1
    span: float = 1.0  # from the least reward that a task can bring to the most

    def __post_init__(self) -> None:
        if self.fewest_tasks < 2:
            raise UsageError("the gate needs at least 2 tasks")
        if not self.span > 0.0:
            raise UsageError(f"rewards that span {self.span} cannot be compared")

    def rival(self, humans: Mapping[str, Rewards]) -> Rival:
        """The best human design."""
        if not humans:
            raise UsageError(
                "the gate has no human design to compare with",
                hint="evaluate the domain's baselines on the same split first",
            )
        if len({frozenset(rewards) for rewards in humans.values()}) > 1:
            raise UsageError(
                "the human designs were not all evaluated on the same tasks",
                hint="the best of them is only known where all are complete",
            )
        means = {name: mean(numbers(rewards.values())) for name, rewards in humans.items()}
        best = min(means, key=lambda name: (-means[name], name))
        return Rival(best, means[best], humans[best])

    def judge(self, ours: Rewards, rival: Rival, *, level: float, seed: int = 0) -> Finding:
        gains = paired_differences(ours, rival.rewards)
        evidence = _with_handicap(gains, self.span)
        bound = lower_bound(evidence, level)
        # Enough draws that the smallest p-value a sampled test can give lies well below the level.
        p = sign_flip(evidence, side="greater", seed=seed, draws=max(20_000, round(20 / level))).p
        return Finding(
            gain=mean(numbers(gains)),
            se=standard_error(gains),
            lower_bound=bound,
            p=p,
            passed=not self.too_few(len(gains)) and bound > 0.0 and p <= level,
        )

    def asked(self, rival: Rival, tasks: int) -> str:
        return f"the best human design {shown(rival.name)} ({rival.mean:.3f}) on {tasks} tasks"

    def test_name(self) -> str:
        return "sign-flip"

    def too_few(self, tasks: int) -> str:
        if tasks >= self.fewest_tasks:
            return ""
        return f"{tasks} tasks are too few, the gate asks for {self.fewest_tasks}"

    def missing(self, ours: Rewards, rival: Rival, found: Judged, level: float) -> str:
        tasks = len(ours)
        if too_few := self.too_few(tasks):
            return too_few
        if abs(found.gain) <= DUST:
            return (
                f"it is no better on {tasks} tasks, and no number of tasks shows a gain of nothing"
            )
        if found.gain < 0.0:
            return f"it is worse, by {-found.gain:.3f}: no number of tasks shows a gain"
        if found.lower_bound > 0.0:  # then it is the test that does not agree
            return f"the test must come to {level:.2g} at most"
        needed = self.needed(paired_differences(ours, rival.rewards), level)
        about = f"about {needed:,}" if needed <= MOST else f"more than {MOST:,}"
        return f"it takes {about} tasks to prove a gain of {found.gain:+.3f} (here: {tasks})"

    def needed(self, gains: list[float], level: float) -> int:
        """How many tasks with gains like these pass with a chance of POWER, more than there are.

        Both conditions of the rule, with all that it adds to the evidence; the test by its normal
        curve, and at least so many differences that it can come to the level at all.
        """
        given = numbers(gains)
        gain, spread, lost = mean(given), deviation(given), _handicap(gains, self.span)
        square = spread**2 + gain**2
        moved = sum(abs(each) > DUST for each in gains) / len(gains)
        luck, fewest = -normal_quantile(1.0 - POWER), -math.log2(level)

        def enough(n: int) -> bool:
            total, squares = n * gain - lost, n * square + lost**2
            size = n + (lost > 0.0)
            variance = max(squares - total**2 / size, 0.0) / (size - 1)
            bound = t_critical(level, size - 1.0) * math.sqrt(variance * size)
            test = -normal_quantile(level) * math.sqrt(squares)
            differ = n * moved - luck * math.sqrt(n * moved * (1.0 - moved))
            return total >= max(bound, test) + luck * spread * math.sqrt(n) and differ >= fewest

        low, high = len(gains), max(len(gains) + 1, self.fewest_tasks)
        while high <= MOST and not enough(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high


def paired_gain(reward_range: tuple[float, float]) -> PairedGain:
    """The rule for rewards that lie in a range."""
    low, high = reward_range
    return PairedGain(span=high - low)


@dataclass(frozen=True, slots=True)
class ExactShare:
    """It succeeds in at least a given share of its uses: the exact binomial lower bound says so.

    For what works or fails and has no rival to be paired with, such as a tool. At a level of 1 %
    and a share of .8 that takes 21 successes of 21, 30 of 31, 37 of 39, and so on.
    """

    least: float = 0.8
    fewest_tasks: int = 1

    def __post_init__(self) -> None:
        if not 0.0 < self.least < 1.0:
            raise UsageError(f"a share lies between 0 and 1, not at {self.least}")

    def rival(self, humans: Mapping[str, Rewards]) -> Rival:
        """The bar, whoever else there is."""
        return Rival("", self.least, {})

    def judge(self, ours: Rewards, rival: Rival, *, level: float, seed: int = 0) -> Finding:
        outcomes = [float(outcome) for outcome in ours.values()]
        if any(outcome not in (0.0, 1.0) for outcome in outcomes):
            raise UsageError(
                "a use succeeds or fails: its outcome is 1 or 0",
                hint="rewards in parts need the rule of paired gains",
            )
        trials, successes = len(outcomes), round(sum(outcomes))
        share = successes / trials if trials else 0.0
        p = binomial_tail(successes, trials, self.least) if trials else 1.0
        bound = binomial_lower_bound(successes, trials, level) if trials else 0.0
        return Finding(
            gain=share - self.least,
            se=math.sqrt(share * (1.0 - share) / trials) if trials else 0.0,
            lower_bound=bound - self.least,
            p=p,
            passed=bound >= self.least,
        )

    def asked(self, rival: Rival, tasks: int) -> str:
        return f"a share of {self.least:g} in {tasks} uses"

    def test_name(self) -> str:
        return "binomial"

    def too_few(self, tasks: int) -> str:
        return "" if tasks else "it was never used"

    def missing(self, ours: Rewards, rival: Rival, found: Judged, level: float) -> str:
        if too_few := self.too_few(len(ours)):
            return too_few
        tasks, failures = len(ours), len(ours) - round(sum(ours.values()))
        needed = self._fewest_uses(failures, level)
        if not failures:
            return f"it takes at least {needed} uses without a failure (here: {tasks} uses)"
        seen = "1 failure" if failures == 1 else f"{failures} failures"
        return f"with {seen} it takes at least {needed} uses (here: {tasks} uses)"

    def _fewest_uses(self, failures: int, level: float) -> int:
        """How many uses pass with so many failures among them."""
        low, high = failures, failures + 1  # one that does not pass, and one that may
        while binomial_lower_bound(high - failures, high, level) < self.least:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if binomial_lower_bound(middle - failures, middle, level) < self.least:
                low = middle
            else:
                high = middle
        return high


def shown(name: str) -> str:
    return short(name) if len(name) == ID_LENGTH else name


def _with_handicap(gains: list[float], span: float) -> list[float]:
    lost = _handicap(gains, span)
    return [*gains, -lost] if lost else gains


def _handicap(gains: list[float], span: float) -> float:
    """For rewards in parts, what one more task loses: outright.

    Many small gains can hide a rare great loss that the sample happens to lack; a t bound knows
    nothing of it and passes far too often. Wins and losses of all that there is cannot hide one: if
    they do not balance, the mean is not zero.
    """
    if all(gain in (-span, 0.0, span) for gain in gains):
        return 0.0
    return max(span, *(abs(gain) for gain in gains))

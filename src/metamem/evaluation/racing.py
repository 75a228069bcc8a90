"""Stop hopeless designs early without bending their scores.

The deployment tasks are put in a seeded random order. The first part of it is the *decision
block*: after some of its tasks (a *look*) a strict one-sided paired test asks whether the design
is worse than the reference. If so the design is raced out, and only now the *estimate block*, a
few tasks that no look ever saw, is played to say what the tasks not played would have shown.
docs/statistics.md has the argument why the estimate is unbiased and a partial mean is not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.evaluation.statistics import sign_flip, upper_bound
from metamem.evaluation.statistics.samples import deviation, mean, numbers


@dataclass(frozen=True, slots=True)
class RaceSettings:
    """`level` is the chance, over all looks together, that an equal design is raced out."""

    looks: tuple[float, ...] = (0.2, 0.35, 0.5)  # shares of the tasks
    estimate_share: float = 0.15
    level: float = 0.01
    fewest: int = 8  # no look, and no estimate block, rests on fewer tasks than this

    def __post_init__(self) -> None:
        if not all(0.0 < share < 1.0 for share in (*self.looks, self.estimate_share)):
            raise UsageError("looks and the estimate block are shares of the tasks, in (0, 1)")
        if not 0.0 < self.level < 0.5:
            raise UsageError(f"the level of a race lies in (0, 0.5), not at {self.level}")
        if self.fewest < 2:
            raise UsageError("a race needs at least 2 tasks in each block")


DEFAULT = RaceSettings()


@dataclass(frozen=True, slots=True)
class RacePlan:
    """Fixed before the first task is played. No looks: too few tasks, so all are played."""

    order: tuple[str, ...]
    looks: tuple[int, ...]  # after so many tasks of the order
    estimate_block: tuple[str, ...]  # disjoint from every look
    level: float  # of each single look

    @staticmethod
    def build(tasks: Sequence[str], seed: int, settings: RaceSettings = DEFAULT) -> "RacePlan":
        """Give each design its own seed, lest the search adapts to one fixed estimate block."""
        if len(set(tasks)) != len(tasks) or not tasks:
            raise UsageError("a race needs task ids, each once")
        ordered = sorted(tasks)  # the caller's order must not matter
        generator = np.random.default_rng(derive_seed("race", seed))
        order = tuple(ordered[i] for i in generator.permutation(len(ordered)))
        looks = sorted({math.ceil(share * len(order)) for share in settings.looks})
        block = max(settings.fewest, math.ceil(settings.estimate_share * len(order)))
        # A look that leaves no more tasks than the estimate block takes could save nothing.
        kept = tuple(n for n in looks if settings.fewest <= n < len(order) - block)
        if not kept:
            return RacePlan(order, (), (), settings.level)
        estimate_block = order[kept[-1] : kept[-1] + block]
        return RacePlan(order, kept, estimate_block, settings.level / len(kept))


@dataclass(frozen=True, slots=True)
class RaceState:
    """Where a race stands, given the rows so far."""

    raced_out: int  # tasks at the look that ended it; 0 where none did
    next_tasks: tuple[str, ...]  # to be played now; none: the race is over
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The score to show for a design. `se` is the uncertainty of its true mean reward."""

    mean: float  # may leave [0, 1] by a little where raced out: cutting it off would bias it
    se: float
    n: int  # tasks played
    complete: bool


@dataclass(frozen=True, slots=True)
class Race:
    """One design against a reference. A pure function of the rows, so it resumes by itself."""

    plan: RacePlan
    reference: Mapping[str, float]

    def __post_init__(self) -> None:
        _require(self.reference, self.plan.order, "the reference")

    def state(self, rows: Mapping[str, float]) -> RaceState:
        """Decide from the mean reward of each finished task; later rows change no earlier look."""
        _refuse_strangers(rows, self.plan)
        for look in self.plan.looks:
            block = self.plan.order[:look]
            missing = tuple(task for task in block if task not in rows)
            if missing:
                return RaceState(0, missing)
            reason = self._hopeless(rows, block)
            if reason:
                left = tuple(task for task in self.plan.estimate_block if task not in rows)
                return RaceState(look, left, reason)
        return RaceState(0, tuple(task for task in self.plan.order if task not in rows))

    def estimate(self, rows: Mapping[str, float]) -> Estimate:
        """The design's score, once `state` has no next tasks."""
        state = self.state(rows)
        if state.next_tasks:
            raise UsageError(
                f"the race is not over: {len(state.next_tasks)} tasks are to be played"
            )
        return estimate(rows, self.reference, self.plan, state.raced_out)

    def _hopeless(self, rows: Mapping[str, float], block: Sequence[str]) -> str:
        """Both must agree: the t bound speaks of the mean, the sign-flip test needs no shape."""
        gains = [rows[task] - self.reference[task] for task in block]
        bound = upper_bound(gains, self.plan.level)
        if bound >= 0.0:
            return ""
        p = sign_flip(gains, side="less", seed=len(block)).p
        if p > self.plan.level:
            return ""
        return (
            f"after {len(block)} tasks the gain over the reference is at most {bound:+.3f} "
            f"(one-sided {self.plan.level:.2%}, sign-flip p = {p:.2g})"
        )


def complete_estimate(rows: Mapping[str, float]) -> Estimate:
    """The score of a design that played every task."""
    rewards = numbers(rows.values())
    spread = deviation(rewards) if len(rewards) > 1 else 0.0
    return Estimate(mean(rewards), spread / math.sqrt(len(rewards)), len(rewards), True)


def estimate(
    rows: Mapping[str, float], reference: Mapping[str, float], plan: RacePlan, raced_out: int
) -> Estimate:
    """The mean over all tasks: as played, or, raced out at a look, estimated without bias.

    Raced out, each task of the decision block stands for itself, and the estimate block, a random
    sample of the others, stands for all the others. The reference, known on every task, serves as
    control variate with its coefficient fixed at 1.
    """
    total = len(plan.order)
    if not raced_out:
        _require(rows, plan.order, "a complete evaluation")
        return complete_estimate({task: rows[task] for task in plan.order})
    if raced_out not in plan.looks:
        raise UsageError(f"the plan has no look after {raced_out} tasks")
    _require(reference, plan.order, "the reference")
    decided, sampled = plan.order[:raced_out], plan.estimate_block
    _require(rows, (*decided, *sampled), "a design that was raced out")

    def gains(tasks: Sequence[str]) -> list[float]:
        return [rows[task] - reference[task] for task in tasks]

    others = total - raced_out
    gain_sampled = mean(numbers(gains(sampled)))
    whole = mean(numbers([reference[task] for task in plan.order]))
    score = whole + (math.fsum(gains(decided)) + others * gain_sampled) / total
    # Two sources of doubt: the tasks are a sample of the domain (as in a complete evaluation),
    # and the estimate block is a sample, without replacement, of the tasks not played.
    played = (*decided, *sampled)
    domain = deviation(numbers([rows[task] for task in played])) ** 2 / total
    unplayed = 1.0 - len(sampled) / others
    block = (others / total) ** 2 * deviation(numbers(gains(played))) ** 2 / len(sampled) * unplayed
    return Estimate(score, math.sqrt(domain + block), len(played), False)


def _require(rows: Mapping[str, float], tasks: Sequence[str], what: str) -> None:
    missing = [task for task in tasks if task not in rows]
    if missing:
        raise UsageError(f"{what} lacks {len(missing)} of its tasks, such as {missing[0]!r}")


def _refuse_strangers(rows: Mapping[str, float], plan: RacePlan) -> None:
    strangers = sorted(rows.keys() - set(plan.order))
    if strangers:
        raise UsageError(
            f"{len(strangers)} rows belong to no task of the race, such as {strangers[0]!r}"
        )

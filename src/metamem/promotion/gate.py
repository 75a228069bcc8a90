"""The promotion gate: a learned design goes into use only if it provably beats the best human one.

The evidence is the reward of each task on `valid`. A candidate passes when the lower bound of its
paired gain over the best human design is above zero, and the sign-flip test agrees, at a level
that is shared among all candidates: the chance that any of them passes by luck stays at 1 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import ID_LENGTH, short
from metamem.evaluation.statistics import (
    lower_bound,
    paired_differences,
    power_hint,
    sign_flip,
    standard_error,
)
from metamem.evaluation.statistics.samples import mean, numbers

Rewards = Mapping[str, float]  # the mean reward of each task


@dataclass(frozen=True, slots=True)
class GateComparison:
    """One candidate against the best human design."""

    design: str
    mean: float
    gain: float
    se: float  # of the gain
    lower_bound: float
    p: float  # one-sided, sign-flip
    passed: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate decided and why. A record: putting the design into use is done elsewhere."""

    promoted: str | None  # a design id
    lower_bound: float | None  # of its gain; the best candidate's where none is promoted
    level: float  # the chance that any candidate passes by luck
    level_each: float  # what is left of it for each candidate
    tasks: int
    best_human: str
    best_human_mean: float
    comparisons: tuple[GateComparison, ...]  # highest lower bound first
    reason: str

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        data["comparisons"] = list(data["comparisons"])
        return data


@dataclass(frozen=True, slots=True)
class Gate:
    level: float = 0.01
    fewest_tasks: int = 30  # below this the t bound is not to be trusted for rewards of 0 and 1

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 0.5:
            raise UsageError(f"the gate's level lies in (0, 0.5), not at {self.level}")
        if self.fewest_tasks < 2:
            raise UsageError("the gate needs at least 2 tasks")

    def decide(
        self, candidates: Mapping[str, Rewards], humans: Mapping[str, Rewards], *, seed: int = 0
    ) -> Decision:
        """Candidates must have been chosen without a look at these rewards (on train)."""
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
        level_each = self.level / max(1, len(candidates))
        compared = [
            self._compare(name, rewards, humans[best], level_each, seed)
            for name, rewards in candidates.items()
        ]
        compared.sort(key=lambda c: (-c.lower_bound, c.design))
        passed = [c for c in compared if c.passed]
        shown = passed or compared
        return Decision(
            promoted=passed[0].design if passed else None,
            lower_bound=shown[0].lower_bound if shown else None,
            level=self.level,
            level_each=level_each,
            tasks=len(humans[best]),
            best_human=best,
            best_human_mean=means[best],
            comparisons=tuple(compared),
            reason=self._reason(
                shown, len(humans[best]), f"{_shown(best)} ({means[best]:.3f})", level_each
            ),
        )

    def _compare(
        self, name: str, ours: Rewards, theirs: Rewards, level: float, seed: int
    ) -> GateComparison:
        gains = paired_differences(ours, theirs)
        n = len(gains)
        gain = mean(numbers(gains))
        evidence = _with_handicap(gains)
        bound = lower_bound(evidence, level)
        # Enough draws that the smallest p-value a sampled test can give lies well below the level.
        p = sign_flip(evidence, side="greater", seed=seed, draws=max(20_000, round(20 / level))).p
        return GateComparison(
            design=name,
            mean=mean(numbers(ours.values())),
            gain=gain,
            se=standard_error(gains),
            lower_bound=bound,
            p=p,
            passed=n >= self.fewest_tasks and bound > 0.0 and p <= level,
        )

    def _reason(
        self, shown: Sequence[GateComparison], tasks: int, human: str, level_each: float
    ) -> str:
        if not shown:
            return "nothing to promote: the search gave no candidate"
        best = shown[0]
        asked = f"the best human design {human} on {tasks} tasks"
        figures = (
            f"gain {best.gain:+.3f}, at least {best.lower_bound:+.3f}, sign-flip p = {best.p:.2g}; "
            f"level {self.level:.1%} shared by all candidates"
        )
        if best.passed:
            return f"promoted: {_shown(best.design)} beats {asked} ({figures})"
        if tasks < self.fewest_tasks:
            return f"not promoted: {tasks} tasks are too few, the gate asks for {self.fewest_tasks}"
        hint = power_hint(tasks, best.gain, best.se * tasks**0.5, alpha=2 * level_each)
        return (
            f"not promoted: no candidate is proven to beat {asked}; the closest is "
            f"{_shown(best.design)} ({figures}); {hint}"
        )


def _with_handicap(gains: list[float]) -> list[float]:
    """For rewards in parts, one more task that was lost outright.

    Many small gains can hide a rare great loss that the sample happens to lack; a t bound knows
    nothing of it and passes far too often. Wins and losses of 1 cannot hide one: if they do not
    balance, the mean is not zero.
    """
    if all(gain in (-1.0, 0.0, 1.0) for gain in gains):
        return gains
    return [*gains, -max(1.0, *(abs(gain) for gain in gains))]


def _shown(design: str) -> str:
    return short(design) if len(design) == ID_LENGTH else design


@dataclass(frozen=True, slots=True)
class GateReport:
    """How often the gate acted. A gate that never opens is worth a look: it may be broken."""

    taken: int
    promoted: int

    @staticmethod
    def of(decisions: Sequence[Decision]) -> "GateReport":
        return GateReport(len(decisions), sum(d.promoted is not None for d in decisions))

    def __str__(self) -> str:
        return f"promoted {self.promoted} of {self.taken}"

    @property
    def warning(self) -> str:
        """Empty where all is well."""
        if not self.taken:
            return "the gate has taken no decision yet: nothing learned can come into use"
        if not self.promoted:
            return (
                f"the gate has promoted 0 of {self.taken}: nothing learned has come into use; "
                "read the reasons, and see whether valid has enough tasks for the gains seen"
            )
        return ""

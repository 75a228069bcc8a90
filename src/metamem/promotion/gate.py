"""The promotion gate: what was learned passes only if it provably beats what is there.

The evidence is the reward of each task on `valid`. What counts as proof is a rule of evidence: for
designs, that the lower bound of the paired gain over the best human design is above zero and the
sign-flip test agrees. The level is shared among all candidates: the chance that any of them passes
by luck stays at 1 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.stored import restored
from metamem.evaluation.statistics.samples import mean, numbers
from metamem.promotion.evidence import PairedGain, Rewards, Rival, RuleOfEvidence, shown

CAUTION = 0.05  # the chance of a warning by luck: it costs less than a promotion by luck


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
    comparisons: tuple[GateComparison, ...]  # those that passed first; the surest, then the best
    reason: str
    # What speaks against candidates that passed, by design: from whoever knows what they should be.
    objections: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        data["comparisons"] = list(data["comparisons"])
        if not self.objections:
            del data["objections"]
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Decision":
        compared = (restored(GateComparison, found) for found in data.get("comparisons", ()))
        return restored(Decision, data, comparisons=tuple(compared))


@dataclass(frozen=True, slots=True)
class Gate:
    level: float = 0.01
    rule: RuleOfEvidence = field(default_factory=PairedGain)

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 0.5:
            raise UsageError(f"the gate's level lies in (0, 0.5), not at {self.level}")

    def decide(
        self, candidates: Mapping[str, Rewards], humans: Mapping[str, Rewards], *, seed: int = 0
    ) -> Decision:
        """Candidates must have been chosen without a look at these rewards (on train)."""
        rival = self.rule.rival(humans)
        level_each = self.level / max(1, len(candidates))
        compared = [
            self._compare(name, rewards, rival, level_each, seed)
            for name, rewards in candidates.items()
        ]
        # Where none passes, the one with the largest gain is the closest, whatever its spread: a
        # copy of the best human design has no spread at all.
        compared.sort(
            key=lambda c: (not c.passed, -(c.lower_bound if c.passed else c.gain), c.design)
        )
        passed = [c for c in compared if c.passed]
        best = (passed or compared)[:1]
        tasks = len(rival.rewards or (candidates[best[0].design] if best else {}))
        return Decision(
            promoted=passed[0].design if passed else None,
            lower_bound=best[0].lower_bound if best else None,
            level=self.level,
            level_each=level_each,
            tasks=tasks,
            best_human=rival.name,
            best_human_mean=rival.mean,
            comparisons=tuple(compared),
            reason=self._reason(best[0], rival, tasks, level_each, candidates[best[0].design])
            if best
            else "nothing to promote: the search gave no candidate",
        )

    def heeding(self, decision: Decision, objections: Mapping[str, str]) -> Decision:
        """The decision without the candidates that something speaks against, whatever they gain."""
        passed = [c for c in decision.comparisons if c.passed]
        rest = [c for c in passed if c.design not in objections]
        if len(rest) == len(passed):
            return decision
        best = (rest or passed)[0]
        rival = Rival(decision.best_human, decision.best_human_mean, {})
        reason = self._reason(best, rival, decision.tasks, decision.level_each, {})
        against = [f"{shown(c.design)}: {objections[c.design]}" for c in passed if c not in rest]
        if rest:
            reason = f"{reason}; passed over: {'; '.join(against)}"
        else:
            reason = f"not {reason}, but {'; '.join(against)}"
        return replace(
            decision,
            promoted=best.design if rest else None,
            lower_bound=best.lower_bound,
            reason=reason,
            objections=dict(objections),
        )

    def beside_control(
        self, decision: Decision, ours: Rewards, control: Mapping[str, Rewards], *, seed: int = 0
    ) -> Decision:
        """The decision, which says so where what a blind search found is proven to be better.

        `ours` are the rewards of what was decided on, `control` those of the blind search's best.
        """
        level_each = CAUTION / max(1, len(control))
        judged = {
            name: self.rule.judge(rewards, Rival("", 0.0, ours), level=level_each, seed=seed)
            for name, rewards in control.items()
        }
        better = {name: found for name, found in judged.items() if found.passed}
        if not better:
            return decision
        best = min(better, key=lambda name: (-better[name].lower_bound, name))
        told = (
            f"but blind search with the same budget found better: {shown(best)} "
            f"(gain {better[best].gain:+.3f}, at least {better[best].lower_bound:+.3f})"
        )
        return replace(decision, reason=f"{decision.reason}; {told}")

    def _compare(
        self, name: str, ours: Rewards, rival: Rival, level: float, seed: int
    ) -> GateComparison:
        found = self.rule.judge(ours, rival, level=level, seed=seed)
        return GateComparison(
            design=name,
            mean=mean(numbers(ours.values())) if ours else 0.0,
            gain=found.gain,
            se=found.se,
            lower_bound=found.lower_bound,
            p=found.p,
            passed=found.passed,
        )

    def _reason(
        self, best: GateComparison, rival: Rival, tasks: int, level_each: float, ours: Rewards
    ) -> str:
        asked = self.rule.asked(rival, tasks)
        figures = (
            f"gain {best.gain:+.3f}, at least {best.lower_bound:+.3f}, "
            f"{self.rule.test_name()} p = {best.p:.2g}; level {self.level:.1%} shared by all candidates"
        )
        if best.passed:
            return f"promoted: {shown(best.design)} beats {asked} ({figures})"
        if too_few := self.rule.too_few(tasks):
            return f"not promoted: {too_few}"
        return (
            f"not promoted: no candidate is proven to beat {asked}; the closest is "
            f"{shown(best.design)} ({figures}); {self.rule.missing(ours, rival, best, level_each)}"
        )


@dataclass(frozen=True, slots=True)
class GateReport:
    """How often the gate acted. A gate that never opens is worth a look: it may be broken."""

    taken: int
    promoted: int
    what: str = "designs"  # for people

    @staticmethod
    def of(decisions: Sequence[Decision]) -> "GateReport":
        return GateReport(len(decisions), sum(d.promoted is not None for d in decisions))

    def __str__(self) -> str:
        return f"promoted {self.promoted} of {self.taken} {self.what}"

    @property
    def warning(self) -> str:
        """Empty where all is well."""
        if not self.taken:
            return "the gate has taken no decision yet: nothing learned can come into use"
        if not self.promoted:
            return (
                f"the gate has promoted 0 of {self.taken} {self.what}: none has come into use; "
                "read the reasons, and see whether valid has enough tasks for the gains seen"
            )
        return ""

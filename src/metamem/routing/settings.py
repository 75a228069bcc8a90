"""What can be set about a router, and which of it a search can learn, as typed parameters.

What cost and latency are worth is for the caller to say and for nobody to learn: who sets it also sets
the measure that everything else is judged by.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.space import Float, Int, Space
from metamem.routing.words import MOST, Outcome


@dataclass(frozen=True, slots=True)
class Settings:
    """How a router weighs outcomes, what it believes at first, and how it explores."""

    cost_weight: float = 0.1  # of a success, for each unit of cost: the caller's
    latency_weight: float = 0.002  # of a success, for each second: the caller's
    floor: float = 0.05  # of the decisions, shared evenly by all arms, whatever is believed
    boldness: float = 0.3  # times the spread of beliefs from which arms are drawn; 0: greedy
    common_spread: float = 0.4  # of what tasks differ by for all arms alike, at first
    arm_spread: float = 0.2  # of what arms differ by on all tasks alike
    task_spread: float = 0.6  # of what an arm differs by from task to task
    noise: float = 0.4  # of one outcome
    half_life: float = 5000.0  # decisions after which an outcome counts half
    dimensions: int = 32  # buckets for the words of tasks

    def __post_init__(self) -> None:
        positive = (self.common_spread, self.arm_spread, self.task_spread, self.noise)
        if min(*positive, self.half_life, self.dimensions) <= 0:
            raise UsageError("spreads, noise, half_life and dimensions must be above zero")
        if not 0.0 <= self.floor <= 1.0:
            raise UsageError(f"the floor is a share of the decisions, not {self.floor}")
        weights = (self.cost_weight, self.latency_weight)
        if not all(0.0 <= w <= MOST for w in weights):
            raise UsageError(f"what cost and latency are worth is a number from 0 to {MOST:g}")
        if self.boldness < 0:
            raise UsageError("boldness must not be negative")

    @staticmethod
    def of(values: Mapping[str, Any]) -> "Settings":
        """From some parameters by name; the others as by default."""
        if unknown := sorted(values.keys() - asdict(Settings()).keys()):
            raise UsageError(
                f"a router has no setting {unknown[0]!r}",
                hint=f"known: {', '.join(asdict(Settings()))}",
            )
        return Settings(**values)

    @staticmethod
    def learned(values: Mapping[str, Any]) -> "Settings":
        """From values of the space, and of nothing else."""
        SPACE.check(values)
        return Settings.of(values)

    def weighing(
        self, cost_weight: float | None = None, latency_weight: float | None = None
    ) -> "Settings":
        """The same router at other weights; what is not said stays as it is."""
        return replace(
            self,
            cost_weight=self.cost_weight if cost_weight is None else cost_weight,
            latency_weight=self.latency_weight if latency_weight is None else latency_weight,
        )

    def worth(self, outcome: Outcome) -> float:
        """Success less what cost and latency take off."""
        taken = self.cost_weight * outcome.cost + self.latency_weight * outcome.latency
        return outcome.success - taken

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


USUAL = Settings()

SPACE = Space(
    {
        "floor": Float(0.001, 0.5, USUAL.floor, log=True),
        "boldness": Float(0.0, 3.0, USUAL.boldness),
        "common_spread": Float(0.02, 2.0, USUAL.common_spread, log=True),
        "arm_spread": Float(0.02, 2.0, USUAL.arm_spread, log=True),
        "task_spread": Float(0.02, 2.0, USUAL.task_spread, log=True),
        "noise": Float(0.05, 1.5, USUAL.noise, log=True),
        "half_life": Float(20.0, 5000.0, USUAL.half_life, log=True),
        "dimensions": Int(4, 128, USUAL.dimensions, log=True),
    }
)

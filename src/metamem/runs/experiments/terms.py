"""What an experiment is told beyond the conditions of play."""

import math
from dataclasses import dataclass

from metamem.core.errors import UsageError
from metamem.evaluation.jobs import Spec

LEVEL = 0.05  # the chance that a hypothesis passes which is false
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Terms:
    designs: tuple[str, ...] = ()  # whose memory; none: the best human one and the learned one
    pilot: int = 40  # tasks of valid by which the best human design is chosen, at most
    spread: float = 0.5  # of gains from task to task, assumed until there is a pilot
    effect: float = 0.1  # what one would like to see, both as shares of the range of rewards
    override: bool = False  # play although the hypothesis before has not passed
    # Of the search for what people did not find:
    budget: int = 12
    searched: int = 40  # tasks of each split that the search plays at most
    proposer: Spec | None = None
    hints: bool = False  # whether it is told about the domain

    def __post_init__(self) -> None:
        for name in ("pilot", "budget", "searched"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        amounts = {"the assumed spread": self.spread, "the effect to be seen": self.effect}
        for name, value in amounts.items():
            if not (math.isfinite(value) and value > 0.0):
                raise UsageError(f"{name} must be above 0, not {value}")

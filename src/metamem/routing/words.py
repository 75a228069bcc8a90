"""The words of routing as small frozen types."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from metamem.core.errors import UsageError

MOST_ARMS = 64
MOST = 1e12  # of a cost, a latency or what a unit is worth: one beyond it would drown all others for good


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a task before anybody gets it."""

    task: str
    seen: str = ""  # what is observed at its beginning, where there is such
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of giving a task to an arm."""

    success: float  # from 0 to 1
    cost: float = 0.0  # in any unit, the same for all arms
    latency: float = 0.0  # seconds, or steps

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.success, self.cost, self.latency))):
            raise UsageError("success, cost and latency must be finite numbers")
        if not 0.0 <= self.success <= 1.0:
            raise UsageError(f"success lies from 0 to 1, not at {self.success}")
        if self.cost < 0.0 or self.latency < 0.0:
            raise UsageError("cost and latency are not negative")
        if max(self.cost, self.latency) > MOST:
            raise UsageError(
                f"cost and latency are at most {MOST:g}, not {max(self.cost, self.latency):g}",
                hint="count them in a larger unit",
            )


@dataclass(frozen=True, slots=True)
class Arm:
    """Who could get a task, and what is believed of it before anything was seen."""

    name: str
    success: float = 0.5
    cost: float = 0.0
    latency: float = 0.0

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise UsageError("an arm needs a name")
        Outcome(self.success, self.cost, self.latency)  # refuses nonsense


@dataclass(frozen=True, slots=True)
class Seen:
    """One task that an arm got, and what came of it."""

    context: Context
    arm: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Belief:
    """What is expected of an arm on one task."""

    arm: str
    success: float
    cost: float
    latency: float
    worth: float  # success less what cost and latency take off
    spread: float  # of the worth: how unsure the router is
    seen: int  # outcomes of the arm that it has learned from
    propensity: float  # with which the arm was drawn for this task
    before: tuple[float, float, float] = (0.5, 0.0, 0.0)  # success, cost, latency: as it was named


@dataclass(frozen=True, slots=True)
class Choice:
    """Which arm was drawn, how likely each was, and why."""

    arm: str
    propensity: float
    beliefs: tuple[Belief, ...]  # one for each arm that was allowed

    @property
    def odds(self) -> dict[str, float]:
        return {belief.arm: belief.propensity for belief in self.beliefs}

    @property
    def best(self) -> Belief:
        """The arm that is expected to be worth most; of equals, the first."""
        return max(self.beliefs, key=lambda belief: belief.worth)

    @property
    def drawn(self) -> Belief:
        return next(belief for belief in self.beliefs if belief.arm == self.arm)

    @property
    def explores(self) -> bool:
        """Whether another arm was expected to be worth more."""
        return self.drawn.worth < self.best.worth

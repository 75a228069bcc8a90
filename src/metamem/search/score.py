"""A design's score as people are told it: with its interval and the tasks that it rests on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metamem.evaluation.racing import Estimate
from metamem.evaluation.statistics.distributions import t_critical

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Score:
    """A mean reward, where it may lie in truth, and how many of all tasks were played for it."""

    mean: float
    low: float
    high: float
    tasks: int
    of: int

    @staticmethod
    def of_estimate(
        estimate: Estimate, of: int, reward_range: tuple[float, float] = (0.0, 1.0)
    ) -> "Score":
        """An estimate of a design that was raced out may leave the range; its interval does not."""
        wide = 0.0
        if estimate.n > 1:
            wide = t_critical((1 - LEVEL) / 2, estimate.n - 1) * estimate.se
        least, most = reward_range
        low, high = max(least, estimate.mean - wide), min(most, estimate.mean + wide)
        return Score(estimate.mean, low, high, estimate.n, of)

    @staticmethod
    def stored(estimate: Mapping[str, Any], of: int) -> "Score":
        """As a journal keeps estimates."""
        return Score.of_estimate(Estimate(**estimate), of)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f}; {self.tasks} of {self.of} tasks)"
        )

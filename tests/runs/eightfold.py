"""The toy domain with eight points for what is one there: all that changes is the scale."""

from dataclasses import replace

from metamem.core.types import Observation, Task
from metamem.domains.toy import ToyDomain, ToyWorld

POINTS = 8.0  # a power of two, so that sums and means are scaled to the last digit


class EightfoldWorld(ToyWorld):
    def step(self, action: str) -> Observation:
        seen = super().step(action)
        return replace(seen, reward=POINTS * seen.reward)


class Eightfold(ToyDomain):
    reward_range = (0.0, POINTS)

    def world(self, task: Task, seed: int) -> EightfoldWorld:
        return EightfoldWorld(task.kind, dict(task.data))

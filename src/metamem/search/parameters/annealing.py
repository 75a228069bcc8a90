"""Simulated annealing: one walk, which takes every better step and now and then a worse one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.types import Kind
from metamem.search.parameters.moving import LEAST_STEP, changes, space_of, stepped
from metamem.search.proposer import Proposal, Request, Tried

OPERATOR = "annealing"
COOLING = 0.95  # of the temperature, with each step
HOT_STEP = 0.3  # a share of a parameter's whole range
AT_FIRST = 1 / 8  # the chance that a step is taken which loses as much as is usual


@dataclass(frozen=True, slots=True)
class Walk:
    """Where the walk stands after so many steps."""

    at: Tried
    steps: int = 0
    taken: int = 0
    lost: float = 0.0  # by all steps that led down, whether they were taken or not
    worse: int = 0  # how many those were

    def temperature(self, cooling: float) -> float:
        """In units of reward: what a step that leads down usually loses, and less with each step."""
        usual = self.lost / self.worse if self.worse else 0.0
        return usual / -math.log(AT_FIRST) * cooling**self.steps

    def after(self, step: Tried, cooling: float) -> "Walk":
        """Metropolis: better is taken, worse with a chance that its loss and the temperature set.

        The luck is the step's own, so that the journal always tells of the same walk.
        """
        loss = self.at.mean - step.mean
        if loss <= 0:
            return replace(self, at=step, steps=self.steps + 1, taken=self.taken + 1)
        now = replace(self, steps=self.steps + 1, lost=self.lost + loss, worse=self.worse + 1)
        luck = Random(derive_seed(OPERATOR, now.steps, step.design.id)).random()
        heat = now.temperature(cooling)
        if heat <= 0.0 or luck >= math.exp(-loss / heat):  # in the end it is as cold as can be
            return now
        return replace(now, at=step, taken=now.taken + 1)


def walked(tried: Sequence[Tried], cooling: float) -> Walk:
    """The walk that the journal tells of: from the best of what people made, step by step.

    What other operators found is a step for it, too, where that is better than where it stands.
    """
    begun = [each for each in tried if each.human] or tried[:1]
    if not begun:
        raise UsageError("a walk begins somewhere, and nothing was tried yet")
    walk = Walk(max(begun, key=lambda each: each.mean))
    for each in tried:
        if each.operator == OPERATOR:
            walk = walk.after(each, cooling)
        elif each.mean > walk.at.mean:
            walk = replace(walk, at=each)
    return walk


class Annealing:
    """Walks from the best human set; worse steps are taken while it is hot, and steps grow shorter.

    Whom the selector chose plays no part: the next step begins where the walk stands. Steps of one
    batch begin at the same place and are then taken or not in their order.
    """

    kind: Kind = "params"

    def __init__(self, cooling: float = COOLING) -> None:
        if not 0.0 < cooling < 1.0:
            raise UsageError(f"cooling lies between 0 and 1, not at {cooling}")
        self._cooling = cooling

    async def propose(self, request: Request) -> Proposal:
        space = space_of(request)
        walk = walked(request.tried, self._cooling)
        values = space.read(walk.at.design)
        step = max(LEAST_STEP, HOT_STEP * self._cooling ** (walk.steps / 4))
        child = stepped(space, values, step, Random(request.seed))
        note = (
            f"{changes(values, child)}; {walk.taken} of {walk.steps} steps taken, temperature"
            f" {walk.temperature(self._cooling):.3g}, steps of {step:.2f}"
        )
        return Proposal(space.design(child), (walk.at.design.id,), OPERATOR, note)

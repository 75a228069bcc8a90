"""Normal steps, whose width follows from what earlier ones came to."""

import math
from collections.abc import Sequence
from random import Random

from metamem.core.types import Kind
from metamem.search.parameters.moving import LEAST_STEP, changes, space_of, stepped
from metamem.search.proposer import OperatorOutcome, Proposal, Request

OPERATOR = "gaussian"
FIRST_STEP, MOST_STEP = 0.2, 0.5  # shares of a parameter's whole range
WIDER, NARROWER = 1.5, 1.5**-0.25  # in balance where one child in five is better than its parent


class Gaussian:
    """Moves some parameters of the parent by normal steps, wider while that leads somewhere."""

    kind: Kind = "params"

    async def propose(self, request: Request) -> Proposal:
        space, parent = space_of(request), request.parents[0]
        values, step = space.read(parent.design), step_width(request.history)
        child = stepped(space, values, step, Random(request.seed))
        note = f"{changes(values, child)}; steps of {step:.2f}"
        return Proposal(space.design(child), (parent.design.id,), OPERATOR, note)


def step_width(history: Sequence[OperatorOutcome]) -> float:
    """The one-fifth rule: wider after a child that is better than its parent, else narrower.

    Steps of other operators say nothing about these, nor does a copy of what was tried before.
    """
    width = math.log(FIRST_STEP)
    for outcome in history:
        if outcome.operator != OPERATOR or outcome.gain is None:
            continue
        width += math.log(WIDER if outcome.gain > 0 else NARROWER)
        width = min(max(width, math.log(LEAST_STEP)), math.log(MOST_STEP))
    return math.exp(width)

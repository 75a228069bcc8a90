"""Proposers of parameters. Each is a function of the request alone, as every proposer is."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.space import Choice, Int, Space, Values
from metamem.core.types import Kind
from metamem.search.learnables.parameters import shown
from metamem.search.proposer import OperatorOutcome, Proposal, Request

FIRST_STEP, LEAST_STEP, MOST_STEP = 0.2, 0.01, 0.5  # shares of a parameter's whole range
WIDER, NARROWER = 1.5, 1.5**-0.25  # in balance where one child in five is better than its parent
SHARE_CHANGED = 0.3  # of the parameters, on average; always one at least


class Gaussian:
    """Moves some parameters of the parent by normal steps, wider while that leads somewhere."""

    kind: Kind = "params"

    async def propose(self, request: Request) -> Proposal:
        space, luck = _space(request), Random(request.seed)
        parent = request.parents[0]
        values = space.read(parent.design)
        step = step_width(request.history)
        names = list(values)
        changed = [name for name in names if luck.random() < SHARE_CHANGED]
        moved = dict(values)
        for name in changed or [luck.choice(names)]:
            moved[name] = _moved(space, name, values[name], step, luck)
        child = space.completed(moved)
        note = f"{changes(values, child)}; steps of {step:.2f}"
        return Proposal(space.design(child), (parent.design.id,), "gaussian", note)


class Sample:
    """Draws every parameter anew: knows nothing of parents."""

    kind: Kind = "params"

    async def propose(self, request: Request) -> Proposal:
        space = _space(request)
        values = space.drawn(Random(request.seed))
        return Proposal(space.design(values), (), "sample", "drawn at random")


def step_width(history: Sequence[OperatorOutcome]) -> float:
    """The one-fifth rule: wider after a child that is better than its parent, else narrower."""
    width = math.log(FIRST_STEP)
    for outcome in history:
        better = outcome.gain is not None and outcome.gain > 0
        width += math.log(WIDER if better else NARROWER)
        width = min(max(width, math.log(LEAST_STEP)), math.log(MOST_STEP))
    return math.exp(width)


def changes(before: Values, after: Values) -> str:
    """What became of some values, in words."""
    told = [
        f"{name} {shown(before[name])} → {shown(value)}"
        if name in before
        else f"{name} {shown(value)}"
        for name, value in after.items()
        if name not in before or before[name] != value
    ]
    return ", ".join(told) or "no change"


def _moved(space: Space, name: str, value: Any, step: float, luck: Random) -> Any:
    parameter = space.parameters[name]
    if isinstance(parameter, Choice):  # its options lie in no order, so none is nearer than another
        return luck.choice([o for o in parameter.options if not parameter.same(o, value)])
    distance = luck.gauss(0.0, step)
    moved = parameter.at(_reflected(parameter.position(value) + distance))
    if isinstance(parameter, Int) and moved == value:  # less than half of the way to the next
        up = value < parameter.high if distance > 0 else value == parameter.low
        return value + (1 if up else -1)
    return moved


def _reflected(place: float) -> float:
    """What leaves at one end comes back from it: ends are no likelier than the rest."""
    place = abs(place) % 2.0
    return 2.0 - place if place > 1.0 else place


def _space(request: Request) -> Space:
    if request.space is None:
        raise UsageError(
            "this proposer sets parameters, and the domain has none",
            hint="leave --proposer out, or learn a domain of parameters",
        )
    return request.space

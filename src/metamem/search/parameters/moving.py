"""What proposers of parameters have in common: steps along ranges, and words for them."""

from random import Random
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.space import Choice, Int, Space, Values
from metamem.search.learnables.parameters import shown
from metamem.search.proposer import Request

LEAST_STEP = 0.01  # a share of a parameter's whole range
SHARE_CHANGED = 0.3  # of the parameters, on average; always one at least


def space_of(request: Request) -> Space:
    if request.space is None:
        raise UsageError(
            "this proposer sets parameters, and the domain has none",
            hint="leave --proposer out, or learn a domain of parameters",
        )
    return request.space


def stepped(space: Space, values: Values, step: float, luck: Random) -> dict[str, Any]:
    """Some of the values moved by normal steps along their ranges; one at least is another."""
    names = list(values)
    changed = [name for name in names if luck.random() < SHARE_CHANGED]
    moved = dict(values)
    for name in changed or [luck.choice(names)]:
        moved[name] = _moved(space, name, values[name], step, luck)
    return space.completed(moved)


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


def reflected(place: float) -> float:
    """What leaves at one end comes back from it: ends are no likelier than the rest."""
    place = abs(place) % 2.0
    return 2.0 - place if place > 1.0 else place


def _moved(space: Space, name: str, value: Any, step: float, luck: Random) -> Any:
    parameter = space.parameters[name]
    if isinstance(parameter, Choice):  # its options lie in no order, so none is nearer than another
        return luck.choice([o for o in parameter.options if not parameter.same(o, value)])
    distance = luck.gauss(0.0, step)
    moved = parameter.at(reflected(parameter.position(value) + distance))
    if isinstance(parameter, Int) and moved == value:  # less than half of the way to the next
        up = value < parameter.high if distance > 0 else value == parameter.low
        return value + (1 if up else -1)
    return moved

"""Values between those of two sets that are known."""

from random import Random
from typing import Any

from metamem.core.ids import short
from metamem.core.space import Choice, Space, Values
from metamem.core.types import Kind
from metamem.search.parameters.moving import changes, reflected, space_of, stepped
from metamem.search.proposer import Proposal, Request

OPERATOR = "crossover"
FOUNDERS = 12  # sets beside people's: until there are so many, there is too little to cross
BEYOND = 0.5  # how far past two numbers their blend may lie, as a share of their distance
BLENDED = 0.5  # how often numbers are blended; else one of the two stays as it is
ALSO_MOVED, STEP = 0.4, 0.1  # how often a child is moved besides, and how far: a share of ranges


class Crossover:
    """Takes each value from the parent, from a partner of the archive, or from between them.

    The partner is one of those that the loop lends: mostly such as win tasks where the parent loses.
    """

    kind: Kind = "params"

    async def propose(self, request: Request) -> Proposal:
        space, luck, parent = space_of(request), Random(request.seed), request.parents[0]
        partners = list(request.parents[1:])
        if not partners or sum(not each.human for each in request.tried) < FOUNDERS:
            founder = space.design(space.drawn(luck))
            return Proposal(founder, (), OPERATOR, "a founder, drawn at random")
        partner = luck.choice(partners)
        ours, theirs = space.read(parent.design), space.read(partner.design)
        child = _crossed(space, ours, theirs, luck)
        if child in (ours, theirs) or luck.random() < ALSO_MOVED:
            child = stepped(space, child, STEP, luck)
        note = f"with {short(partner.design.id)}: {changes(ours, child)}"
        parents = (parent.design.id, partner.design.id)
        return Proposal(space.design(child), parents, OPERATOR, note)


def _crossed(space: Space, ours: Values, theirs: Values, luck: Random) -> dict[str, Any]:
    mixed = {**theirs, **ours}  # what holds with one of them alone comes along, should it hold
    for name, value in ours.items():
        if name in theirs:
            mixed[name] = _between(space, name, value, theirs[name], luck)
    return space.completed(mixed)


def _between(space: Space, name: str, one: Any, other: Any, luck: Random) -> Any:
    parameter = space.parameters[name]
    if isinstance(parameter, Choice) or luck.random() >= BLENDED:
        return luck.choice((one, other))
    low, high = sorted((parameter.position(one), parameter.position(other)))
    beyond = BEYOND * (high - low)
    return parameter.at(reflected(luck.uniform(low - beyond, high + beyond)))

"""Values that know nothing of parents."""

from random import Random

from metamem.core.types import Kind
from metamem.search.parameters.moving import space_of
from metamem.search.proposer import Proposal, Request

OPERATOR = "sample"


class Sample:
    """Draws every parameter anew: random search, the control of every run."""

    kind: Kind = "params"

    async def propose(self, request: Request) -> Proposal:
        space = space_of(request)
        values = space.drawn(Random(request.seed))
        return Proposal(space.design(values), (), OPERATOR, "drawn at random")

"""Recombination that changes parents from the first proposal on, without a survey."""

from dataclasses import replace

from metamem.designs.blocks import FAMILIES, blocks
from metamem.search.proposer import OperatorOutcome, Proposal, Request
from metamem.search.recombine import Recombine
from metamem.search.recombine.operators import SURVEY

LEADS = [block.name for family in FAMILIES for block in blocks(family.named_by[0])]
# Of a search that has tried each way of remembering by itself.
SURVEYED = [OperatorOutcome(f"{SURVEY}({name})", None) for name in LEADS]


class Changing:
    async def propose(self, request: Request) -> Proposal:
        history = [*SURVEYED, *request.history]
        return await Recombine().propose(replace(request, history=history))

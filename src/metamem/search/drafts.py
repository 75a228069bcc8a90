"""Proposals on their way into the journal."""

from dataclasses import dataclass, replace
from typing import Any

from metamem.core.errors import DataError
from metamem.search.novelty import syntax_key
from metamem.search.proposer import Proposal, Proposer, Request

STAGES, COST = "stages", "cost"  # where the journal keeps a proposal's own, beside the evidence


class Tries:
    """Tells a proposer what its last try was, and adds up what all of them cost."""

    def __init__(self, proposer: Proposer) -> None:
        self._proposer = proposer
        self.last: Proposal | None = None

    async def propose(self, request: Request) -> Proposal:
        made = await self._proposer.propose(replace(request, earlier=self.last))
        spent = self.last.cost if self.last else 0.0
        self.last = replace(made, cost=spent + made.cost)
        return self.last


@dataclass
class Draft:
    """What a proposer was asked last, and all it made of it."""

    request: Request
    tries: Tries

    @property
    def proposal(self) -> Proposal:
        assert self.tries.last is not None
        return self.tries.last


def code_key(proposal: Proposal) -> str:
    """Equal for equal code; a source that cannot be read as Python equals itself alone."""
    try:
        return syntax_key(proposal.design.source)
    except (DataError, ValueError, RecursionError, MemoryError):
        return proposal.design.id


def told(proposal: Proposal) -> dict[str, Any]:
    """What the journal keeps of how a proposal came about, where there is something."""
    kept = {STAGES: dict(proposal.stages), COST: proposal.cost}
    return {name: value for name, value in kept.items() if value}

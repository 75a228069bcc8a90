"""Proposals on their way into the journal."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from metamem.core.types import Design
from metamem.search.proposer import Proposal, Proposer, Request
from metamem.search.verifier import Verdict

ROUND = "round"  # in which it was proposed, where that is not the first
STAGES, COST = "stages", "cost"  # where the journal keeps a proposal's own, beside the evidence

T = TypeVar("T")


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


def distinct(verdicts: Sequence[Verdict], key_of: Callable[[Design], str]) -> list[Verdict]:
    """Repairs of different drafts may end in the same code: then the first of them counts."""
    first: dict[str, str] = {}
    found = []
    for verdict in verdicts:
        if verdict.accepted:
            design = verdict.proposal.design
            key = key_of(design)
            if key in first:
                verdict = Verdict(verdict.proposal, duplicate_of=first[key])
            first.setdefault(key, design.id)
        found.append(verdict)
    return found


def told(proposal: Proposal, round_: int = 1) -> dict[str, Any]:
    """What the journal keeps of how a proposal came about, where there is something."""
    later = round_ if round_ > 1 else 0
    kept = {STAGES: dict(proposal.stages), COST: proposal.cost, ROUND: later}
    return {name: value for name, value in kept.items() if value}


async def settled(work: Iterable[Awaitable[T]]) -> list[T]:
    """All results in order. Where some fail the others still end, since models are paid by then,
    and what they found is on record; then the first failure is raised.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    done: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done

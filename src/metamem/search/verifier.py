"""Does a proposed design run? Tried in the jail on a few tasks before anything is spent on it."""

from dataclasses import dataclass, replace

from metamem.core.ids import derive_seed
from metamem.evaluation.evaluator import Evaluator
from metamem.search.proposer import FailedAttempt, Proposal, Proposer, Request

EXPERIENCES = 8
TASKS = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """A proposal, and why it is not to be evaluated where that is so."""

    proposal: Proposal
    error: str = ""
    duplicate_of: str = ""

    @property
    def accepted(self) -> bool:
        return not self.error and not self.duplicate_of


async def verify(
    evaluator: Evaluator, proposer: Proposer, request: Request, proposal: Proposal, repairs: int
) -> Verdict:
    """Run it; give a failure back to its proposer with the real error, `repairs` times at most."""
    error = ""
    for attempt in range(repairs + 1):
        error = (await evaluator.verify(proposal.design, EXPERIENCES, TASKS)).error
        if not error:
            return Verdict(proposal)
        if attempt < repairs:
            again = replace(
                request,
                seed=derive_seed(request.seed, "repair", attempt),
                failed_attempt=FailedAttempt(proposal.design.source, error),
            )
            proposal = await proposer.propose(again)
    return Verdict(proposal, error=error)

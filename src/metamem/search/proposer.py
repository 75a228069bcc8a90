"""What a proposer is asked and what it answers. The loop owns all state: a proposer is a pure
function of the request, so a run can be resumed and repeated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from metamem.core.types import Design


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a design fared, as shares in 0..1 unless said otherwise. All zero: nothing is known."""

    mean_reward: float = 0.0
    empty: float = 0.0  # of cases: memory had nothing to say
    unused: float = 0.0  # of the agent's actions where it had advice: none that the advice names
    repeated: float = 0.0  # of tasks that failed: failed in every repeat
    truncated: float = 0.0  # of cases: the host had to cut the advice
    tokens: float = 0.0  # advice tokens in a case, on average (a count)
    errors: float = 0.0  # of cases: the design failed
    error: str = ""  # what the design did wrong, as an example
    reward_by_kind: Mapping[str, float] = field(default_factory=dict)
    cases: int = 0  # how many the shares are taken over; 0: not evaluated yet


@dataclass(frozen=True, slots=True)
class ParentView:
    """A design as a proposer sees it."""

    design: Design
    mean: float
    evidence: Evidence = field(default_factory=Evidence)
    lineage: tuple[str, ...] = ()  # ids of its ancestors, nearest first


@dataclass(frozen=True, slots=True)
class OperatorOutcome:
    """What came of one earlier proposal: child's mean minus parent's mean."""

    operator: str
    gain: float | None  # None: rejected by the verifier, or a duplicate


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """A proposal that did not pass the verifier, to be repaired."""

    source: str
    error: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a proposer. The first parent is changed; the others may lend parts."""

    parents: Sequence[ParentView] = ()
    history: Sequence[OperatorOutcome] = ()  # oldest first
    seed: int = 0
    domain_description: str = ""
    failed_attempt: FailedAttempt | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new design, where it came from, and what changed and why in a sentence or two."""

    design: Design
    parents: tuple[str, ...]
    operator: str
    note: str


class Proposer(Protocol):
    """Writes a new design from parents and their evidence."""

    async def propose(self, request: Request) -> Proposal: ...

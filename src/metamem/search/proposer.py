"""What a proposer is asked and what it answers. The loop owns all state: a proposer is a pure
function of the request, so a run can be resumed and repeated.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from metamem.core.protocols import Chat
from metamem.core.space import Space
from metamem.core.types import Design
from metamem.search.score import Score


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a design fared, as shares in 0..1 unless said otherwise. All zero: nothing is known."""

    mean_reward: float = 0.0
    empty: float = 0.0  # of cases: memory had nothing to say
    # Of the cases in which memory said something, beside the same cases played without memory:
    ignored: float = 0.0  # the agent did just what it does without
    helped: float = 0.0  # more reward
    hurt: float = 0.0  # less reward
    vain: float = 0.0  # the agent did something else and gained nothing that was there to gain
    repeated: float = 0.0  # of tasks that failed: failed in every repeat
    truncated: float = 0.0  # of cases: the host had to cut the advice
    tokens: float = 0.0  # advice tokens in a case, on average (a count)
    errors: float = 0.0  # of cases: the design failed
    error: str = ""  # what the design did wrong, as an example
    reward_by_kind: Mapping[str, float] = field(default_factory=dict)
    cases: int = 0  # how many the shares are taken over; 0: not evaluated yet


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A design in the line that leads to a parent or on from it, and what its change brought."""

    id: str
    operator: str
    note: str  # what changed, and why
    mean: float
    gain: float | None  # its mean minus that of its own parent; None: it has none
    score: Score | None = None  # how sure its mean is


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """One episode that was played with a design."""

    task_id: str
    kind: str
    goal: str
    reward: float
    best_other: float  # the best reward any other design of the run had on the task
    advice: str
    changed: bool | None  # did the agent act otherwise than without advice? None: not known
    steps: tuple[tuple[str, str], ...]  # action, observation; the first has no action
    possible: tuple[tuple[str, ...], ...] = ()  # what could be done after each of these steps


async def no_episodes(tasks: Sequence[str]) -> Sequence[ShownEpisode]:
    return ()


@dataclass(frozen=True, slots=True)
class ParentView:
    """A design as a proposer sees it. Rewards are by task, of the tasks that were played."""

    design: Design
    mean: float
    evidence: Evidence = field(default_factory=Evidence)
    lineage: tuple[Ancestor, ...] = ()  # its ancestors, nearest first
    origin: Ancestor | None = None  # itself, as one of a line: how it came about
    children: tuple[Ancestor, ...] = ()  # what was made of it already, newest first
    fruitless: tuple[str, ...] = ()  # what else was tried, and why it came to nothing; newest first
    rewards: Mapping[str, float] = field(default_factory=dict)
    before: Mapping[str, float] = field(default_factory=dict)  # rewards of its nearest ancestor
    others: Mapping[str, float] = field(default_factory=dict)  # the best of any other design
    kinds: Mapping[str, str] = field(default_factory=dict)  # of task, by its id
    score: Score | None = None  # how sure the mean is
    # How it played some of these tasks: in their order, read (or played again) when asked for.
    episodes: Callable[[Sequence[str]], Awaitable[Sequence[ShownEpisode]]] = no_episodes


@dataclass(frozen=True, slots=True)
class OperatorOutcome:
    """What came of one earlier proposal: child's mean minus parent's mean."""

    operator: str
    gain: float | None  # None: rejected by the verifier, or a duplicate
    cost: float = 0.0  # money or tokens, of all tries and repairs
    ahead: float | None = None  # child's mean minus the best mean before it


@dataclass(frozen=True, slots=True)
class Tried:
    """A design that this search has evaluated."""

    design: Design
    mean: float  # reward: of all tasks, or an unbiased estimate where it was raced out
    operator: str
    human: bool = False
    rewards: Mapping[str, float] = field(default_factory=dict)  # of the tasks that were played


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """A proposal that did not pass the verifier, to be repaired."""

    source: str
    error: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new design, where it came from, and what changed and why in a sentence or two."""

    design: Design
    parents: tuple[str, ...]
    operator: str
    note: str
    stages: Mapping[str, Any] = field(default_factory=dict)  # what led to it; plain JSON
    cost: float = 0.0  # money or tokens


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a proposer. The first parent is changed; the others may lend parts."""

    parents: Sequence[ParentView] = ()
    history: Sequence[OperatorOutcome] = ()  # oldest first
    tried: Sequence[Tried] = ()  # all that was evaluated, people's too; oldest first
    seed: int = 0
    domain_description: str = ""
    invariants: Sequence[str] = ()  # what always holds in the domain, in words
    hints: bool = True  # False: nothing about the domain may be told to whoever writes
    failed_attempt: FailedAttempt | None = None
    earlier: Proposal | None = None  # the try before: what failed, or else a copy of a known design
    chats: Mapping[str, Chat] = field(default_factory=dict)  # models of the role `meta`, by name
    space: Space | None = None  # what there is to be set, where parameters are learned
    agent: str = ""  # who reads the advice, by its registered name
    asked: str = ""  # when memory is asked, in words
    latest: ParentView | None = None  # the last evaluated design of whoever is asked


def _nobody_listens(waiting: bool) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ProposerContext:
    """What a run gives a proposer that declares needs: of each, only what it declared."""

    window: int = 0  # tokens that the smallest of its models takes; 0: not known
    folder: Path | None = None  # of its own: what is in there is there again when the run goes on
    # Told True when it begins to wait for somebody, False when it no longer does: the clock of the
    # run stands still meanwhile.
    on_wait: Callable[[bool], None] = _nobody_listens


class Proposer(Protocol):
    """Writes a new design from parents and their evidence.

    One that needs a model, a folder or somebody to wait for says so in its class attribute `needs`
    (`metamem.core.needs.Needs`), and is then made with the keyword `context`, a `ProposerContext`.
    """

    async def propose(self, request: Request) -> Proposal: ...

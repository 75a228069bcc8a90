"""What evaluating must know of a kind of design: where its tasks come from, what its scores depend
on, and how one case is played. Everything else is the same for all kinds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from metamem.core import registry
from metamem.core.chat import AskAt
from metamem.core.protocols import Domain
from metamem.core.types import Case, Design, Task
from metamem.evaluation.jobs import Blobs, CaseDone, Job, JobDone, Setup
from metamem.evaluation.rules import Rules
from metamem.models.embedding import EmbedAt


@dataclass(frozen=True, slots=True)
class Shares:
    """The tasks of a split, by what is done with them."""

    collection: Sequence[Task]
    deployment: Sequence[Task]
    collected_from: str  # the split that the collection tasks belong to
    # What either may be drawn from beyond that, by those who ask for more.
    further_collection: Sequence[Task] = ()
    further_deployment: Sequence[Task] = ()


@dataclass(frozen=True, slots=True)
class Players:
    """Who and what takes part, as a fingerprint names it."""

    agent: str = ""
    embedder: str = ""
    toolbox: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    collector: str = ""  # who played what designs learn from; empty: the agent
    examples: int = 0  # worked ones that the agent wants to see


@dataclass(frozen=True, slots=True)
class Ways:
    """What can be reached from where cases are played."""

    blobs: Blobs
    ask: AskAt | None = None  # language models, where there are any
    embed: EmbedAt | None = None


class Hand(Protocol):
    """One design at the cases of one job."""

    async def ready(self) -> None:
        """Raises the `DesignFailure` that awaits every case, where one does."""
        ...

    async def twin(self) -> str:
        """The known design that this one cannot be told from before it plays; empty: none."""
        ...

    async def play(self, case: Case) -> tuple[CaseDone, str]:
        """One case: its row and, where the design failed, the whole error.

        A `DesignFailure` by the clock is raised unless the job says that the clock counts.
        """
        ...

    def told(self, done: JobDone) -> JobDone:
        """How the job ended, with what only the hand knows."""
        ...

    async def close(self) -> None: ...


class Playground(Protocol):
    """What playing under one setup takes, kept warm in one process."""

    def hand(self, job: Job) -> Hand: ...

    async def close(self) -> None: ...


class Kind(Protocol):
    @property
    def ceiling(self) -> Design | None:
        """Stands for the domain's own answers, where a domain of this kind has such."""
        ...

    @property
    def keeps_episodes(self) -> bool:
        """Whether a played case leaves something to look at."""
        ...

    def shares(self, domain: Domain, split: str, rules: Rules) -> Shares: ...

    def players(self, domain: Any, setup: Setup) -> Players: ...

    async def open(self, domain: Any, setup: Setup, ways: Ways) -> Playground: ...


def kind_of(domain: Domain) -> Kind:
    kind: Kind = registry.create("kinds", domain.kind)
    return kind

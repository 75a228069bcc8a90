"""The seams: what the parts of metamem ask of one another. Each is small on purpose."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from metamem.core.chat import AskModel, Question, Reply, Site
from metamem.core.types import Experience, Kind, Observation, Query, Task


class World(Protocol):
    """One live environment for one task: seeded and deterministic.

    One whose steps may take many seconds says `slow = True`.
    """

    def reset(self) -> Observation: ...

    def step(self, action: str) -> Observation: ...

    def close(self) -> None: ...


class Domain(Protocol):
    """Data about a family of tasks. It does not run anything itself."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def version(self) -> str:
        """Names the data exactly; part of every fingerprint."""
        ...

    @property
    def max_steps(self) -> int: ...

    @property
    def agent(self) -> str:
        """The name of the agent that plays here where nobody says otherwise."""
        ...

    @property
    def suggestions(self) -> Mapping[str, Any]:
        """Settings of a learning run that suit this domain, by their names in `LearnConfig`."""
        ...

    def describe(self) -> str: ...

    @property
    def rules(self) -> str:
        """How one acts here, told to agents that can read: commands, limits, the form of a reply.

        Nothing that memory is there to find out.
        """
        ...

    @property
    def forms(self) -> bool:
        """Whether the actions that observations show are forms to fill in, not a closed list."""
        ...

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of a split, always the same and in the same order; disjoint by split."""
        ...

    def world(self, task: Task, seed: int) -> World: ...

    def history(self, group: str) -> Sequence[Experience]:
        """What a memory lives through before it is asked about the tasks of one group.

        Empty where tasks have no group: there the agent's own episodes are what memory learns from.
        """
        ...

    def baselines(self) -> tuple[str, ...]:
        """Names of the human designs that a learned one must beat here."""
        ...

    def invariants(self) -> tuple[str, ...]:
        """What must always hold in this domain, in words; shown to proposers and people."""
        ...

    def oracle(self, task: Task) -> str:
        """Privileged advice for one task: a ceiling for reports, never shown elsewhere."""
        ...


class Chat(Protocol):
    """A language model, as one place may use it."""

    async def ask(self, question: Question) -> Reply:
        """The reply; `ModelRefused` where the model gave none that will do."""
        ...


@dataclass(frozen=True, slots=True)
class Seat:
    """Where an agent sits down to play one task."""

    goal: str
    seed: int
    rules: str = ""  # how one acts in this domain, for agents that can read it
    forms: bool = False  # the actions shown are forms to fill in, not a list to choose from
    chat: Chat | None = None  # the model of the role `agent`, where one is configured
    window: int = 0  # tokens of question and answer that it can take; 0: not known


class Player(Protocol):
    """An agent at one task."""

    def advise(self, advice: str) -> None:
        """Called before the first action, and again whenever memory is asked anew."""
        ...

    async def act(self, observation: Observation) -> str: ...


class Agent(Protocol):
    """Acts in a world, given advice. The same agent plays every task of an evaluation."""

    @property
    def fingerprint(self) -> str:
        """Names the agent and its settings exactly."""
        ...

    def start(self, seat: Seat) -> Player: ...


@dataclass(frozen=True, slots=True)
class Place:
    """What belongs to one call of a memory: where it happens, and the model to ask there."""

    site: Site = field(default=Site("memory"))
    model: AskModel | None = None


class Memory(Protocol):
    """A running design, as the host holds it. Any number of callers may use it at once.

    Updates happen one after another. A retrieval sees every update that returned before it began,
    and leaves no trace, unless the memory was opened to stream.
    """

    async def retrieve(self, query: Query, at: Place) -> Any: ...

    async def update(self, experience: Experience, at: Place) -> None: ...

    async def fork(self) -> "Memory":
        """An independent copy of the state: what happens to one is never seen by the other."""
        ...

    async def snapshot(self) -> bytes:
        """The state as bytes that only a jail may open."""
        ...

    async def close(self) -> None: ...


class ExperienceLog(Protocol):
    """Experiences in the order they were lived, one line of JSON each. What is in stays in."""

    async def append(self, line: str) -> int:
        """Returns the line's position once it will be there whatever happens."""
        ...

    def read(self, start: int = 0) -> AsyncIterator[str]:
        """The lines from a position on."""
        ...

    async def length(self) -> int: ...

    async def digest(self, position: int) -> str:
        """Names exactly what lies before a position: another text has another digest."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Any:
        """A float32 array of shape (len(texts), dimensions); rows of length one (or zero)."""
        ...

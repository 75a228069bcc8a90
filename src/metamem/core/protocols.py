"""The seams: what the parts of metamem ask of one another. Each is small on purpose."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from metamem.core.chat import AskModel, Question, Reply, Site
from metamem.core.space import Space
from metamem.core.types import Episode, Experience, Kind, Observation, Query, Scored, Task


class World(Protocol):
    """One live environment for one task: seeded and deterministic.

    One whose steps may take many seconds says `slow = True`.
    """

    def reset(self) -> Observation: ...

    def step(self, action: str) -> Observation: ...

    def close(self) -> None: ...


class Chat(Protocol):
    """A language model, as one place may use it."""

    async def ask(self, question: Question) -> Reply:
        """The reply; `ModelRefused` where the model gave none that will do."""
        ...


class TextEmbedder(Protocol):
    """Texts to unit vectors, wherever the embedder lives."""

    @property
    def fingerprint(self) -> str: ...

    async def embed(self, texts: Sequence[str]) -> Any:
        """A float32 array with a row for each text, of length one (or zero)."""
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """What belongs to one scoring of some parameters."""

    seed: int
    chat: Chat | None = None  # the model of the role `memory`, where one is configured
    embedder: TextEmbedder | None = None  # for a domain that says `embeds = True`


class Domain(Protocol):
    """Data about a family of tasks, of whatever kind. It does not run anything itself."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> Kind:
        """What is learned here: memories (`code`), or sets of parameters (`params`)."""
        ...

    @property
    def version(self) -> str:
        """Names the data exactly; part of every fingerprint."""
        ...

    @property
    def reward_range(self) -> tuple[float, float]:
        """The least and the most that a task can bring; 0 and 1 in worlds. What fails is worth the
        least."""
        ...

    @property
    def suggestions(self) -> Mapping[str, Any]:
        """Settings of a learning run that suit this domain, by their names in `LearnConfig`."""
        ...

    def describe(self) -> str: ...

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of a split, always the same and in the same order; disjoint by split."""
        ...

    def baselines(self) -> tuple[str, ...]:
        """Names of what people made for this, which whatever is learned must beat."""
        ...

    def invariants(self) -> tuple[str, ...]:
        """What must always hold in this domain, in words; shown to proposers and people."""
        ...


class ParamsDomain(Domain, Protocol):
    """A domain in which sets of parameters are learned.

    One that embeds texts while it scores says `embeds = True`: then scores depend on the embedder, and
    only then. One that needs something open while it scores has `async open()` and `async close()`:
    called once each, before the first and after the last score, in the event loop that scores.
    """

    @property
    def space(self) -> Space:
        """What there is to be set. The defaults are what everything else is compared with."""
        ...

    def preset(self, name: str) -> Mapping[str, Any]:
        """The values that one of the baselines stands for."""
        ...

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        """What some values come to on a task: a function of these three and of nothing else.

        `DesignFailure` says that the values are at fault; any other error is the domain's own.
        """
        ...


class WorldDomain(Domain, Protocol):
    """A domain of worlds, in which an agent acts and a memory advises it."""

    @property
    def max_steps(self) -> int: ...

    @property
    def agent(self) -> str:
        """The name of the agent that plays here where nobody says otherwise."""
        ...

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

    def world(self, task: Task, seed: int) -> World: ...

    def history(self, group: str) -> Sequence[Experience]:
        """What a memory lives through before it is asked about the tasks of one group.

        Empty where tasks have no group: there the agent's own episodes are what memory learns from.
        A design that studies is first given the lives of groups of train: such a history each, and
        the episodes of the group's tasks.
        """
        ...

    def oracle(self, task: Task) -> str:
        """Privileged advice for one task: a ceiling for reports, never shown elsewhere."""
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
    examples: tuple[Episode, ...] = ()  # tasks of train that were won with notes like those to come


class Player(Protocol):
    """An agent at one task. One that wants its rows to tell what else it took says it as `took`, by name."""

    def advise(self, advice: str) -> None:
        """Called before the first action, and again whenever memory is asked anew."""
        ...

    async def act(self, observation: Observation) -> str: ...


class Agent(Protocol):
    """Acts in a world, given advice. The same agent plays every task of an evaluation.

    One that wants to see worked examples says how many, as `examples`; it finds them in its `Seat`. One
    that learns from what it collected itself is a `Learner`, too.
    """

    @property
    def fingerprint(self) -> str:
        """Names the agent and its settings exactly."""
        ...

    def start(self, seat: Seat) -> Player: ...


@runtime_checkable
class Learner(Protocol):
    """What an agent has that learns. It learns while experiences are collected, and from nothing later:
    in deployment it is frozen, and the same for every design."""

    def lesson(self, seat: Seat, episode: Episode) -> dict[str, Any]:
        """What it will want to know of an episode that it played when it was collected, as JSON."""
        ...

    def taught(self, lessons: Sequence[Mapping[str, Any]]) -> Agent:
        """Itself, with what it makes of all lessons."""
        ...


@dataclass(frozen=True, slots=True)
class CallSite:
    """What belongs to one call of a memory: where it happens, and the model to ask there."""

    site: Site = field(default=Site("memory"))
    model: AskModel | None = None


class Memory(Protocol):
    """A running design, as the host holds it. Any number of callers may use it at once.

    Updates happen one after another. A retrieval sees every update that returned before it began,
    and leaves no trace, unless the memory was opened to stream.
    """

    async def retrieve(self, query: Query, at: CallSite) -> Any: ...

    async def update(self, experience: Experience, at: CallSite) -> None: ...

    async def fork(self) -> "Memory":
        """An independent copy of the state: what happens to one is never seen by the other."""
        ...

    async def snapshot(self) -> bytes:
        """The state as bytes that only a jail may open."""
        ...

    async def close(self) -> None: ...


class ExperienceLog(Protocol):
    """Experiences in the order they were lived, one line of JSON each.

    What is in stays in, at its position, until it is erased on someone's word: then its position
    stays, and nothing is there. Any number of memories may learn from one log and add to it.
    """

    async def append(self, line: str) -> int:
        """Returns the line's position once it will be there whatever happens."""
        ...

    def read(self, start: int = 0) -> AsyncIterator[tuple[int, str | None]]:
        """Every position from one on, in order, with its line; None where that was erased."""
        ...

    async def length(self) -> int:
        """How many positions there are, erased ones included."""
        ...

    async def digest(self, position: int) -> str:
        """Names exactly what lies before a position: another text has another digest.

        So erasing a line changes the digest of every position after it. Of a position beyond the
        end there is none: `UsageError`.
        """
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

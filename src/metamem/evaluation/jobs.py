"""What an executor is asked to do: a job is data, so that it can travel to any process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from metamem.core import registry
from metamem.core.types import Case, CaseResult, Design, Episode
from metamem.designs.jailed import CpuUse
from metamem.evaluation.probation import Probation
from metamem.evaluation.racing import Race
from metamem.evaluation.rules import Rules
from metamem.evaluation.streaks import Streaks


@dataclass(frozen=True, slots=True)
class Spec:
    """A registered name with its settings. It means the same in every process."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", registry.settled(self.name))


@dataclass(frozen=True, slots=True)
class Setup:
    """The parts a job needs. Workers keep the parts of equal setups."""

    domain: Spec
    agent: Spec
    embedder: Spec
    rules: Rules
    limits: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    parallel: int = 1  # episodes at once in one worker
    retrieves: int = 10  # retrievals at once, over all workers
    updates: int = 10  # updates at once, over all workers (one memory's own are always serial)
    isolation: str = "auto"  # of the jail
    models: Mapping[str, str] = field(default_factory=dict)  # role → fingerprint of its model
    window: int = 0  # tokens that the agent's model can take; 0: not known
    collector: Spec | None = None  # who plays what designs learn from; None: the agent


@dataclass(frozen=True, slots=True)
class Job:
    """Play these cases: alone, with a memory, or with the oracle's advice."""

    key: str
    setup: Setup
    split: str
    cases: tuple[Case, ...]
    phase: str = "deploy"  # collect | deploy
    design: Design | None = None
    oracle: bool = False
    experiences: str = ""  # id of the blob that holds the collected experiences
    experience_limit: int = 0  # 0: all
    keep_episodes: frozenset[str] = frozenset()  # tasks whose episodes come back whole
    keep_all: bool = False
    race: Race | None = None
    known: tuple[CaseResult, ...] = ()  # rows that an interrupted evaluation already has
    # What known designs advise on the probes, as digests in their order; by design.
    behaviours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    probation: Probation | None = None  # its cases come first, and may end the job
    streaks: Streaks | None = None  # in which order failures in a row are counted
    until_failure: bool = False  # the first failure ends it: whoever asks wants to know no more
    clock_counts: bool = False  # nothing else runs beside it, so a wall-clock stop counts
    probes: tuple[str, ...] = ()  # tasks on whose first query the behaviour is compared
    examples: tuple[str, ...] = ()  # tasks of train that worked examples may be made of
    lessons: str = ""  # id of the blob of what the agent learned from, where it learns

    @property
    def blobs(self) -> tuple[str, ...]:
        """The ids of all blobs that must be where it is played."""
        return tuple(key for key in (self.experiences, self.lessons) if key)

    advice_only: bool = False  # memory is asked before the first action, and nothing is played


@dataclass(frozen=True, slots=True)
class CaseDone:
    """One finished case, with its episode where that was asked for."""

    row: CaseResult
    episode: Episode | None = None


@dataclass(frozen=True, slots=True)
class JobDone:
    """How a job ended. `wall_stops` are cases cut by the clock: rerun alone before they count."""

    error: str = ""  # the design's failure, whole, for the proposer to repair
    raced_out: bool = False
    same_as: str = ""  # id of a known design with the same behaviour; then nothing was played
    wall_stops: tuple[Case, ...] = ()
    logs: tuple[str, ...] = ()
    cpu: CpuUse = field(default_factory=CpuUse)
    peaks: Mapping[str, int] = field(default_factory=dict)  # most at once, by cap


Emit = Callable[[CaseDone], None]
Blobs = Callable[[str], bytes]


class Executor(Protocol):
    """Runs jobs somewhere.

    The contract, checked by `metamem.evaluation.conformance`:
    - `run` emits every case of the job exactly once (unless the race, the behaviour check, the
      probation or wall-clock stops end it), in any order, then returns how the job ended;
    - rows do not depend on where, when or beside what a job runs;
    - a worker that dies or hangs is replaced and the rest of its job is tried again, a bounded
      number of times; then `EngineFault` is raised, and the executor stays usable;
    - `run` may be called many times at once; at most `slots` jobs run at a time, and the caps of
      the setup hold over all of them together;
    - `close` ends every process that it started, whatever they are doing.
    """

    @property
    def slots(self) -> int: ...

    async def run(self, job: Job, emit: Emit) -> JobDone: ...

    async def close(self) -> None: ...

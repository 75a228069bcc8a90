"""Sets of parameters: a case is one score that the domain gives."""

import math
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from metamem.core.errors import DesignFailure, EngineFault, MetamemError, UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain, ParamsDomain, Trial
from metamem.core.types import Case, CaseResult, Measurement, Scored, Task
from metamem.evaluation.chats import Chats
from metamem.evaluation.jobs import CaseDone, Job, JobDone, Setup
from metamem.evaluation.kinds import Players, Shares, Ways
from metamem.evaluation.rules import Rules, halved
from metamem.models.embedders import AnyEmbedder, EmbedderFor, open_embedder


class ParametersKind:
    ceiling = None
    keeps_episodes = False

    def shares(self, domain: Domain, split: str, rules: Rules) -> Shares:
        """Nothing is collected. Half of train is searched on, the other half confirms."""
        if (rules.rollout, rules.tasks_from, rules.experience) != ("frozen", "split", "whole"):
            raise UsageError(
                f"{domain.name} learns parameters: they are neither streamed nor collected for",
                hint="leave --rollout, --tasks-from and --experience out",
            )
        own = domain.tasks(split)
        return Shares((), halved(own, rules.fold)[1] if split == "train" else own, split)

    def players(self, domain: ParamsDomain, setup: Setup) -> Players:
        """Nobody but the embedder, and that only where the domain asks it."""
        embedder = _embedder(domain, setup)
        return Players() if embedder is None else Players(embedder=embedder.fingerprint)

    async def open(self, domain: ParamsDomain, setup: Setup, ways: Ways) -> "ScoringGround":
        embedder = _embedder(domain, setup, ways)
        if (opens := getattr(domain, "open", None)) is not None:
            with _domains_own(f"{domain.name} cannot be opened"):
                await opens()
        return ScoringGround(domain, ways, embedder)


def _embedder(domain: ParamsDomain, setup: Setup, ways: Ways | None = None) -> AnyEmbedder | None:
    if not getattr(domain, "embeds", False):
        return None
    return open_embedder(setup.embedder.name, setup.embedder.settings, ways.embed if ways else None)


@contextmanager
def _domains_own(where: str) -> Iterator[None]:
    """Any error but metamem's is the domain's own: told with the place where it happened."""
    try:
        yield
    except MetamemError:
        raise
    except Exception as error:
        trace = "".join(traceback.format_exception(error)[-3:])
        raise EngineFault(f"{where}: {error}", hint=trace) from error


class ScoringGround:
    def __init__(
        self, domain: ParamsDomain, ways: Ways, embedder: AnyEmbedder | None = None
    ) -> None:
        self._domain, self._ways, self._embedder = domain, ways, embedder
        self._tasks: dict[str, dict[str, Task]] = {}

    def hand(self, job: Job) -> "ScoringHand":
        if job.split not in self._tasks:
            self._tasks[job.split] = {task.id: task for task in self._domain.tasks(job.split)}
        return ScoringHand(self._domain, job, self._tasks[job.split], self._ways, self._embedder)

    async def close(self) -> None:
        if (closes := getattr(self._domain, "close", None)) is not None:
            with _domains_own(f"{self._domain.name} cannot be closed"):
                await closes()


class ScoringHand:
    def __init__(
        self,
        domain: ParamsDomain,
        job: Job,
        tasks: dict[str, Task],
        ways: Ways,
        embedder: AnyEmbedder | None,
    ) -> None:
        self._domain, self._job, self._tasks, self._ways = domain, job, tasks, ways
        self._embedder = embedder
        self._values: dict[str, Any] = {}

    async def ready(self) -> None:
        assert self._job.design is not None
        try:
            self._values = self._domain.space.read(self._job.design)
        except MetamemError as error:
            raise DesignFailure(error.message, kind="values") from error

    async def twin(self) -> str:
        return ""  # equal values are equal designs, so there is nothing to find out

    async def play(self, case: Case) -> tuple[CaseDone, str]:
        job, task = self._job, self._tasks[case.task_id]
        seed = derive_seed(job.setup.seed, job.phase, task.id, case.repeat)
        chats = Chats(job, self._ways.ask)
        trial = Trial(seed, chats.for_score(task.id, case.repeat), self._embedder_now())
        begun = time.perf_counter()
        failure: DesignFailure | None = None
        try:
            scored = await self._scored(task, trial)
        except DesignFailure as caught:
            failure, scored = caught, Scored(self._domain.reward_range[0])
        row = CaseResult(
            task_id=case.task_id,
            repeat=case.repeat,
            reward=float(scored.reward),
            steps=0,
            model_calls=chats.calls,
            tokens=chats.tokens,
            failure=failure.short if failure else "",
            costs=dict(scored.costs),
            measured=Measurement(time.perf_counter() - begun),
        )
        return CaseDone(row), str(failure) if failure else ""

    def _embedder_now(self) -> EmbedderFor | None:
        assert self._job.design is not None
        return EmbedderFor(self._embedder, self._job.design.id) if self._embedder else None

    async def _scored(self, task: Task, trial: Trial) -> Scored:
        """The domain's word, which must keep to what the domain says of itself."""
        low, high = self._domain.reward_range
        where = f"{self._domain.name}, task {task.id}"
        with _domains_own(where):
            scored = await self._domain.score(dict(self._values), task, trial)
            numbers = [float(scored.reward), *map(float, scored.costs.values())]
        if not all(map(math.isfinite, numbers)) or not low <= scored.reward <= high:
            raise EngineFault(
                f"{where}: a score of {scored.reward} with costs {dict(scored.costs)}",
                hint=f"rewards lie from {low} to {high} here, and costs are finite numbers",
            )
        return scored

    def told(self, done: JobDone) -> JobDone:
        return done

    async def close(self) -> None:
        pass

"""Worked examples for an agent that wants them: tasks of train, won with notes of the same memory.

They are made before the first case of a design is played, by the agent that the domain names, which
takes the notes that this very design gives on tasks that it did not learn from. So the form of the
notes is the one that the agent will meet, in every row of a table alike; number, length and tasks
are the same for all designs. Where too few are won, tasks done as the domain's own answers say fill
them up.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from metamem.core import registry
from metamem.core.episode import Ask, play
from metamem.core.errors import DesignFailure, UsageError
from metamem.core.ids import derive_seed
from metamem.core.needs import needs_of
from metamem.core.protocols import Agent, Seat, WorldDomain
from metamem.core.types import Episode, Query, Task
from metamem.core.waiting import Answer, Wait
from metamem.evaluation.jobs import Job
from metamem.evaluation.probation import HANGS

EXAMPLES_VERSION = "examples-1"

Advising = Callable[[Task], Awaitable[Ask | None]]


def wanted(agent: Agent) -> int:
    """How many worked examples an agent wants to see."""
    return int(getattr(agent, "examples", 0))


def demonstrator(domain: WorldDomain) -> Agent:
    """Who plays them: the agent that the domain names, which must need no model."""
    if needs_of("agents", domain.agent).model:
        raise UsageError(
            f"there are no worked examples in {domain.name}: its agent {domain.agent} asks a model",
            hint="play with examples=0",
        )
    agent: Agent = registry.create("agents", domain.agent)
    return agent


class Examples:
    """Those of one job, made when first asked for."""

    def __init__(self, job: Job, domain: WorldDomain, agent: Agent, advising: Advising) -> None:
        self._job, self._domain, self._agent = job, domain, agent
        self._advising = advising
        self._made: tuple[Episode, ...] | None = None
        self._failed: DesignFailure | None = None
        self._making = asyncio.Lock()

    async def get(self) -> tuple[Episode, ...]:
        if not wanted(self._agent):
            return ()
        async with self._making:
            if self._failed is not None:
                raise self._failed
            if self._made is None:
                try:
                    self._made = await self._make(wanted(self._agent))
                except DesignFailure as failure:
                    if failure.kind != HANGS:  # the machine may have been busy
                        self._failed = failure
                    raise
            return self._made

    async def _make(self, number: int) -> tuple[Episode, ...]:
        known = {task.id: task for task in self._domain.tasks("train")}
        tasks = [known[task_id] for task_id in self._job.examples]
        player = demonstrator(self._domain)
        played = {t.id: await self._play(player, t, await self._advising(t)) for t in tasks}
        chosen = _shortest_of_each_kind([t for t in tasks if self._good(played[t.id])], played)
        for task in tasks:
            if len(chosen) >= number:
                break
            if not self._good(played[task.id]):
                solved = await self._play(player, task, self._answers(task))
                first = tuple(a for a in played[task.id].advice if a.at == 0)
                solved = replace(solved, advice=first)  # the notes are still the design's
                if self._good(solved):
                    chosen.append(solved)
        return tuple(chosen[:number])

    def _good(self, episode: Episode) -> bool:
        shows: Callable[[Episode], bool] = getattr(self._agent, "shows", lambda episode: True)
        return episode.reward >= self._domain.reward_range[1] and shows(episode)

    def _answers(self, task: Task) -> Ask:
        async def ask(query: Query) -> Answer:
            return Answer(self._domain.oracle(task), Wait())

        return ask

    async def _play(self, agent: Agent, task: Task, ask: Ask | None) -> Episode:
        rules = self._job.setup.rules
        seed = derive_seed(self._job.setup.seed, "example", task.id)
        world = self._domain.world(task, seed)
        try:
            return await play(
                task,
                world,
                agent.start(Seat(task.goal, seed, self._domain.rules, self._domain.forms)),
                ask,
                max_steps=rules.max_steps or self._domain.max_steps,
                advice_tokens=rules.advice_tokens,
                ask_every=rules.ask_every,
                ask_when=rules.ask_when,
            )
        finally:
            with suppress(OSError):
                world.close()


def _shortest_of_each_kind(tasks: Sequence[Task], played: Mapping[str, Episode]) -> list[Episode]:
    """The shortest of every kind, then the second of every kind, and so on."""
    kinds: dict[str, list[Episode]] = {}
    for task in tasks:
        kinds.setdefault(task.kind, []).append(played[task.id])
    ranked = [sorted(own, key=lambda episode: len(episode.steps)) for own in kinds.values()]
    rounds = max(map(len, ranked), default=0)
    return [own[n] for n in range(rounds) for own in ranked if n < len(own)]

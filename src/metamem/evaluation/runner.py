"""Executes jobs in this process: the one runner that every executor and every domain shares."""

import asyncio
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from metamem.core import registry
from metamem.core.chat import AskAt
from metamem.core.errors import DesignFailure, EngineFault, MetamemError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Agent, Chat, Domain, Seat, World
from metamem.core.types import Case, CaseResult, Episode, Measurement, Query, Task
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.evaluation.behaviour import actions_digest, advice_digest
from metamem.evaluation.caps import Cap
from metamem.evaluation.chats import Chats
from metamem.evaluation.episode import Ask, cap_advice, play
from metamem.evaluation.jobs import Blobs, CaseDone, Emit, Job, JobDone, Setup
from metamem.evaluation.memories import Memories
from metamem.evaluation.probation import HANGS
from metamem.models.embedders import AnyEmbedder, open_embedder
from metamem.models.embedding import EmbedAt

FEW_HANGS = 3  # cases that a job leaves unplayed by the clock before it ends to have them rerun


@dataclass
class Parts:
    """What the jobs of one setup share."""

    domain: Domain
    agent: Agent
    embedder: AnyEmbedder
    jail: Jail
    episodes: Cap
    retrieves: Cap
    updates: Cap
    tasks: dict[str, dict[str, Task]] = field(default_factory=dict)

    @property
    def peaks(self) -> dict[str, int]:
        """The most episodes, retrievals and updates that were ever under way at once."""
        caps = {"episodes": self.episodes, "retrieves": self.retrieves, "updates": self.updates}
        return {name: cap.peak for name, cap in caps.items()}

    def task(self, split: str, task_id: str) -> Task:
        if split not in self.tasks:
            self.tasks[split] = {t.id: t for t in self.domain.tasks(split)}
        return self.tasks[split][task_id]


class Runner:
    """Plays the cases of jobs, one process's worth. Keeps worlds' data, agent and jail warm."""

    def __init__(
        self, blobs: Blobs, ask: AskAt | None = None, embed: EmbedAt | None = None
    ) -> None:
        self._blobs = lru_cache(maxsize=4)(blobs)
        self._ask, self._embed = ask, embed  # the ways to the models, where there are any
        self._parts: dict[str, Parts] = {}

    async def run(self, job: Job, emit: Emit) -> JobDone:
        parts = await self._ready(job.setup)
        if job.design is None:
            return await self._play(job, parts, None, job.cases, emit)
        memories = Memories(
            job,
            parts.domain,
            parts.jail,
            parts.embedder,
            parts.updates,
            self._blobs,
            Chats(job, self._ask),
        )
        try:
            if not any(parts.task(job.split, case.task_id).group for case in job.cases):
                try:
                    await memories.get("")
                except DesignFailure as failure:  # the same awaits every case
                    return _all_failed(job, failure, emit)
            twin = await self._twin(job, parts, memories)
            if twin and not job.advice_only:
                return JobDone(same_as=twin)
            done = await self._on_probation(job, parts, memories, emit)
            return replace(
                done,
                same_as=twin,
                logs=memories.logs,
                cpu=memories.cpu,
                peaks=parts.peaks,
            )
        finally:
            await memories.close()

    async def close(self) -> None:
        for parts in self._parts.values():
            await parts.jail.close()
        self._parts.clear()

    # --- standing up the parts ---------------------------------------------------------------

    async def _ready(self, setup: Setup) -> Parts:
        key = repr(setup)
        if key not in self._parts:
            jail = Jail(limits=Limits(**setup.limits), isolation=setup.isolation)
            await jail.start()
            self._parts[key] = Parts(
                registry.create("domains", setup.domain.name, **setup.domain.settings),
                registry.create("agents", setup.agent.name, **setup.agent.settings),
                open_embedder(setup.embedder.name, setup.embedder.settings, self._embed),
                jail,
                Cap(setup.parallel),
                Cap(setup.retrieves),
                Cap(setup.updates),
            )
        return self._parts[key]

    # --- playing -----------------------------------------------------------------------------

    async def _on_probation(
        self, job: Job, parts: Parts, memories: Memories, emit: Emit
    ) -> JobDone:
        """The first cases one by one; the others only where the design does not fail in them all."""
        if job.probation is None:
            return await self._race(job, parts, memories, emit)
        rows, error = {row.case: row for row in job.known}, ""

        def keep(done: CaseDone) -> None:
            rows[done.row.case] = done.row
            emit(done)

        while (standing := job.probation.standing(rows)).next_case is not None:
            done = await self._play(job, parts, memories, [standing.next_case], keep)
            error = error or done.error
            if done.wall_stops:  # it must be known before the next one is tried
                return JobDone(error=error, wall_stops=done.wall_stops)
        if standing.stopped:
            return JobDone(error=error)
        done = await self._race(replace(job, known=tuple(rows.values())), parts, memories, emit)
        return replace(done, error=error or done.error)

    async def _race(self, job: Job, parts: Parts, memories: Memories, emit: Emit) -> JobDone:
        """Stage by stage: after each, the race says which tasks are worth playing next."""
        if job.race is None:
            known = {row.case for row in job.known}
            rest = [case for case in job.cases if case not in known]
            return await self._play(job, parts, memories, rest, emit)
        rewards = {row.case: row.reward for row in job.known}

        def keep(done: CaseDone) -> None:
            rewards[done.row.case] = done.row.reward
            emit(done)

        cases: dict[str, list[Case]] = {}
        for case in (*job.cases, *rewards):
            if case not in cases.setdefault(case.task_id, []):
                cases[case.task_id].append(case)
        error = ""
        while True:
            finished = {
                task: sum(rewards[c] for c in own) / len(own)
                for task, own in cases.items()
                if all(c in rewards for c in own)
            }
            state = job.race.state(finished)
            if not state.next_tasks:
                return JobDone(error=error, raced_out=state.raced_out > 0)
            wanted = [c for t in state.next_tasks for c in cases[t] if c not in rewards]
            done = await self._play(job, parts, memories, wanted, keep)
            error = error or done.error
            if done.wall_stops:  # the race cannot be judged before these are known
                return JobDone(error=error, wall_stops=done.wall_stops)

    async def _play(
        self, job: Job, parts: Parts, memories: Memories | None, cases: Iterable[Case], emit: Emit
    ) -> JobDone:
        error = ""
        wall_stops: list[Case] = []

        async def one(case: Case) -> None:
            nonlocal error
            async with parts.episodes:
                # Hangs cost a minute each: they are played again before more is tried.
                if len(wall_stops) >= FEW_HANGS or (job.until_failure and (error or wall_stops)):
                    return
                try:
                    done, failure = await self._case(job, parts, memories, case)
                except DesignFailure as stop:
                    if stop.kind != HANGS:
                        raise
                    wall_stops.append(case)
                    return
            error = error or failure
            emit(done)

        if job.setup.rules.rollout == "streaming" or job.setup.parallel == 1:
            for case in cases:
                await one(case)
        else:
            try:
                async with asyncio.TaskGroup() as group:
                    for case in cases:
                        group.create_task(one(case))
            except ExceptionGroup as several:  # the first says enough; the others were cut short
                raise several.exceptions[0] from None
        return JobDone(error=error, wall_stops=tuple(wall_stops))

    async def _case(
        self, job: Job, parts: Parts, memories: Memories | None, case: Case
    ) -> tuple[CaseDone, str]:
        """One case. Returns its row and, where the design failed, the whole error."""
        rules, task = job.setup.rules, parts.task(job.split, case.task_id)
        seed = derive_seed(job.setup.seed, job.phase, task.id, case.repeat)
        chats = Chats(job, self._ask)
        streaming = rules.rollout == "streaming" and not job.advice_only
        begun, asked = time.perf_counter(), 0.0
        memory = None
        episode, failure = Episode(task.id, task.goal, "", (), (), 0.0), None
        try:
            if memories is not None:
                memory = await memories.get(task.group)
            here = chats.for_design(job.phase, task.id, case.repeat)

            async def from_memory(query: Query) -> Any:
                nonlocal asked
                assert memory is not None
                if job.advice_only:
                    return await memory.consult(query, here)
                async with parts.retrieves:
                    value, seconds = await memory.timed_retrieve(query, here)
                asked += seconds
                return value

            async def from_oracle(query: Query) -> str:
                return parts.domain.oracle(task)

            ask: Ask | None = from_oracle if job.oracle else from_memory if memory else None
            chat = chats.for_agent(task.id, case.repeat)
            episode = await _play_guarded(parts, task, seed, ask, job, chat)
            if streaming and memory is not None:
                then = chats.for_design("stream", task.id, case.repeat)
                async with parts.updates:
                    await memory.update(episode.experience(), then)
        except DesignFailure as caught:
            if caught.kind == HANGS and not job.clock_counts:
                raise
            failure = caught
        measured = Measurement(time.perf_counter() - begun, asked * 1000)
        row = _row(case, episode, failure, chats, measured)
        keep = job.keep_all or case.task_id in job.keep_episodes
        return CaseDone(row, episode if keep else None), str(failure) if failure else ""

    async def _twin(self, job: Job, parts: Parts, memories: Memories) -> str:
        """The known design that gives the same advice on the first query of every probe task.

        Asks no longer than some known design is still alike: a new one mostly differs at once.
        """
        alike = dict(job.behaviours)
        for place, task_id in enumerate(job.probes):
            if not alike:
                return ""
            try:
                done, _ = await self._case(
                    replace(job, advice_only=True), parts, memories, Case(task_id)
                )
            except DesignFailure:  # it is slow: its cases will tell
                return ""
            if done.row.failure:
                return ""
            digest = done.row.advice_digest
            alike = {design: told for design, told in alike.items() if told[place] == digest}
        return next(iter(alike), "")


async def _asked(task: Task, world: World, ask: Ask | None, tokens: int) -> Episode:
    """What memory says before the first action; nothing is played."""
    seen = world.reset()
    value = await ask(Query(task.goal, seen.text, seen.actions)) if ask else None
    advice = cap_advice(value, tokens)
    return Episode(task.id, task.goal, seen.text, seen.actions, (), 0.0, (advice,))


async def _play_guarded(
    parts: Parts, task: Task, seed: int, ask: Ask | None, job: Job, chat: Chat | None
) -> Episode:
    """Play, telling the faults of world and machine from those of design and agent."""
    rules = job.setup.rules
    try:
        world = parts.domain.world(task, seed)
        try:
            if job.advice_only:
                return await _asked(task, world, ask, rules.advice_tokens)
            return await play(
                task,
                world,
                parts.agent.start(
                    Seat(
                        task.goal,
                        seed,
                        parts.domain.rules,
                        parts.domain.forms,
                        chat,
                        job.setup.window,
                    )
                ),
                ask,
                max_steps=rules.max_steps or parts.domain.max_steps,
                advice_tokens=rules.advice_tokens,
                ask_every=rules.ask_every,
            )
        finally:
            with suppress(OSError):
                world.close()
    except MetamemError:
        raise
    except Exception as error:
        where = "".join(traceback.format_exception(error)[-3:])
        raise EngineFault(f"{parts.domain.name}, task {task.id}: {error}", hint=where) from error


def _row(
    case: Case,
    episode: Episode,
    failure: DesignFailure | None,
    chats: Chats,
    measured: Measurement,
) -> CaseResult:
    return CaseResult(
        task_id=case.task_id,
        repeat=case.repeat,
        reward=0.0 if failure else float(episode.reward),
        steps=len(episode.steps),
        advice_tokens=sum(a.tokens for a in episode.advice),
        advice_truncated=any(a.truncated for a in episode.advice),
        advice_digest=advice_digest([a.text for a in episode.advice]),
        actions_digest="" if failure else actions_digest(s.action for s in episode.steps),
        model_calls=chats.calls,
        tokens=chats.tokens,
        failure=_short(failure) if failure else "",
        measured=measured,
    )


def _all_failed(job: Job, failure: DesignFailure, emit: Emit) -> JobDone:
    """The memory never came to be: every case is scored as failed, or rerun if the clock did it."""
    rows = {row.case: row for row in job.known}
    cases = [case for case in job.cases if case not in rows]
    if failure.kind == HANGS and not job.clock_counts:
        return JobDone(error=str(failure), wall_stops=tuple(cases))

    def fail(case: Case) -> None:
        rows[case] = CaseResult(case.task_id, case.repeat, 0.0, 0, failure=_short(failure))
        emit(CaseDone(rows[case]))

    if job.probation is not None:
        while (standing := job.probation.standing(rows)).next_case is not None:
            fail(standing.next_case)
        if standing.stopped:
            return JobDone(error=str(failure))
    for case in cases:
        if case not in rows:
            fail(case)
    return JobDone(error=str(failure))


def _short(failure: DesignFailure) -> str:
    last = failure.message.strip().splitlines()[-1] if failure.message.strip() else ""
    return f"{failure.kind}: {last}"[:200]

"""Executes jobs in this process: the one runner that every executor and every domain shares."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from metamem.core import registry
from metamem.core.chat import AskAt
from metamem.core.errors import DesignFailure
from metamem.core.protocols import Domain
from metamem.core.types import Case, CaseResult
from metamem.evaluation.caps import Cap
from metamem.evaluation.jobs import Blobs, CaseDone, Emit, Job, JobDone, Setup
from metamem.evaluation.kinds import Hand, Playground, Ways, kind_of
from metamem.evaluation.probation import HANGS
from metamem.models.embedding import EmbedAt

FEW_HANGS = 3  # cases that a job leaves unplayed by the clock before it ends to have them rerun


@dataclass
class Ground:
    """What the jobs of one setup share."""

    play: Playground
    episodes: Cap
    least: float  # the reward of what fails


class Runner:
    """Plays the cases of jobs, one process's worth. Keeps what a setup takes warm."""

    def __init__(
        self, blobs: Blobs, ask: AskAt | None = None, embed: EmbedAt | None = None
    ) -> None:
        self._ways = Ways(lru_cache(maxsize=4)(blobs), ask, embed)
        self._grounds: dict[str, Ground] = {}
        self._opening = asyncio.Lock()

    async def run(self, job: Job, emit: Emit) -> JobDone:
        ground = await self._ready(job.setup)
        hand = ground.play.hand(job)
        try:
            if job.design is None:
                return await self._play(job, ground, hand, job.cases, emit)
            try:
                await hand.ready()
            except DesignFailure as failure:  # the same awaits every case
                return _all_failed(job, ground.least, failure, emit)
            twin = await hand.twin()
            if twin and not job.advice_only:
                return JobDone(same_as=twin)
            done = await self._on_probation(job, ground, hand, emit)
            peaks = {"episodes": ground.episodes.peak}
            return hand.told(replace(done, same_as=twin, peaks=peaks))
        finally:
            await hand.close()

    async def close(self) -> None:
        for ground in self._grounds.values():
            await ground.play.close()
        self._grounds.clear()

    async def _ready(self, setup: Setup) -> Ground:
        key = repr(setup)
        async with self._opening:  # jobs that come together share what the first one opens
            if key not in self._grounds:
                spec = setup.domain
                domain: Domain = registry.create("domains", spec.name, **spec.settings)
                play = await kind_of(domain).open(domain, setup, self._ways)
                self._grounds[key] = Ground(play, Cap(setup.parallel), domain.reward_range[0])
            return self._grounds[key]

    # --- playing -----------------------------------------------------------------------------

    async def _on_probation(self, job: Job, ground: Ground, hand: Hand, emit: Emit) -> JobDone:
        """The first cases one by one; the others only where the design does not fail in them all."""
        if job.probation is None:
            return await self._race(job, ground, hand, emit)
        rows, error = {row.case: row for row in job.known}, ""

        def keep(done: CaseDone) -> None:
            rows[done.row.case] = done.row
            emit(done)

        while (standing := job.probation.standing(rows)).next_case is not None:
            done = await self._play(job, ground, hand, [standing.next_case], keep)
            error = error or done.error
            if done.wall_stops:  # it must be known before the next one is tried
                return JobDone(error=error, wall_stops=done.wall_stops)
        if standing.stopped:
            return JobDone(error=error)
        done = await self._race(replace(job, known=tuple(rows.values())), ground, hand, emit)
        return replace(done, error=error or done.error)

    async def _race(self, job: Job, ground: Ground, hand: Hand, emit: Emit) -> JobDone:
        """Stage by stage: after each, the race says which tasks are worth playing next."""
        known = {row.case: row for row in job.known}
        if job.race is None:
            rest = [case for case in job.cases if case not in known]
            return await self._play(job, ground, hand, rest, emit)
        rows = dict(known)

        def keep(done: CaseDone) -> None:
            rows[done.row.case] = done.row
            emit(done)

        cases: dict[str, list[Case]] = {}
        for case in (*job.cases, *rows):
            if case not in cases.setdefault(case.task_id, []):
                cases[case.task_id].append(case)
        error = ""
        while True:
            stopped = job.streaks.judge(rows).stopped if job.streaks else {}
            counted = {**rows, **stopped, **known}
            rewards = {case: row.reward for case, row in counted.items()}
            finished = {
                task: sum(rewards[c] for c in own) / len(own)
                for task, own in cases.items()
                if all(c in rewards for c in own)
            }
            state = job.race.state(finished)
            if not state.next_tasks:
                return JobDone(error=error, raced_out=state.raced_out > 0)
            wanted = [c for t in state.next_tasks for c in cases[t] if c not in rewards]
            done = await self._play(job, ground, hand, wanted, keep)
            error = error or done.error
            if done.wall_stops:  # the race cannot be judged before these are known
                return JobDone(error=error, wall_stops=done.wall_stops)

    async def _play(
        self, job: Job, ground: Ground, hand: Hand, cases: Iterable[Case], emit: Emit
    ) -> JobDone:
        error = ""
        wall_stops: list[Case] = []

        async def one(case: Case) -> None:
            nonlocal error
            async with ground.episodes:
                # Hangs cost a minute each: they are played again before more is tried.
                if len(wall_stops) >= FEW_HANGS or (job.until_failure and (error or wall_stops)):
                    return
                try:
                    done, failure = await hand.play(case)
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


def _all_failed(job: Job, least: float, failure: DesignFailure, emit: Emit) -> JobDone:
    """The memory never came to be: every case is scored as failed, or rerun if the clock did it."""
    rows = {row.case: row for row in job.known}
    cases = [case for case in job.cases if case not in rows]
    if failure.kind == HANGS and not job.clock_counts:
        return JobDone(error=str(failure), wall_stops=tuple(cases))

    def fail(case: Case) -> None:
        rows[case] = CaseResult(case.task_id, case.repeat, least, 0, failure=failure.short)
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

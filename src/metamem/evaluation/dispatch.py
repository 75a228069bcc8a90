"""Jobs on their way to the executor: all parts of an evaluation, and what the clock stopped again."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from metamem.core.ids import short
from metamem.core.together import together
from metamem.core.types import Case
from metamem.evaluation.jobs import CaseDone, Emit, Executor, Job, JobDone
from metamem.evaluation.plans import Plan
from metamem.evaluation.probation import HANGS
from metamem.evaluation.record import Record
from metamem.evaluation.runner import FEW_HANGS
from metamem.evaluation.shards import shards

Note = Callable[[str], None]


class Dispatcher:
    """Sends jobs to one executor, as many at once as it has slots; or one with nothing beside it."""

    def __init__(self, executor: Executor, note: Note | None = None) -> None:
        self._executor, self._note = executor, note
        self._permits = asyncio.Semaphore(executor.slots)
        self._one_alone = asyncio.Lock()

    @property
    def slots(self) -> int:
        """How many jobs run at once."""
        return self._executor.slots

    async def evaluate(self, job: Job, plan: Plan, record: Record) -> JobDone:
        """All of an evaluation: the shard with the first cases leads, the others wait for them."""
        lead, *others = shards(job, plan, self._executor.slots)
        decided = asyncio.Event()

        def judge() -> None:
            if record.standing.next_case is None:
                decided.set()

        async def leading() -> JobDone:
            done = await self.run(lead, record, judge)
            decided.set()
            return done

        async def following(shard: Job) -> JobDone:
            await decided.wait()
            return JobDone() if record.standing.stopped else await self.run(shard, record)

        judge()
        return _joined(await together([leading(), *map(following, others)]))

    async def run(
        self, job: Job, record: Record, on_row: Callable[[], None] | None = None
    ) -> JobDone:
        """One job to its end, or to that of the design, with what the clock stopped played again."""

        def keep(done: CaseDone) -> None:
            record.add(done)
            if on_row:
                on_row()

        error, chain = "", job.setup.rules.rollout == "streaming"
        while True:
            async with self._permits:
                done, cut = await self._watched(job, keep, record)
            error = error or done.error
            if not cut and not done.wall_stops:
                return replace(done, error=error)
            if not cut:
                self._tell(job, done.wall_stops)
                again = job if chain else replace(job, race=None, probes=(), cases=done.wall_stops)
                known = () if chain else tuple(record.rows.values())
                done = await self._alone(
                    replace(again, clock_counts=True, known=known), keep, record
                )
                error = error or done.error
            ended = chain or job.until_failure or record.holds(job.cases)
            if ended or record.standing.stopped:
                return replace(done, error=error)
            # What goes on hanging is believed, once it has hung alone a few times.
            known = tuple(record.rows.values())
            hung = sum(row.failure.startswith(HANGS) for row in known)
            job = replace(job, known=known, clock_counts=hung >= FEW_HANGS)

    async def once(self, job: Job, emit: Emit) -> JobDone:
        """One job whose rows nobody keeps; what the clock stops in it is left to the caller."""
        async with self._permits:
            return await self._executor.run(job, emit)

    async def _watched(self, job: Job, keep: Emit, record: Record) -> tuple[JobDone, bool]:
        """One go of the executor, and whether it was cut short since cases of it were stopped."""
        with record.watching(job.cases) as stopped:
            playing = asyncio.ensure_future(self._executor.run(job, keep))
            watching = asyncio.ensure_future(stopped.wait())
            try:
                await asyncio.wait({playing, watching}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (playing, watching):
                    task.cancel()
                await asyncio.wait({playing, watching})
                await record.finish()
            return JobDone() if playing.cancelled() else playing.result(), stopped.is_set()

    async def _alone(self, job: Job, keep: Emit, record: Record) -> JobDone:
        """A stop by the clock may be the machine's fault: played again with nothing beside it."""
        async with self._one_alone:
            for _ in range(self._executor.slots):
                await self._permits.acquire()
            try:
                done, _ = await self._watched(job, keep, record)
                return done
            finally:
                for _ in range(self._executor.slots):
                    self._permits.release()

    def _tell(self, job: Job, cases: Sequence[Case]) -> None:
        """It takes minutes, and nothing else is played meanwhile."""
        if self._note is None or job.design is None:
            return
        name = job.design.name or short(job.design.id)
        many = f"{len(cases)} cases" if len(cases) > 1 else "a case"
        be = "are" if len(cases) > 1 else "is"
        self._note(f"{name}: {many} took too long and {be} played again alone")


def _joined(ends: Sequence[JobDone]) -> JobDone:
    return replace(
        ends[0],
        error=next((e.error for e in ends if e.error), ""),
        raced_out=any(e.raced_out for e in ends),
    )

"""Faults of the engine or the machine are tried again, a bounded number of times."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from metamem.core.errors import EngineFault
from metamem.evaluation.jobs import CaseDone, Emit, Job, JobDone

ATTEMPTS = 3


async def persistent(
    job: Job, emit: Emit, once: Callable[[Job, Emit], Awaitable[JobDone]]
) -> JobDone:
    """Carry out a job; after a fault only what is missing is played again."""
    finished = list(job.known)

    def keep(done: CaseDone) -> None:
        finished.append(done.row)
        emit(done)

    for attempt in range(1, ATTEMPTS + 1):
        known = {row.case for row in finished}
        rest = tuple(case for case in job.cases if case not in known)
        try:
            return await once(replace(job, cases=rest, known=tuple(finished)), keep)
        except EngineFault as fault:
            if attempt == ATTEMPTS:
                raise EngineFault(
                    f"failed {ATTEMPTS} times: {fault.message}", hint=fault.hint
                ) from fault
    raise AssertionError("unreachable")

"""The simplest executor: jobs run in this very process. For tests and for one's own objects."""

import asyncio

from metamem.core.aside import aside
from metamem.core.chat import AskAt
from metamem.evaluation.jobs import Blobs, Emit, Job, JobDone
from metamem.evaluation.retry import persistent
from metamem.evaluation.runner import Runner
from metamem.models.embedding import EmbedAt


class InlineExecutor:
    """Runs jobs here, `slots` at a time."""

    def __init__(
        self,
        blobs: Blobs,
        slots: int = 1,
        ask: AskAt | None = None,
        embed: EmbedAt | None = None,
    ) -> None:
        self._blobs = blobs
        self._held: dict[str, bytes] = {}
        self._runner = Runner(self._held.__getitem__, ask, embed)
        self._free = asyncio.Semaphore(slots)
        self._slots = slots

    @property
    def slots(self) -> int:
        return self._slots

    async def run(self, job: Job, emit: Emit) -> JobDone:
        async with self._free:
            for key in job.blobs:
                if key not in self._held:
                    self._held[key] = await aside(self._blobs, key)
            return await persistent(job, emit, self._runner.run)

    async def close(self) -> None:
        await self._runner.close()

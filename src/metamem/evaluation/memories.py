"""The memories of one job: one for each group of its tasks, or one for all where there are none."""

import asyncio
import zlib
from collections.abc import Iterable, Sequence

from metamem.core.errors import DesignFailure
from metamem.core.ids import canonical_json, derive_seed
from metamem.core.protocols import Domain
from metamem.designs.jailed import CpuUse, Jail, JailedMemory
from metamem.evaluation.caps import Cap
from metamem.evaluation.chats import Chats
from metamem.evaluation.jobs import Blobs, Job
from metamem.models.embedders import AnyEmbedder

MOST_LOGS = 1000  # lines kept for one job


class Memories:
    """Opened and fed when first asked for, kept until the job ends."""

    def __init__(
        self,
        job: Job,
        domain: Domain,
        jail: Jail,
        embedder: AnyEmbedder,
        updates: Cap,
        blobs: Blobs,
        chats: Chats,
    ) -> None:
        self._job, self._domain, self._jail = job, domain, jail
        self._embedder, self._updates, self._blobs = embedder, updates, blobs
        self._chats = chats
        self._open: dict[str, JailedMemory] = {}
        self._failed: dict[str, DesignFailure] = {}
        self._feeding = asyncio.Lock()
        self.logs: list[str] = []  # what was logged in updates and in retrievals
        self.cpu = CpuUse()

    async def get(self, group: str) -> JailedMemory:
        """The memory that has learned what precedes this group's tasks; a design fails only once."""
        async with self._feeding:
            if group in self._failed:
                raise self._failed[group]
            if group not in self._open:
                try:
                    self._open[group] = await self._feed(group)
                except DesignFailure as failure:
                    self._failed[group] = failure
                    raise
            return self._open[group]

    def note(self, memory: JailedMemory) -> None:
        """Keep what is to be told of a memory that was used and ends now."""
        if len(self.logs) < MOST_LOGS:
            self.logs += memory.logs[: MOST_LOGS - len(self.logs)]
        self.cpu.include(memory.cpu)

    async def close(self) -> None:
        for memory in self._open.values():
            await memory.close()

    async def _feed(self, group: str) -> JailedMemory:
        assert self._job.design is not None
        seed = derive_seed("design", self._job.setup.seed)
        memory = await self._jail.open(self._job.design, seed=seed, embedder=self._embedder)
        try:
            for number, line in enumerate(self._experiences(group)):
                async with self._updates:
                    # Named by what is learned, not by who asks: shards that feed the same
                    # experiences to the same design share the model's answers.
                    memory.llm = self._chats.for_design("update", group, number)
                    await memory.update_encoded(line)
            self.note(memory)
        except BaseException:
            await memory.close()
            raise
        return memory

    def _experiences(self, group: str) -> Sequence[str]:
        lines: Iterable[str] = ()
        if group:
            lines = (canonical_json(e.to_json()) for e in self._domain.history(group))
        elif self._job.experiences:
            lines = zlib.decompress(self._blobs(self._job.experiences)).decode().splitlines()
        kept = list(lines)
        return kept[: self._job.experience_limit] if self._job.experience_limit else kept

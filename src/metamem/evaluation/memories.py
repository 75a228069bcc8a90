"""The memories of one job: one for each group of its tasks, or one for all where there are none."""

import asyncio
import json
import zlib
from collections.abc import Iterable, Sequence
from functools import partial

from metamem.core.errors import DesignFailure
from metamem.core.ids import canonical_json, derive_seed
from metamem.core.protocols import WorldDomain
from metamem.core.types import Experience
from metamem.designs.jailed import CpuUse, Jail
from metamem.evaluation.caps import Cap
from metamem.evaluation.chats import Chats
from metamem.evaluation.jobs import Blobs, Job
from metamem.evaluation.scrambling import given, given_of_group
from metamem.hosting.memory import HostedMemory
from metamem.hosting.opening import open_unkept
from metamem.models.embedders import AnyEmbedder


class Memories:
    """Opened and fed when first asked for, kept until the job ends."""

    def __init__(
        self,
        job: Job,
        domain: WorldDomain,
        jail: Jail,
        embedder: AnyEmbedder,
        updates: Cap,
        blobs: Blobs,
        chats: Chats,
    ) -> None:
        self._job, self._domain, self._jail = job, domain, jail
        self._embedder, self._updates, self._blobs = embedder, updates, blobs
        self._chats = chats
        self._open: dict[str, HostedMemory] = {}
        self._failed: dict[str, DesignFailure] = {}
        self._feeding = asyncio.Lock()

    async def get(self, group: str) -> HostedMemory:
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

    @property
    def logs(self) -> tuple[str, ...]:
        """What was logged in updates and in retrievals."""
        return tuple(line for memory in self._open.values() for line in memory.logs)

    @property
    def cpu(self) -> CpuUse:
        used = CpuUse()
        for memory in self._open.values():
            used.include(memory.cpu)
        return used

    async def close(self) -> None:
        for memory in self._open.values():
            await memory.close()

    async def _feed(self, group: str) -> HostedMemory:
        assert self._job.design is not None
        seed = derive_seed("design", self._job.setup.seed)
        memory = await open_unkept(
            self._jail,
            self._job.design,
            seed=seed,
            embedder=self._embedder,
            rollout=self._job.setup.rules.rollout,
            # Named by what is learned, not by who asks: shards that feed the same experiences to
            # the same design share the model's answers.
            call_site_of=partial(self._chats.for_design, "update", group),
        )
        try:
            for line in self._experiences(group):
                async with self._updates:
                    await memory.replay(line)
        except BaseException:
            await memory.close()
            raise
        return memory

    def _experiences(self, group: str) -> Sequence[str]:
        rule = self._job.setup.rules.experience
        lines: Iterable[str] = ()
        if group:
            history = given_of_group(self._domain, self._job.split, group, rule)
            lines = map(_line, history)
        elif self._job.experiences:
            lines = zlib.decompress(self._blobs(self._job.experiences)).decode().splitlines()
            if rule != "whole":
                lived = [Experience.from_json(json.loads(line)) for line in lines]
                lines = map(_line, given(lived, rule))
        kept = list(lines)
        return kept[: self._job.experience_limit] if self._job.experience_limit else kept


def _line(experience: Experience) -> str:
    return canonical_json(experience.to_json())

"""The memories of one job: one for each group of its tasks, or one for all where there are none."""

import asyncio
import json
import zlib
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

from metamem.core.errors import DesignFailure
from metamem.core.ids import canonical_json, derive_seed
from metamem.core.protocols import WorldDomain
from metamem.core.types import Experience
from metamem.designs.jailed import CpuUse, Jail
from metamem.evaluation.caps import Cap
from metamem.evaluation.chats import Chats
from metamem.evaluation.jobs import Blobs, Job
from metamem.evaluation.rules import Experienced
from metamem.evaluation.scrambling import given, given_of_group
from metamem.hosting.feeding import CallSiteOf
from metamem.hosting.memory import HostedMemory
from metamem.hosting.opening import open_unkept
from metamem.models.embedders import AnyEmbedder

Item = TypeVar("Item")


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
        # Has studied the lives of other groups, for all groups: each begins as a copy of it.
        self._scholar: HostedMemory | None = None
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
        return tuple(line for memory in self._all for line in memory.logs)

    @property
    def cpu(self) -> CpuUse:
        used = CpuUse()
        for memory in self._all:
            used.include(memory.cpu)
        return used

    async def close(self) -> None:
        for memory in self._all:
            await memory.close()

    @property
    def _all(self) -> list[HostedMemory]:
        return [*([self._scholar] if self._scholar else []), *self._open.values()]

    async def _feed(self, group: str) -> HostedMemory:
        memory = await self._begun(group)
        try:
            for line in self._experiences(group):
                async with self._updates:
                    await memory.replay(line)
        except BaseException:
            await memory.close()
            raise
        return memory

    async def _begun(self, group: str) -> HostedMemory:
        """A memory before its own experiences."""
        # Named by what is learned, not by who asks: shards that feed the same experiences to
        # the same design share the model's answers.
        sites = partial(self._chats.for_design, "update", group)
        if self._scholar is None:
            memory = await self._fresh(sites)
            if not (group and self._job.experiences and memory.studies):
                return memory
            self._scholar = await self._studied(memory)
        return await self._scholar.fork(sites)

    async def _fresh(self, sites: CallSiteOf) -> HostedMemory:
        assert self._job.design is not None
        return await open_unkept(
            self._jail,
            self._job.design,
            seed=derive_seed("design", self._job.setup.seed),
            embedder=self._embedder,
            rollout=self._job.setup.rules.rollout,
            call_site_of=sites,
        )

    async def _studied(self, memory: HostedMemory) -> HostedMemory:
        try:
            for number, life in enumerate(self._limited(self._collected())):
                async with self._updates:
                    await memory.study(life, self._chats.for_design("study", "", number))
        except BaseException:
            await memory.close()
            raise
        return memory

    def _experiences(self, group: str) -> Sequence[str]:
        if not group:
            return self._limited(self._collected())
        if self._job.setup.rules.collect == 0:  # no experience at all, here as everywhere
            return ()
        rule = self._job.setup.rules.experience
        history = given_of_group(self._domain, self._job.split, group, rule)
        return [canonical_json(e.to_json()) for e in self._limited(history)]

    def _collected(self) -> Sequence[str]:
        """Experiences or, where tasks are in groups, the lives of others; a line each."""
        if not self._job.experiences:
            return ()
        lines = zlib.decompress(self._blobs(self._job.experiences)).decode().splitlines()
        return as_given(lines, self._job.setup.rules.experience)

    def _limited(self, items: Sequence[Item]) -> Sequence[Item]:
        return items[: self._job.experience_limit] if self._job.experience_limit else items


def as_given(lines: Sequence[str], rule: Experienced) -> list[str]:
    """What of these lines a memory is told; a line is an experience, or a life of several."""
    if rule == "whole":
        return list(lines)
    read = [json.loads(line) for line in lines]
    lives = [each if isinstance(each, list) else [each] for each in read]
    lived = iter(given([Experience.from_json(e) for life in lives for e in life], rule))
    told = [[e.to_json() for e in islice(lived, len(life))] for life in lives]
    pairs = zip(read, told, strict=True)
    return [canonical_json(t if isinstance(was, list) else t[0]) for was, t in pairs if t]

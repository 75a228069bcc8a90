"""What designs learn from: episodes without memory, played once and shared by every design."""

import asyncio
import zlib
from collections.abc import Callable
from typing import Protocol

from metamem.core.aside import aside
from metamem.core.ids import canonical_json, content_id
from metamem.core.protocols import Domain
from metamem.core.together import together
from metamem.core.types import Case, CaseResult, Episode
from metamem.evaluation.jobs import CaseDone, Executor, Job, Setup
from metamem.evaluation.plans import Plan
from metamem.store.facets import Blobs, Collections


class Records(Collections, Blobs, Protocol):
    """What collecting needs of an archive."""


class Collector:
    """The collections of one setup: as the archive holds them, or played when first asked for."""

    def __init__(
        self, archive: Records, executor: Executor, setup: Setup, domain: Domain, agent: str
    ) -> None:
        """`agent` is the fingerprint of who plays."""
        self._archive, self._executor, self._setup = archive, executor, setup
        self._domain, self._agent = domain, agent
        self._playing = asyncio.Lock()

    def missing(self, plan: Plan) -> int:
        """How many cases must be played before the first design learns from them."""
        return 0 if self._archive.collection(self._key(plan)) is not None else len(plan.collection)

    async def blob(self, plan: Plan, on_case: Callable[[CaseResult], None] | None) -> str:
        """The id of the blob of a plan's experiences; empty where it collects none."""
        if not plan.collection:
            return ""
        key = self._key(plan)
        async with self._playing:
            if await aside(self._archive.collection, key) is None:
                episodes = await self._played(plan, key, on_case)
                await aside(self._archive.put_collection, key, episodes)
            await aside(self._pack, key)
        return key

    def _key(self, plan: Plan) -> str:
        return content_id(
            "collection",
            self._domain.name,
            self._domain.version,
            self._agent,
            self._setup.seed,
            self._setup.rules.max_steps,
            [t.id for t in plan.collection],
        )

    async def _played(
        self, plan: Plan, key: str, on_case: Callable[[CaseResult], None] | None
    ) -> list[Episode]:
        tasks = plan.collection
        episodes: dict[str, Episode] = {}

        def keep(done: CaseDone) -> None:
            assert done.episode is not None
            episodes[done.row.task_id] = done.episode
            if on_case:
                on_case(done.row)

        step = -(-len(tasks) // self._executor.slots)
        jobs = [
            Job(
                key=f"collect-{key}-{start}",
                setup=self._setup,
                split=plan.collected_from,
                phase="collect",
                cases=tuple(Case(t.id) for t in tasks[start : start + step]),
                keep_all=True,
                examples=tuple(task.id for task in plan.examples),
            )
            for start in range(0, len(tasks), step)
        ]
        await together(self._executor.run(job, keep) for job in jobs)
        return [episodes[t.id] for t in tasks]

    def _pack(self, key: str) -> None:
        if self._archive.blob(key) is None:
            episodes = self._archive.collection(key)
            assert episodes is not None
            lines = [canonical_json(e.experience().to_json()) for e in episodes]
            self._archive.put_blob(key, zlib.compress("\n".join(lines).encode(), 6))

"""What designs learn from: episodes without memory, played once and shared by every design."""

import asyncio
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast

from metamem.core.aside import aside
from metamem.core.ids import canonical_json, content_id
from metamem.core.protocols import Domain, WorldDomain
from metamem.core.together import together
from metamem.core.types import Case, CaseResult, Episode, Experience
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
            await aside(self._pack, plan, key)
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
            )
            for start in range(0, len(tasks), step)
        ]
        await together(self._executor.run(job, keep) for job in jobs)
        return [episodes[t.id] for t in tasks]

    def _pack(self, plan: Plan, key: str) -> None:
        """An experience a line or, where tasks are in groups, a life a line."""
        if self._archive.blob(key) is None:
            episodes = self._archive.collection(key)
            assert episodes is not None
            lived = [e.experience() for e in episodes]
            if any(task.group for task in plan.collection):
                lines = [canonical_json(life) for life in self._lives(plan, lived)]
            else:
                lines = [canonical_json(e.to_json()) for e in lived]
            self._archive.put_blob(key, zlib.compress("\n".join(lines).encode(), 6))

    def _lives(self, plan: Plan, lived: Sequence[Experience]) -> Iterator[list[dict[str, Any]]]:
        """What each group went through, and then the episodes of its tasks."""
        domain = cast(WorldDomain, self._domain)
        for group in dict.fromkeys(task.group for task in plan.collection):
            asked = [e for t, e in zip(plan.collection, lived, strict=True) if t.group == group]
            yield [e.to_json() for e in (*domain.history(group), *asked)]

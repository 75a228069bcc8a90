"""What designs learn from: episodes that are played once and shared by every design.

First the agent plays the collection tasks without memory. In every further round it plays them again
with a memory that learned from all rounds before. Whoever learns then learns from all of them, in the
order of rounds and tasks.
"""

import asyncio
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

from metamem.core.aside import aside
from metamem.core.ids import canonical_json, content_id
from metamem.core.protocols import Domain, WorldDomain
from metamem.core.together import together
from metamem.core.types import Case, CaseResult, Design, Episode, Experience
from metamem.evaluation.dispatch import Dispatcher
from metamem.evaluation.jobs import CaseDone, Job, Setup
from metamem.evaluation.kinds import Players
from metamem.evaluation.plans import Plan
from metamem.evaluation.record import Record
from metamem.store.facets import Blobs, Collections, Designs

# Rules that say which tasks are played, how often, and what is learned from them. All others say how
# an episode goes, so that what a memory collects depends on them.
_BESIDE = (
    "rollout",
    "repeats",
    "collect",
    "tasks_from",
    "fold",
    "tasks",
    "experience",
    "collectors",
)

OnCase = Callable[[CaseResult], None]


class Records(Collections, Blobs, Designs, Protocol):
    """What collecting needs of an archive."""


class Collector:
    """The collections of one setup: as the archive holds them, or played when first asked for."""

    def __init__(
        self,
        archive: Records,
        dispatcher: Dispatcher,
        setup: Setup,
        domain: Domain,
        players: Players,
    ) -> None:
        self._archive, self._dispatcher, self._setup = archive, dispatcher, setup
        self._domain, self._players = domain, players
        self._playing = asyncio.Lock()

    def missing(self, plan: Plan) -> int:
        """How many cases must be played before the first design learns from them."""
        unknown = [key for key in self._keys(plan) if self._archive.collection(key) is None]
        return len(unknown) * len(plan.collection)

    async def blob(self, plan: Plan, on_case: OnCase | None) -> str:
        """The id of the blob of a plan's experiences; empty where it collects none."""
        if not plan.collection:
            return ""
        keys = self._keys(plan)
        async with self._playing:
            for number, key in enumerate(keys, 1):
                if await aside(self._archive.collection, key) is None:
                    episodes = await self._played(plan, keys[:number], on_case)
                    await aside(self._archive.put_collection, key, episodes)
                await aside(self._pack, plan, keys[:number])
        return keys[-1]

    async def episodes(self, plan: Plan, on_case: OnCase | None) -> list[list[Episode]]:
        """What was collected, round by round."""
        await self.blob(plan, on_case)
        found = [await aside(self._archive.collection, key) for key in self._keys(plan)]
        return [episodes or [] for episodes in found]

    def _keys(self, plan: Plan) -> list[str]:
        """A key for each round: it stands for that round's episodes, and as a blob for all so far."""
        first = content_id(
            "collection",
            self._domain.name,
            self._domain.version,
            self._players.agent,
            self._setup.seed,
            self._setup.rules.max_steps,
            [t.id for t in plan.collection],
        )
        keys = [first]
        for design in self._setup.rules.collectors:
            keys.append(content_id("collection", keys[-1], design, self._advised()))
        return keys

    def _advised(self) -> dict[str, Any]:
        """What an episode depends on, beyond the first round, where a memory advises the agent."""
        rules = replace(self._setup.rules, rollout="frozen").to_json()
        return {
            "rules": {name: rule for name, rule in rules.items() if name not in _BESIDE},
            "models": dict(self._setup.models),
            "embedder": self._players.embedder,
            "toolbox": self._players.toolbox,
            "limits": self._players.limits,
        }

    async def _played(
        self, plan: Plan, keys: Sequence[str], on_case: OnCase | None
    ) -> list[Episode]:
        """The last of these rounds. What a design failed in teaches nothing, and is left out."""
        tasks, setup, phase = plan.collection, self._setup, "collect"
        design: Design | None = None
        if len(keys) > 1:
            design = await aside(self._archive.design, setup.rules.collectors[len(keys) - 2])
            setup = replace(setup, rules=replace(setup.rules, rollout="frozen", experience="whole"))
            phase = f"collect-{len(keys)}"
        step = -(-len(tasks) // self._dispatcher.slots)
        jobs = [
            Job(
                key=f"collect-{keys[-1]}-{start}",
                setup=setup,
                split=plan.collected_from,
                phase=phase,
                cases=tuple(Case(t.id) for t in tasks[start : start + step]),
                design=design,
                experiences=keys[-2] if design else "",
                keep_all=True,
                examples=tuple(task.id for task in plan.examples),
            )
            for start in range(0, len(tasks), step)
        ]
        kept = _Episodes()
        await together(self._dispatcher.run(job, Record(kept, on_case=on_case)) for job in jobs)
        return [kept.by_task[t.id] for t in tasks if t.id in kept.by_task]

    def _pack(self, plan: Plan, keys: Sequence[str]) -> None:
        """An experience a line or, where tasks are in groups, a life a line."""
        if self._archive.blob(keys[-1]) is None:
            found = [self._archive.collection(key) for key in keys]
            lived = [episode.experience() for each in found for episode in each or ()]
            if any(task.group for task in plan.collection):  # then there is one round alone
                lines = [canonical_json(life) for life in self._lives(plan, lived)]
            else:
                lines = [canonical_json(e.to_json()) for e in lived]
            self._archive.put_blob(keys[-1], zlib.compress("\n".join(lines).encode(), 6))

    def _lives(self, plan: Plan, lived: Sequence[Experience]) -> Iterator[list[dict[str, Any]]]:
        """What each group went through, and then the episodes of its tasks."""
        domain = cast(WorldDomain, self._domain)
        for group in dict.fromkeys(task.group for task in plan.collection):
            asked = [e for t, e in zip(plan.collection, lived, strict=True) if t.group == group]
            yield [e.to_json() for e in (*domain.history(group), *asked)]


class _Episodes:
    """Keeps whole episodes, until all are there."""

    def __init__(self) -> None:
        self.by_task: dict[str, Episode] = {}

    def add(self, done: CaseDone) -> None:
        if done.episode is not None and not done.row.failure:
            self.by_task[done.row.task_id] = done.episode

    async def finish(self) -> None:
        pass

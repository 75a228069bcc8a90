"""What an agent learns that learns: lessons of the episodes that it played when they were collected.

They are the same for every design, whatever a design is given of the experiences, so that designs are still
compared with one and the same agent.
"""

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json, content_id, derive_seed
from metamem.core.protocols import Domain, Learner, Seat
from metamem.core.types import Episode
from metamem.evaluation.collecting import Collector, OnCase
from metamem.evaluation.jobs import Setup
from metamem.evaluation.plans import Plan, plan
from metamem.evaluation.rules import Rules
from metamem.store.facets import Blobs

Lesson = dict[str, Any]


def learner_of(setup: Setup) -> Learner | None:
    """The agent of a setup, where it learns."""
    if not setup.agent.name:
        return None
    agent = registry.create("agents", setup.agent.name, **setup.agent.settings)
    if not isinstance(agent, Learner):
        return None
    if setup.collector:
        raise UsageError(
            f"{setup.agent.name} learns from episodes that it played itself, and another agent collects",
            hint="let it collect, too",
        )
    return agent


def taught_plan(domain: Domain, split: str, rules: Rules) -> Plan:
    """Where lessons come from: all that is collected, also where a memory is given nothing of it."""
    return plan(domain, split, replace(rules, experience="whole"))


class Lessons:
    """Those of one setup, by split: made when they are first asked for."""

    def __init__(
        self, archive: Blobs, collector: Collector, setup: Setup, domain: Domain, agent: str
    ) -> None:
        self._archive, self._collector, self._setup = archive, collector, setup
        self._domain, self._agent = domain, agent
        self._learner = learner_of(setup)
        self._made: dict[str, str] = {}

    async def blob(self, split: str, on_case: OnCase | None) -> str:
        """The id of a split's lessons; empty where nobody learns, or there is nothing to learn from."""
        if self._learner is None:
            return ""
        if split not in self._made:
            todo = taught_plan(self._domain, split, self._setup.rules)
            rounds = await self._collector.episodes(todo, on_case) if todo.collection else []
            self._made[split] = await aside(self._kept, lessons(self._learner, self._setup, rounds))
        return self._made[split]

    def _kept(self, made: Sequence[Lesson]) -> str:
        if not made:
            return ""
        lines = "\n".join(map(canonical_json, made))
        key = content_id("lessons", self._agent, lines)
        if self._archive.blob(key) is None:
            self._archive.put_blob(key, zlib.compress(lines.encode(), 6))
        return key


def lessons(learner: Learner, setup: Setup, rounds: Sequence[Sequence[Episode]]) -> list[Lesson]:
    """Of the rounds in which a memory advised, where there are such: in deployment one does."""
    first = 1 if len(rounds) > 1 else 0
    found = []
    for number, episodes in enumerate(rounds[first:], first + 1):
        phase = "collect" if number == 1 else f"collect-{number}"
        for episode in episodes:
            seed = derive_seed(setup.seed, phase, episode.task_id, 0)
            found.append(learner.lesson(Seat(episode.goal, seed), episode))
    return found


def read_lessons(blob: Callable[[str], bytes], key: str) -> list[Lesson]:
    return [json.loads(line) for line in zlib.decompress(blob(key)).decode().splitlines()]

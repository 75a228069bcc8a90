"""What every domain must do, as a suite that any domain can be put through.

class TestMyDomain(DomainConformance):
    def make(self): return MyDomain()
"""

import os
from pathlib import Path
from statistics import fmean

from metamem.core import registry
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain, Seat
from metamem.core.types import SPLITS, Episode, Query, Task
from metamem.designs.library import load
from metamem.evaluation.episode import play

NONSENSE = "zzz no such thing \u2206"


class DomainConformance:
    """Each test is one sentence of the contract in `metamem.core.protocols.Domain`."""

    played = 4  # tasks of each split that are played
    ceiling = 0.95  # what the default agent reaches with the oracle's advice, on average
    floor = 0.5  # an agent that acts at random stays below this share of that

    def make(self) -> Domain:
        raise NotImplementedError

    def privileged(self, domain: Domain, task: Task) -> tuple[str, ...]:
        """Texts that no observation may hold."""
        return (domain.oracle(task),)

    def sample(self, domain: Domain, split: str) -> list[Task]:
        """A few tasks, spread over the split."""
        tasks = list(domain.tasks(split))
        return sorted(tasks, key=lambda t: derive_seed("sample", t.id))[: self.played]

    async def episode(
        self, domain: Domain, task: Task, agent: str, *, oracle: bool = False, seed: int = 1
    ) -> Episode:
        async def ask(query: Query) -> str:
            return domain.oracle(task)

        world = domain.world(task, seed)
        try:
            return await play(
                task,
                world,
                registry.create("agents", agent).start(Seat(task.goal, seed)),
                ask if oracle else None,
                max_steps=domain.max_steps,
                advice_tokens=4000,
            )
        finally:
            world.close()

    # --- the sentences -----------------------------------------------------------------------

    def test_it_says_what_it_is(self) -> None:
        domain = self.make()
        assert domain.name
        assert domain.version
        assert domain.describe()
        assert domain.rules.strip()
        assert domain.max_steps > 0
        assert all(domain.invariants())
        registry.factory("agents", domain.agent)
        for name in domain.baselines():
            load(name)

    def test_splits_repeat_and_share_no_task(self) -> None:
        one, two = self.make(), self.make()
        assert one.version == two.version
        seen: dict[str, str] = {}
        for split in SPLITS:
            tasks = list(one.tasks(split))
            assert tasks
            assert tasks == list(two.tasks(split))
            for task in tasks:
                assert task.goal
                assert task.id not in seen, f"{task.id} is in {split} and in {seen[task.id]}"
                seen[task.id] = split

    async def test_the_same_actions_bring_the_same_episode(self) -> None:
        domain = self.make()
        for split in SPLITS:
            for task in self.sample(domain, split)[:2]:
                first = await self.episode(domain, task, domain.agent)
                assert first == await self.episode(self.make(), task, domain.agent)

    async def test_worlds_side_by_side_do_not_disturb_each_other(self) -> None:
        domain = self.make()
        tasks = self.sample(domain, "train")[:2]
        alone = [domain_text(domain, task) for task in tasks]
        worlds = [domain.world(task, 1) for task in tasks]
        try:
            assert [world.reset().text for world in worlds] == alone
        finally:
            for world in worlds:
                world.close()

    def test_an_action_that_means_nothing_is_answered(self) -> None:
        domain = self.make()
        for task in self.sample(domain, "train")[:2]:
            world = domain.world(task, 1)
            try:
                world.reset()
                seen = world.step(NONSENSE)
                assert isinstance(seen.text, str)
                assert seen.reward < 1
            finally:
                world.close()

    async def test_nothing_privileged_is_shown(self) -> None:
        domain = self.make()
        for split in SPLITS:
            for task in self.sample(domain, split)[:2]:
                episode = await self.episode(domain, task, domain.agent)
                shown = "\n".join(
                    [task.goal, episode.observation, *(s.observation for s in episode.steps)]
                )
                for text in self.privileged(domain, task):
                    assert not text or text not in shown

    async def test_the_oracle_reaches_the_goal_and_chance_does_not(self) -> None:
        domain = self.make()
        advised, chance = [], []
        for split in SPLITS:
            for task in self.sample(domain, split):
                told = await self.episode(domain, task, domain.agent, oracle=True)
                advised.append(told.reward)
                chance.append(await self.by_chance(domain, task))
        assert fmean(advised) >= self.ceiling
        assert fmean(chance) <= self.floor * fmean(advised)

    async def by_chance(self, domain: Domain, task: Task) -> float:
        """What an agent gets that does anything; override it where actions are not listed."""
        return (await self.episode(domain, task, "random")).reward

    def test_closing_frees_everything(self) -> None:
        domain = self.make()
        task = self.sample(domain, "train")[0]
        domain_text(domain, task)  # whatever is kept for later is kept from now on
        before = _held()
        for seed in range(8):
            world = domain.world(task, seed)
            world.reset()
            world.close()
        assert _held() <= before


def domain_text(domain: Domain, task: Task) -> str:
    world = domain.world(task, 1)
    try:
        return world.reset().text
    finally:
        world.close()


def _held() -> int:
    """Open descriptors and child processes."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return len(list(Path("/proc/self/fd").iterdir())) + sum(
        len(c.read_text().split()) for c in children
    )

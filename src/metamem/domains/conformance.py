"""What every domain must do, as a suite that any domain can be put through.

    METAMEM_DOMAIN=my_package.lamps:LampDomain python -m pytest --pyargs metamem.domains.conformance

or, to set the limits or the settings of the domain, as a class in one's own tests:

    class TestMyDomain(DomainConformance):  # of parameters: ParamsConformance
        def make(self): return MyDomain()
"""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any
from unittest import SkipTest

from metamem.core import registry
from metamem.core.episode import play
from metamem.core.errors import MetamemError, UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain, Seat, Trial, WorldDomain
from metamem.core.types import SPLITS, Episode, Query, Scored, Task
from metamem.models import default_embedder
from metamem.models.embedders import EmbedderFor

NONSENSE = "zzz no such thing \u2206"
DOMAIN, SETTINGS = "METAMEM_DOMAIN", "METAMEM_DOMAIN_SETTINGS"


class AnyConformance:
    """Each test is one sentence of the contract in `metamem.core.protocols.Domain`."""

    played = 4  # tasks of each split that are played

    def make(self) -> Any:
        raise NotImplementedError

    def sample(self, domain: Domain, split: str) -> list[Task]:
        """A few tasks, spread over the split."""
        tasks = list(domain.tasks(split))
        return sorted(tasks, key=lambda t: derive_seed("sample", t.id))[: self.played]

    def test_it_says_what_it_is(self) -> None:
        domain = self.make()
        for part in ("name", "version"):
            _check_text(part, getattr(domain, part))
        _check_text("describe", domain.describe())
        low, high = domain.reward_range
        assert low < high, f"reward_range must go from less to more, not from {low} to {high}"
        assert all(domain.invariants()), f"an invariant is empty: {domain.invariants()}"
        learnable = registry.create("learnables", domain.kind)
        for name in domain.baselines():
            learnable.load(name, domain)

    def test_splits_repeat_and_share_no_task(self) -> None:
        one, two = self.make(), self.make()
        assert one.version == two.version, _differ("version, made twice", one.version, two.version)
        seen: dict[str, str] = {}
        for split in SPLITS:
            tasks, again = list(one.tasks(split)), list(two.tasks(split))
            assert tasks, f"the split {split} has no tasks; a run reads {', '.join(SPLITS)}"
            assert len(tasks) == len(again), _differ(f"tasks of {split}", len(tasks), len(again))
            for n, (task, other) in enumerate(zip(tasks, again, strict=True)):
                assert task == other, _differ(f"task {n} of {split}, asked twice", task, other)
                assert task.goal, f"the task {task.id} of {split} has no goal"
                assert task.id not in seen, f"{task.id} is in {split} and in {seen[task.id]}"
                seen[task.id] = split


class DomainConformance(AnyConformance):
    """What `metamem.core.protocols.WorldDomain` says beyond that."""

    ceiling = 0.95  # what the default agent reaches with the oracle's advice, on average
    floor = 0.5  # an agent that acts at random stays below this share of that

    def privileged(self, domain: WorldDomain, task: Task) -> tuple[str, ...]:
        """Texts that no observation may hold."""
        return (domain.oracle(task),)

    async def episode(
        self, domain: WorldDomain, task: Task, agent: str, *, oracle: bool = False, seed: int = 1
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

    def test_it_says_how_one_acts(self) -> None:
        domain = self.make()
        _check_text("rules", domain.rules)
        assert domain.max_steps > 0, f"max_steps must be above 0, not {domain.max_steps}"
        assert domain.reward_range == (0.0, 1.0), "worlds reward from 0 to 1"
        registry.factory("agents", domain.agent)

    def test_the_same_actions_bring_the_same_episode(self) -> None:
        domain = self.make()
        for split in SPLITS:
            for task in self.sample(domain, split)[:2]:
                first = asyncio.run(self.episode(domain, task, domain.agent))
                again = asyncio.run(self.episode(self.make(), task, domain.agent))
                assert first == again, f"the task {task.id}, played twice: {_parting(first, again)}"

    def test_worlds_side_by_side_do_not_disturb_each_other(self) -> None:
        domain = self.make()
        tasks = self.sample(domain, "train")[:2]
        alone = [domain_text(domain, task) for task in tasks]
        worlds = [domain.world(task, 1) for task in tasks]
        try:
            for task, world, expected in zip(tasks, worlds, alone, strict=True):
                text = world.reset().text
                what = f"what the task {task.id} shows first, beside another world"
                assert text == expected, _differ(what, expected, text)
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
                assert isinstance(seen.text, str), f"{task.id} answers {seen.text!r}, not a text"
                assert seen.reward < 1, f"{task.id} rewards {NONSENSE!r} with {seen.reward}"
            finally:
                world.close()

    def test_nothing_privileged_is_shown(self) -> None:
        domain = self.make()
        for split in SPLITS:
            for task in self.sample(domain, split)[:2]:
                episode = asyncio.run(self.episode(domain, task, domain.agent))
                # Where tasks are in groups, what is right in one may be told once it is over: it
                # is of no use in the others.
                seen = [s.observation for s in episode.steps if not (task.group and s.done)]
                shown = [task.goal, episode.observation, *seen]
                for text in self.privileged(domain, task):
                    place = next((n for n, told in enumerate(shown) if text and text in told), None)
                    assert place is None, (
                        f"the task {task.id} of {split} shows what is privileged, {text!r}, in"
                        f" {'its goal' if not place else f'observation {place - 1}'}"
                    )

    def test_the_oracle_reaches_the_goal_and_chance_does_not(self) -> None:
        domain = self.make()
        advised: dict[str, float] = {}
        chance: dict[str, float] = {}
        for split in SPLITS:
            for task in self.sample(domain, split):
                told = asyncio.run(self.episode(domain, task, domain.agent, oracle=True))
                advised[task.id] = told.reward
                chance[task.id] = asyncio.run(self.by_chance(domain, task))
        if not any(domain.oracle(t) for s in SPLITS for t in self.sample(domain, s)):
            raise SkipTest("the oracle tells nothing: reports of this domain will have no ceiling")
        reached, by_luck = fmean(advised.values()), fmean(chance.values())
        assert reached >= self.ceiling, (
            f"with the oracle's advice the agent {domain.agent} must get {self.ceiling} on average"
            f" and got {reached:.3f}: {_listed(advised)}; does another agent follow it?"
            f" metamem domains follow {domain.name}"
        )
        assert by_luck <= self.floor * reached, (
            f"random actions may get {self.floor} of the oracle's {reached:.3f} and got"
            f" {by_luck:.3f}: {_listed(chance)}; fewer steps or more actions leave less to luck"
        )

    async def by_chance(self, domain: WorldDomain, task: Task) -> float:
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
        held = _held()
        assert held <= before, (
            f"eight worlds of the task {task.id} were closed: {before} files and processes were"
            f" open before, {held} after"
        )


class ParamsConformance(AnyConformance):
    """What `metamem.core.protocols.ParamsDomain` says beyond that."""

    drawn = 8  # sets of values that are tried

    def test_baselines_are_values_of_the_space(self) -> None:
        domain = self.make()
        for name in domain.baselines():
            domain.space.check(domain.preset(name))

    def test_any_values_score_alike_whenever_they_are_asked_for(self) -> None:
        one, two = self.make(), self.make()
        low, high = one.reward_range
        luck = Random(1)
        for values in [one.space.defaults(), *(one.space.drawn(luck) for _ in range(self.drawn))]:
            for split in SPLITS:
                for task in self.sample(one, split)[:2]:
                    scored, again = (asyncio.run(_score(d, values, task)) for d in (one, two))
                    what = f"{values} on {task.id}"
                    assert scored == again, _differ(f"{what}, scored twice", scored, again)
                    assert low <= scored.reward <= high, f"{what} is worth {scored.reward}"

    def test_the_values_matter(self) -> None:
        domain = self.make()
        luck = Random(2)
        sets = [domain.space.defaults(), *(domain.space.drawn(luck) for _ in range(self.drawn))]
        tasks = self.sample(domain, "train")
        rewards = {
            fmean(asyncio.run(_score(domain, values, task)).reward for task in tasks)
            for values in sets
        }
        assert len(rewards) > 1, f"{len(sets)} sets of values are all worth {rewards}"


async def _score(domain: Any, values: Mapping[str, Any], task: Task) -> Scored:
    """As an evaluation has it, in a process that scores once."""
    embedder = EmbedderFor(default_embedder(), "") if getattr(domain, "embeds", False) else None
    if hasattr(domain, "open"):
        await domain.open()
    try:
        scored: Scored = await domain.score(values, task, Trial(1, embedder=embedder))
        return scored
    finally:
        if hasattr(domain, "close"):
            await domain.close()


def _suite() -> type[AnyConformance]:
    """By the kind of the domain that the environment names; what is wrong with it tests tell."""
    try:
        kind = _named().kind
    except MetamemError:
        kind = "code"
    return ParamsConformance if kind == "params" else DomainConformance


def _named() -> Domain:
    name = os.environ.get(DOMAIN)
    if not name:
        raise UsageError(f"no domain is named: set {DOMAIN} to a name or package.module:Class")
    settings = json.loads(os.environ.get(SETTINGS, "{}"))
    domain: Domain = registry.create("domains", name, **settings)
    return domain


class TestDomain(_suite()):  # type: ignore[misc]
    """The domain that the environment names, for those who have no tests of their own yet."""

    def make(self) -> Domain:
        return _named()


def domain_text(domain: WorldDomain, task: Task) -> str:
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


def _differ(what: str, expected: object, got: object) -> str:
    return f"{what}: expected {expected!r}, got {got!r}"


def _parting(one: Episode, two: Episode) -> str:
    """Where two episodes of the same task part."""
    if (one.observation, one.actions) != (two.observation, two.actions):
        first, again = (one.observation, one.actions), (two.observation, two.actions)
        return _differ("at the start", first, again)
    for n, (step, other) in enumerate(zip(one.steps, two.steps, strict=False), 1):
        if step != other:
            return _differ(f"step {n}", step, other)
    return _differ("steps", len(one.steps), len(two.steps))


def _listed(rewards: dict[str, float]) -> str:
    worst = sorted(rewards.items(), key=lambda item: item[1])
    return ", ".join(f"{task} {reward:g}" for task, reward in worst)


def _check_text(part: str, text: object) -> None:
    assert isinstance(text, str) and text.strip(), f"{part} must be a text, not {text!r}"

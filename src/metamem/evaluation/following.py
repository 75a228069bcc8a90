"""Who follows advice in a domain: each agent with none, with another task's, with the oracle's.

Advice is given directly, with no memory. An agent that does no better with the oracle's advice than
without cannot show what a memory is worth: a search that plays with it has nothing to go by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from metamem.core import registry
from metamem.core.episode import play
from metamem.core.errors import MetamemError
from metamem.core.needs import needs_of
from metamem.core.protocols import Seat, WorldDomain
from metamem.core.types import Query, Task

ADVICE_TOKENS = 4000
AS_GOOD = 0.05  # with the oracle's advice: nearer than this to the best is as good as it
FOLLOWED = 0.8  # an agent that gets less from plans that are right does not follow them


@dataclass(frozen=True, slots=True)
class Following:
    """Mean rewards of one agent by the advice that it was given."""

    agent: str
    none: float
    stranger: float  # the oracle's advice for another task
    oracle: float


async def told_reward(domain: WorldDomain, task: Task, agent: str, advice: str, seed: int) -> float:
    """The reward of one task played with this advice."""

    async def ask(query: Query) -> str:
        return advice

    world = domain.world(task, seed)
    try:
        player = registry.create("agents", agent).start(Seat(task.goal, seed))
        episode = await play(
            task, world, player, ask, max_steps=domain.max_steps, advice_tokens=ADVICE_TOKENS
        )
        return episode.reward
    finally:
        world.close()


async def following(
    domain: WorldDomain, agent: str, tasks: Sequence[Task], seeds: int = 1
) -> Following:
    """One agent at these tasks, once for each kind of advice and seed."""
    told = [domain.oracle(task) for task in tasks]
    kinds = ([""] * len(told), _exchanged(told), told)
    means = [
        fmean(
            [
                await told_reward(domain, task, agent, text, seed)
                for task, text in zip(tasks, advice, strict=True)
                for seed in range(seeds)
            ]
        )
        for advice in kinds
    ]
    return Following(agent, *means)


def _exchanged(told: Sequence[str]) -> list[str]:
    """For each task what was told for another, far from it and not the same words."""
    size = len(told)
    found = []
    for n, own in enumerate(told):
        others = (told[(n + size // 2 + step) % size] for step in range(size))
        found.append(next((other for other in others if other != own), own))
    return found


async def why_not(domain: WorldDomain, agent: str, task: Task) -> str:
    """Why an agent cannot act in this domain; empty where it can."""
    if needs_of("agents", agent).model:
        return "it asks a model"
    world = domain.world(task, 0)
    try:
        seen = world.reset()
        try:
            player = registry.create("agents", agent).start(Seat(task.goal, 0))
            player.advise(domain.oracle(task))
            action = await player.act(seen)
        except MetamemError as error:
            return error.message
    finally:
        world.close()
    if seen.actions and not domain.forms and action not in seen.actions:
        return "its first action is none of those that are shown"
    return ""


def fittest(found: Sequence[Following], named: str) -> Following:
    """Whom to name in the domain: who makes most of right advice. Among those as good as the best
    it is the one that the domain names, else the one that most depends on advice.
    """
    best = max(one.oracle for one in found)
    good = [one for one in found if one.oracle >= best - AS_GOOD]
    return max(good, key=lambda one: (one.agent == named, one.oracle - one.none))

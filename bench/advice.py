"""What advice is worth to a domain's own agent: none, another task's, and the oracle's.

    python -m bench.advice [--domain baba] [--split train] [--tasks 0] [--seeds 1] [--json]

Mean reward over the tasks of a split; `planned` is the share of tasks that the oracle has advice
for. Figures are set beside the oracle's as a ratio. Advice is given directly, with no memory.
"""

import argparse
import asyncio
import json
from statistics import fmean
from typing import Any

from metamem.core import registry
from metamem.core.protocols import Domain, Seat
from metamem.core.types import Query, Task
from metamem.evaluation.episode import play


async def reward(domain: Domain, task: Task, agent: str, advice: str, seed: int) -> float:
    async def ask(query: Query) -> str:
        return advice

    world = domain.world(task, seed)
    try:
        player = registry.create("agents", agent).start(Seat(task.goal, seed))
        episode = await play(
            task, world, player, ask, max_steps=domain.max_steps, advice_tokens=4000
        )
        return episode.reward
    finally:
        world.close()


async def measure(domain: Domain, split: str, count: int, seeds: int) -> dict[str, float]:
    tasks = list(domain.tasks(split))
    tasks = tasks[:count] if count else tasks
    told = {task.id: domain.oracle(task) for task in tasks}
    strangers = [*tasks[len(tasks) // 2 :], *tasks[: len(tasks) // 2]]
    found: dict[str, float] = {"planned": fmean(bool(text) for text in told.values())}
    kinds = {
        "none": {task.id: "" for task in tasks},
        "another task's": {t.id: told[s.id] for t, s in zip(tasks, strangers, strict=True)},
        "oracle": told,
    }
    for name, advice in kinds.items():
        found[name] = fmean(
            [
                await reward(domain, task, domain.agent, advice[task.id], seed)
                for task in tasks
                for seed in range(seeds)
            ]
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", default="baba")
    parser.add_argument("--split", default="train")
    parser.add_argument("--tasks", type=int, default=0, help="0: all of the split")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    domain: Domain = registry.create("domains", given.domain)
    found: dict[str, Any] = asyncio.run(measure(domain, given.split, given.tasks, given.seeds))
    if given.json:
        print(json.dumps({"domain": given.domain, "agent": domain.agent, **found}))
        return
    print(
        f"{given.domain}, {given.split}, agent {domain.agent}; oracle advises {found['planned']:.1%}"
    )
    for name in ("none", "another task's", "oracle"):
        print(
            f"{name:16} {found[name]:.3f}  {found[name] / max(found['oracle'], 1e-9):.2f} of oracle"
        )


if __name__ == "__main__":
    main()

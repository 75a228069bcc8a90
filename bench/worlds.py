"""What each domain's worlds cost: steps a second, cases a second, memory for each world.

    python -m bench.worlds [--domains alfworld,baba] [--tasks 20] [--json]

Worlds alone: the actions of the domain's own agent, recorded and then replayed. Set beside the
reference engine's figure where one was recorded on the same kind of machine (steps a second of one
core: ALFWorld 9, Baba Is AI 1,950); TextWorld and MiniHack run the reference engines themselves and
are compared with those in bench.textworld and bench.minihack. Cases: a whole evaluation of
success_retrieval on train, collection included, on all cores.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import metamem
from metamem.core import registry
from metamem.core.episode import play
from metamem.core.errors import MetamemError
from metamem.core.protocols import Domain, Seat
from metamem.core.types import Episode, Task

REFERENCE = {"alfworld": 9.0, "baba": 1950.0}
HELD = 4  # worlds open at once when their memory is taken
PAGE = os.sysconf("SC_PAGE_SIZE")


async def played(domain: Domain, task: Task) -> Episode:
    world = domain.world(task, 1)
    try:
        player = registry.create("agents", domain.agent).start(Seat(task.goal, 1))
        return await play(task, world, player, None, max_steps=domain.max_steps, advice_tokens=4000)
    finally:
        world.close()


def replayed(domain: Domain, task: Task, episode: Episode) -> None:
    world = domain.world(task, 1)
    try:
        world.reset()
        for step in episode.steps:
            world.step(step.action)
    finally:
        world.close()


def resident() -> int:
    """Bytes in memory of this process and its children, shared pages counted once each."""
    pids = [os.getpid()]
    for pid in pids:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            pids += [int(child) for child in children.read_text().split()]
    pages = 0
    for pid in pids:
        size, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
        pages += int(size) - int(shared)
    return pages * PAGE


def measure(name: str, count: int) -> dict[str, Any]:
    domain: Domain = registry.create("domains", name)
    tasks = list(domain.tasks("train"))[:count]
    episodes = [asyncio.run(played(domain, task)) for task in tasks]
    steps = sum(len(episode.steps) for episode in episodes)
    begun = time.perf_counter()
    for task, episode in zip(tasks, episodes, strict=True):
        replayed(domain, task, episode)
    alone = time.perf_counter() - begun
    before = resident()
    worlds = [domain.world(task, 1) for task in tasks[:HELD]]
    for world in worlds:
        world.reset()
    held = max(0, resident() - before) / len(worlds)
    for world in worlds:
        world.close()
    with tempfile.TemporaryDirectory() as home:
        begun = time.perf_counter()
        (evaluation,) = metamem.evaluate("success_retrieval", name, "train", home=home)
        whole = time.perf_counter() - begun
    reference = REFERENCE.get(name)
    return {
        "domain": name,
        "steps_per_second": round(steps / alone, 1),
        "reference": reference,
        "ratio": round(steps / alone / reference, 1) if reference else None,
        "cases_per_second": round(len(evaluation.rows) / whole, 2),
        "mb_per_world": round(held / 2**20, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domains", default="alfworld,textworld,baba,minihack,coding,dialogue")
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = []
    for name in given.domains.split(","):
        try:
            found.append(measure(name, given.tasks))
        except MetamemError as error:
            print(f"{name}: {error.message}" + (f" ({error.hint})" if error.hint else ""))
    if given.json:
        print(json.dumps(found))
        return
    print("domain      steps/s  reference    ratio  cases/s  MB/world")
    for row in found:
        print(
            f"{row['domain']:<10} {row['steps_per_second']:>8.0f} {row['reference'] or '-':>10}"
            f" {row['ratio'] or '-':>8} {row['cases_per_second']:>8.1f} {row['mb_per_world']:>9.1f}"
        )


if __name__ == "__main__":
    main()

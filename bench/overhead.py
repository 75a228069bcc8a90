"""What the harness itself costs: an evaluation against the same worlds and agent run bare.

    python -m bench.overhead [--tasks 60] [--repeats 1] [--json]

The bare loop plays the same tasks with the same agent, seeds and advice, with no jail, no store
and no rows. The design's own work is measured apart, by running it in this process.
"""

import argparse
import asyncio
import json
import tempfile
import time
from dataclasses import replace

from metamem.api import open_home, running
from metamem.core import registry
from metamem.core.episode import play
from metamem.core.ids import derive_seed
from metamem.core.protocols import Seat
from metamem.designs.library import load
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.rules import Rules

DOMAIN = Spec("alfworld", {"data": "generated"})


def setup(tasks: int, steps: int, repeats: int = 1) -> Setup:
    sizes = {"train": 2 * tasks, "valid": tasks, "test": 1, "shift": 1}
    domain = replace(DOMAIN, settings={**DOMAIN.settings, **sizes})
    return Setup(domain, Spec("reader"), Spec("auto"), Rules(max_steps=steps, repeats=repeats))


async def bare(given: Setup) -> tuple[float, int]:
    """Seconds and steps of the plain loop over the tasks of `valid`."""
    domain = registry.create("domains", given.domain.name, **given.domain.settings)
    agent = registry.create("agents", given.agent.name)
    tasks = domain.tasks("valid")
    for task in tasks:
        domain.world(task, 0)  # both sides find the games parsed
    begun, steps = time.perf_counter(), 0
    cases = [(task, repeat) for repeat in range(given.rules.repeats) for task in tasks]
    for task, repeat in cases:
        seed = derive_seed(given.seed, "deploy", task.id, repeat)
        player = agent.start(Seat(task.goal, seed))
        episode = await play(task, domain.world(task, seed), player, None,
                             max_steps=given.rules.max_steps, advice_tokens=4000)  # fmt: skip
        steps += len(episode.steps)
    return time.perf_counter() - begun, steps


async def harnessed(given: Setup, design: str, home: str) -> float:
    """Seconds of a whole evaluation on `valid`, parts warm, memory fed beforehand not counted."""
    with open_home(home) as archive:
        async with running(archive, Spec("inline")) as executor:
            warm = Evaluator(archive, executor, replace(given, seed=1))
            await warm.evaluate(load(design), "valid", purpose="bench")
            evaluator = Evaluator(archive, executor, given)
            await evaluator.collected("valid")
            begun = time.perf_counter()
            await evaluator.evaluate(load(design), "valid", purpose="bench")
            return time.perf_counter() - begun


def measure(tasks: int, repeats: int = 1) -> list[dict[str, float]]:
    rows, cases = [], tasks * repeats
    for steps in (10, 30, 100):
        given = setup(tasks, steps, repeats)
        with tempfile.TemporaryDirectory() as home:
            whole = asyncio.run(harnessed(given, "no_memory", home))
        alone, played = asyncio.run(bare(given))
        rows.append(
            {
                "max_steps": steps,
                "steps_a_case": played / cases,
                "bare_ms": 1000 * alone / cases,
                "evaluation_ms": 1000 * whole / cases,
                "ratio": whole / alone,
                "overhead_ms": 1000 * (whole - alone) / cases,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = measure(given.tasks, given.repeats)
    if given.json:
        print(json.dumps(rows))
        return
    print("harness overhead, one core, the design no_memory (ms a case; goal: ratio at most 1.3)")
    print(f"{'step cap':>8} {'steps':>6} {'bare':>8} {'evaluated':>10} {'ratio':>6} {'extra':>7}")
    for row in rows:
        print(
            f"{row['max_steps']:>8} {row['steps_a_case']:>6.1f} {row['bare_ms']:>8.2f} "
            f"{row['evaluation_ms']:>10.2f} {row['ratio']:>6.2f} {row['overhead_ms']:>7.2f}"
        )


if __name__ == "__main__":
    main()

"""How fast our TextWorld worlds are, beside the bare textworld package on the same games.

python -m bench.textworld [--size balrog]     needs the extra textworld; makes three games

The games are made anew, so that what that takes is measured too.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from metamem.core.protocols import World
from metamem.core.types import Observation, Task
from metamem.domains.textworld.domain import TextWorldDomain
from metamem.domains.textworld.engine import Engine, clean
from metamem.domains.textworld.world import Outcomes, TextworldWorld

STEPS = 40
PASSES = 3  # walks in each game, each of other luck


class Bare:
    """The package as its own documentation uses it, with what an agent here is shown."""

    def __init__(self, task: Task) -> None:
        import textworld  # type: ignore[import-untyped,unused-ignore]

        wanted = textworld.EnvInfos(
            score=True, max_score=True, won=True, lost=True, admissible_commands=True
        )
        self._game, self._walk = textworld.start(task.data["path"], wanted), task.data["walk"]

    def reset(self) -> Observation:
        state = self._game.reset()
        for command in self._walk:
            state, _, _ = self._game.step(command)
        return self._seen(state)

    def step(self, action: str) -> Observation:
        state, _, _ = self._game.step(action)
        return self._seen(state)

    def close(self) -> None:
        pass

    def _seen(self, state: "object") -> Observation:
        done = bool(state["won"] or state["lost"])  # type: ignore[index]
        actions = tuple(state["admissible_commands"])  # type: ignore[index]
        return Observation(clean(state["feedback"]), actions, 0.0, done)  # type: ignore[index]


def measure(make: Callable[[Task], World], tasks: Sequence[Task], luck: range) -> float:
    """Steps per second of random play, loading apart. Wall time: the engine has its own process."""
    steps, spent = 0, 0.0
    for task in tasks:
        world = make(task)
        world.reset()  # loads the game
        began = time.perf_counter()
        for seed in luck:
            rng, seen = random.Random(seed), world.reset()
            for _ in range(STEPS):
                if seen.done:
                    break
                seen = world.step(rng.choice(sorted(seen.actions)))
                steps += 1
        spent += time.perf_counter() - began
        world.close()
    return steps / spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="small", help="small, or balrog: minutes to make")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="metamem-") as folder:
        os.environ["METAMEM_CACHE"] = folder
        return report(chosen.size, chosen.json)


def report(size: str, as_json: bool) -> int:
    large = size == "balrog"  # such a game has one start, hence serves one task
    domain = TextWorldDomain(
        size=size, houses=4 if large else 2, shift_houses=1, train=2, valid=1, test=1, shift=1
    )
    began = time.perf_counter()
    tasks = [*domain.tasks("train"), *domain.tasks("shift")]
    made = time.perf_counter() - began
    outcomes, luck = Outcomes(100_000), range(PASSES)

    def remembering(task: Task) -> TextworldWorld:
        return TextworldWorld(task.data, show_actions=True, outcomes=outcomes)

    figures = {
        "bare": measure(Bare, tasks, luck),
        "engine": measure(lambda t: Engine(t.data["path"], t.data["walk"]), tasks, luck),
        "no_cache": measure(
            lambda t: TextworldWorld(t.data, show_actions=True, outcomes=Outcomes(0)), tasks, luck
        ),
        "first_time": measure(remembering, tasks, luck),
        "known": measure(remembering, tasks, luck),
    }
    result = {name: round(value, 1) for name, value in figures.items()} | {"making": round(made, 1)}
    if as_json:
        print(json.dumps(result))
        return 0
    said = {
        "bare": "the bare package",
        "engine": "our engine in the same process",
        "no_cache": "our world (own process), nothing remembered",
        "first_time": f"our world, remembering, {PASSES} new walks a game",
        "known": "our world, the same walks again",
    }
    print(f"{5 if large else 3} games of size {size} made in {made:.1f} s, on all cores")
    print("steps/s of random play with admissible commands, and as a ratio to the bare package")
    for name, text in said.items():
        print(f"{text:<50} {figures[name]:>10,.0f} {figures[name] / figures['bare']:>8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

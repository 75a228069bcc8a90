"""Standard functions as domains of parameters: what proposers are measured with.

The reward is 1 at the optimum and falls with the logarithm of the function's value, so that a function
that is steep somewhere does not hide what happens near its optimum. The optimum lies elsewhere for every
seed. Each design has noise of its own on train and valid; test is without.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Trial
from metamem.core.space import Bool, Choice, Float, Int, Only, Space
from metamem.core.types import Scored, Task
from metamem.domains.base import ParamsBase

TASKS = {"train": 40, "valid": 40, "test": 1, "shift": 1}
DIMENSIONS, EDGE, INNER = 5, 5.0, 3.5  # ranges reach from -EDGE to EDGE, optima lie within INNER


def sphere(x: Sequence[float]) -> float:
    return sum(each**2 for each in x)


def rosenbrock(x: Sequence[float]) -> float:
    moved = [each + 1.0 for each in x]  # its optimum is at 1
    return sum(100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(moved))


def rastrigin(x: Sequence[float]) -> float:
    return sum(each**2 + 10.0 * (1.0 - math.cos(2.0 * math.pi * each)) for each in x)


def ackley(x: Sequence[float]) -> float:
    n = len(x)
    near = -20.0 * math.exp(-0.2 * math.sqrt(sum(each**2 for each in x) / n))
    waves = -math.exp(sum(math.cos(2.0 * math.pi * each) for each in x) / n)
    return near + waves + 20.0 + math.e


PLAIN: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sphere": sphere,
    "rosenbrock": rosenbrock,
    "rastrigin": rastrigin,
    "ackley": ackley,
}
MIXED = "mixed"  # a conditional space with numbers of all sorts, options and switches
NOTHING = "nothing"  # every setting is worth the same


class FunctionDomain(ParamsBase):
    """One of the functions, with its optimum at a place of the seed's."""

    name = "function"

    def __init__(self, function: str = "sphere", seed: int = 0, noise: float = 0.05) -> None:
        if function not in (*PLAIN, MIXED, NOTHING):
            raise UsageError(f"there is no function {function!r}")
        self.function, self.noise = function, noise
        self.version = content_id("function", 1, function, seed, noise)[:12]
        luck = Random(derive_seed("function", function, seed))
        self._best = [luck.uniform(-INNER, INNER) for _ in range(DIMENSIONS)]
        self._way, self._stairs = luck.choice(("left", "right")), luck.randint(3, 17)
        if function == MIXED:
            self.space = _mixed(luck)
        else:
            begins = [luck.uniform(-EDGE, EDGE) for _ in range(DIMENSIONS)]
            ranges = {f"x{n}": Float(-EDGE, EDGE, at) for n, at in enumerate(begins)}
            self.space = Space(ranges)
        worst = [math.copysign(EDGE, -at) - at for at in self._best]
        self._worst = PLAIN[function](worst) if function in PLAIN else 1.0

    def tasks(self, split: str) -> list[Task]:
        return [Task(f"{split}-{n:02d}", "reach the top") for n in range(TASKS[split])]

    def truth(self, values: Mapping[str, Any]) -> float:
        if self.function == NOTHING:
            return 0.5
        if self.function == MIXED:
            return self._mixed(values)
        place = [values[f"x{n}"] - at for n, at in enumerate(self._best)]
        return 1.0 - math.log1p(PLAIN[self.function](place)) / math.log1p(self._worst)

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        reward = self.truth(values)
        if not task.id.startswith(("test", "shift")):
            reward += Random(derive_seed(trial.seed, dict(values))).gauss(0.0, self.noise)
        return Scored(min(max(reward, 0.0), 1.0))

    def _mixed(self, values: Mapping[str, Any]) -> float:
        lost = 0.12 * abs(values["x"] - self._best[0]) / EDGE
        lost += 0.05 * abs(math.log10(values["rate"]) - self._best[1])  # from -4 to 4
        lost += 0.02 * abs(values["stairs"] - self._stairs)
        if values["way"] == "straight":
            return max(0.0, 0.75 - lost)
        if values["way"] != self._way:
            return max(0.0, 0.6 - lost)
        lost += 0.1 * abs(values["bend"] - self._best[2]) / EDGE
        if not values["light"]:
            return max(0.0, 0.95 - lost)
        return max(0.0, 1.0 - lost - 0.05 * abs(values["lamps"] - 4))


def _mixed(luck: Random) -> Space:
    bends = Only("way", ("left", "right"))
    return Space(
        {
            "way": Choice(("straight", "left", "right"), "straight"),
            "bend": Float(-EDGE, EDGE, luck.uniform(-EDGE, EDGE), only=bends),
            "x": Float(-EDGE, EDGE, luck.uniform(-EDGE, EDGE)),
            "rate": Float(1e-4, 1e4, 10 ** luck.uniform(-4.0, 4.0), log=True),
            "stairs": Int(1, 20, luck.randint(1, 20)),
            "light": Bool(False),
            "lamps": Int(1, 12, 1, only=Only("light", (True,))),
        }
    )

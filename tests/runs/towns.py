"""The toy domain in towns: what was learned in one is of use there, or, where nothing is fair, nowhere."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metamem.core.ids import derive_seed
from metamem.core.types import Task
from metamem.domains.toy import DOORS, THINGS, ToyDomain

TOWNS = 4


class Towns(ToyDomain):
    streams: Mapping[str, Any] = {"memory": "town"}

    def __init__(self, fair: bool = True, memory: str = "shared", seed: int = 0) -> None:
        super().__init__(seed, 0.0)
        self.fair, self.by_town = fair, memory == "town"
        self.version = f"{self.version}-{fair}-{memory}"

    def tasks(self, split: str) -> list[Task]:
        if not self.by_town:
            return super().tasks(split)
        towns = [Towns(self.fair, seed=self.seed + n).tasks(split) for n in range(TOWNS)]
        return [
            replace(task, id=f"{n}-{task.id}", group=f"town {n}")
            for at_once in zip(*towns, strict=True)
            for n, task in enumerate(at_once)
        ]

    def _house(self, thing: str, rng: random.Random, split: str) -> dict[str, str]:
        if self.fair:
            return super()._house(thing, rng, split)
        doors = list(DOORS)
        random.Random(derive_seed("unfair", split, rng.random())).shuffle(doors)
        behind = dict(zip(doors, THINGS, strict=False))
        return {door: behind.get(door, "dust") for door in DOORS}


class Timeless(Towns):
    streams: Mapping[str, Any] = {}

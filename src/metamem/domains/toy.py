"""A toy domain in one file: things behind doors. Small enough to read, real enough to learn in.

Each kind of thing lies behind the same door in every task, so a memory that notes what was
found where wins at once, and an agent without one must try doors until its steps run out.
"""

import random

from metamem.core.ids import content_id, derive_seed
from metamem.core.types import Observation, Task
from metamem.domains.base import DomainBase

DOORS = ("red", "blue", "green", "white", "black", "brown", "grey", "pink", "gold", "teal")
THINGS = ("lantern", "compass", "flute", "ribbon", "marble", "anchor", "feather", "whistle")
SIZES = {"train": 40, "valid": 40, "test": 40, "shift": 40}


class ToyWorld:
    def __init__(self, thing: str, behind: dict[str, str]) -> None:
        self.thing, self.behind = thing, behind

    def reset(self) -> Observation:
        self.open: list[str] = []
        return Observation(f"You are in a hall with {len(DOORS)} doors.", self._actions())

    def step(self, action: str) -> Observation:
        if action not in self._actions():
            return Observation("Nothing happens.", self._actions())
        if action == f"take the {self.thing}":
            return Observation(f"You hold the {self.thing}.", (), 1.0, True)
        if action.startswith("take"):
            return Observation("That is not what you came for.", self._actions())
        door = action.split()[2]
        self.open.append(door)
        return Observation(f"Behind the {door} door: {self.behind[door]}.", self._actions())

    def close(self) -> None:
        pass

    def _actions(self) -> tuple[str, ...]:
        shut = [f"open the {d} door" for d in DOORS if d not in self.open]
        return (
            *shut,
            *(f"take the {self.behind[d]}" for d in self.open if self.behind[d] != "dust"),
        )


class ToyDomain(DomainBase):
    name = "toy"
    max_steps = 4

    def __init__(self, seed: int = 0, noise: float = 0.1) -> None:
        if not 0 <= noise <= 1:
            raise ValueError("noise is a probability")
        self.seed, self.noise = seed, noise
        self.version = content_id("toy", 1, seed, noise, SIZES)[:12]

    def describe(self) -> str:
        return "Find the thing you are asked for: it lies behind one of ten doors."

    def tasks(self, split: str) -> list[Task]:
        made = []
        for n in range(SIZES[split]):
            rng = random.Random(derive_seed("toy", self.seed, split, n))
            thing = THINGS[n % len(THINGS)]
            made.append(
                Task(f"{split}-{n:03d}", f"take the {thing}", thing, self._house(thing, rng, split))
            )
        return made

    def _house(self, thing: str, rng: random.Random, split: str) -> dict[str, str]:
        doors = list(DOORS)
        random.Random(derive_seed("toy doors", self.seed)).shuffle(doors)
        place = dict(zip(THINGS, doors, strict=False))
        if rng.random() < self.noise * (3 if split == "shift" else 1):
            place[thing], other = doors[-1], place[thing]
            place.update({t: other for t in THINGS if t != thing and place[t] == doors[-1]})
        return {door: next((t for t, d in place.items() if d == door), "dust") for door in DOORS}

    def world(self, task: Task, seed: int) -> ToyWorld:
        return ToyWorld(task.kind, dict(task.data))

    def baselines(self) -> tuple[str, ...]:
        return ("no_memory", "trajectory_retrieval", "success_retrieval", "dynamic_cheatsheet")

    def invariants(self) -> tuple[str, ...]:
        return ("an episode has at most four actions",)

    def oracle(self, task: Task) -> str:
        door = next(d for d, t in task.data.items() if t == task.kind)
        return f"1. open the {door} door\n2. take the {task.kind}"

"""A toy domain: the sign that says which door to take is seen only on the third step."""

import random

from metamem.core.ids import derive_seed
from metamem.core.types import Observation, Task
from metamem.domains.base import DomainBase

SIGNS = ("red", "green", "blue", "white")
DOORS = tuple(f"enter door {n}" for n in range(1, 9))
SIGN_AFTER = 3  # steps


class SignpostWorld:
    def __init__(self, sign: str, door: str) -> None:
        self.sign, self.door = sign, door

    def reset(self) -> Observation:
        self.gone = 0
        return Observation("A long way.", ("walk on",))

    def step(self, action: str) -> Observation:
        if action in DOORS and self.gone >= SIGN_AFTER:
            won = action == self.door
            return Observation("Light." if won else "A wall.", (), float(won), True)
        self.gone += 1
        if self.gone < SIGN_AFTER:
            return Observation(f"Still {SIGN_AFTER - self.gone} to go.", ("walk on",))
        return Observation(f"A {self.sign} sign, and doors.", DOORS)

    def close(self) -> None: ...


class Signposts(DomainBase):
    """With `fair=False` the sign says nothing about the door."""

    name = "signposts"
    max_steps = 5

    def __init__(self, fair: bool = True) -> None:
        self.fair = fair
        self.version = f"1-{fair}"

    def describe(self) -> str:
        return "Find the right door."

    def tasks(self, split: str) -> list[Task]:
        made = []
        for n in range(24):
            rng = random.Random(derive_seed("signposts", split, n))
            sign = rng.choice(SIGNS)
            door = DOORS[SIGNS.index(sign) * 2] if self.fair else rng.choice(DOORS)
            data = {"sign": sign, "door": door}
            made.append(Task(f"{split}-{n}", "find the way out", sign, data))
        return made

    def world(self, task: Task, seed: int) -> SignpostWorld:
        return SignpostWorld(task.data["sign"], task.data["door"])

    def oracle(self, task: Task) -> str:
        return "\n".join(["walk on"] * SIGN_AFTER + [task.data["door"]])

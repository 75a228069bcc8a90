"""A domain whose second half no agent without memory ever sees.

One of three hundred doors leads into a vault, always the same; behind every other one hangs a note
with its number read backwards, which no agent understands, though a memory can. In the vault each
thing has its box. Three actions are all there is: the door, the box, the thing.
"""

import random
from collections.abc import Sequence

from metamem.core.ids import derive_seed
from metamem.core.types import Design, Observation, Task
from metamem.domains.base import DomainBase
from metamem.domains.toy import DOORS as BOXES
from metamem.domains.toy import THINGS
from metamem.search.proposer import Proposal, Request

WAY_IN = 137
DOORS = tuple(f"open door {number}" for number in range(100, 400))
NOTES = '''
import re
from metamem.designs import Memory


class Notes(Memory):
    """The way in, by the notes, and which box holds what."""

    NUMBER = {number}

    def __init__(self, tools):
        super().__init__(tools)
        self.way, self.boxes = "", {{}}

    async def update(self, experience):
        for step in experience.steps:
            if note := re.match(r"A note: (\\d+)", step.observation):
                self.way = f"open door {{note[1][::-1]}}"
            if found := re.match(r"In the (\\w+) box: (\\w+)", step.observation):
                self.boxes[found[2]] = f"open the {{found[1]}} box"

    async def retrieve(self, query):
        thing = query.goal.split()[-1]
        if not self.way:
            return ""
        if thing not in self.boxes:
            return f"1. {{self.way}}"
        return f"1. {{self.way}}\\n2. {{self.boxes[thing]}}\\n3. take the {{thing}}"
'''


class VaultWorld:
    def __init__(self, thing: str, boxes: dict[str, str]) -> None:
        self.thing, self.boxes = thing, boxes

    def reset(self) -> Observation:
        self.inside, self.open = False, list[str]()
        return Observation("You stand before very many doors.", DOORS)

    def step(self, action: str) -> Observation:
        if not self.inside:
            self.inside = action == f"open door {WAY_IN}"
            said = "You are in a vault." if self.inside else f"A note: {str(WAY_IN)[::-1]}"
            return Observation(said, self._actions())
        if action == f"take the {self.thing}" and action in self._actions():
            return Observation("You have it.", (), 1.0, True)
        if not action.endswith("box"):
            return Observation("Nothing happens.", self._actions())
        box = action.split()[2]
        self.open.append(box)
        return Observation(f"In the {box} box: {self.boxes[box]}", self._actions())

    def close(self) -> None:
        pass

    def _actions(self) -> Sequence[str]:
        if not self.inside:
            return DOORS
        shut = tuple(f"open the {box} box" for box in BOXES if box not in self.open)
        return (*shut, *(f"take the {self.boxes[box]}" for box in self.open))


class Vault(DomainBase):
    name, version, max_steps = "vault", "1", 3

    def describe(self) -> str:
        return "Find a way in, and take the thing you are asked for."

    def tasks(self, split: str) -> list[Task]:
        number = {"train": 40, "valid": 32}.get(split, 16)
        things = [THINGS[n % len(THINGS)] for n in range(number)]
        return [Task(f"{split}-{n:02d}", f"take the {t}", t) for n, t in enumerate(things)]

    def world(self, task: Task, seed: int) -> VaultWorld:
        boxes = random.Random(derive_seed("vault")).sample(BOXES, len(BOXES))
        things = [*THINGS, *("dust",) * (len(BOXES) - len(THINGS))]
        return VaultWorld(task.kind, dict(zip(boxes, things, strict=True)))

    def baselines(self) -> tuple[str, ...]:
        return ("no_memory", "success_retrieval")

    def oracle(self, task: Task) -> str:
        world = self.world(task, 0)
        box = next(box for box, thing in world.boxes.items() if thing == task.kind)
        return f"1. open door {WAY_IN}\n2. open the {box} box\n3. take the {task.kind}"


class NoteTaker:
    """Writes the same memory under ever new names."""

    async def propose(self, request: Request) -> Proposal:
        design = Design(NOTES.format(number=request.seed))
        return Proposal(design, (request.parents[0].design.id,), "written", "notes")

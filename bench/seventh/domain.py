"""A workyard: rooms around a yard, stations that make one thing of another, boxes, broken devices.

What holds everywhere (recipes, which control starts which station, where kinds of things lie, what
opens, mends and fits what) is told nowhere and can only be learned by acting; where everything is in
one task, and what it is numbered, is drawn for that task alone.
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # where it is named by its path, for its neighbours

from bench.seventh.drafts import Draft
from bench.seventh.lore import FACTS, Lore
from bench.seventh.walkthrough import walkthrough
from bench.seventh.world import WorkyardWorld
from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.splits import check_split
from metamem.core.types import Task
from metamem.domains.base import DomainBase, Sizes

VERSION = 1
MAX_STEPS = 50


class Workyard(DomainBase):
    """Work in a yard: fetch, work and make things, assay and sort them, mend what is broken.

    Sizes are numbers of tasks; `reserve` is how many further ones of train there are for those who ask
    for more. `seed` draws the tasks and what holds in all of them.
    """

    name = "workyard"
    max_steps = MAX_STEPS

    def __init__(
        self,
        train: int = 240,
        valid: int = 240,
        test: int = 200,
        shift: int = 200,
        reserve: int = 1000,
        seed: int = 0,
    ) -> None:
        if reserve < 0:
            raise UsageError("a reserve cannot hold less than nothing")
        self._sizes, self._reserve, self._seed = Sizes(train, valid, test, shift), reserve, seed
        self.lore = Lore(seed)
        self._tasks: dict[str, tuple[Task, ...]] = {}
        self.version = content_id("workyard", VERSION, FACTS, self._sizes.as_list(), seed)[:12]

    def describe(self) -> str:
        return (
            "Work in a yard with rooms around it, in a text world. The agent walks between rooms, opens"
            " containers, takes things, starts stations and works things in them, and brings, boxes or"
            " fits what comes of it, as the goal says. It sees the goal, where it is, what came of its"
            " action and the actions that are possible now. Six kinds of task, a seventh in shift;"
            f" reward 1 for reaching the goal within {MAX_STEPS} actions. Data: generated"
            f" (seed {self._seed})."
        )

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        if split not in self._tasks:
            size = self._sizes.of(split)
            self._tasks[split] = tuple(self._task(split, n) for n in range(size))
        return self._tasks[split]

    def reserve(self) -> Sequence[Task]:
        first = self._sizes.train
        if "reserve" not in self._tasks:
            numbers = range(first, first + self._reserve)
            self._tasks["reserve"] = tuple(self._task("train", n) for n in numbers)
        return self._tasks["reserve"]

    def _task(self, split: str, number: int) -> Task:
        rng = random.Random(derive_seed("workyard", VERSION, self._seed, split, number))
        draft = Draft(self.lore, rng, split == "shift")
        return Task(f"{split}-{number:04d}", draft.sentence(), draft.kind, draft.data())

    def world(self, task: Task, seed: int) -> WorkyardWorld:
        """The yard of a task. Nothing in it is left to chance, so the seed plays no part."""
        return WorkyardWorld(task.data, self.lore)

    def invariants(self) -> tuple[str, ...]:
        return (
            "Only an action from the list has an effect; any other is answered 'Nothing happens.'",
            "Every room has a door to the yard; other doors differ from task to task.",
            "Numbers of containers hold within one task only; kinds of things behave alike everywhere.",
            "A station runs, once and with what is in it, when the right one of its controls is used.",
            "A sealed container opens with the right tool in hand alone.",
            "What is assayed and put in a wrong box is lost, and the episode ends with reward 0.",
            "An episode ends with reward 1 when the goal is reached, else with 0 after the last step.",
        )

    def oracle(self, task: Task) -> str:
        steps = walkthrough(task.data, self.lore)
        return "\n".join(f"{number}. {action}" for number, action in enumerate(steps, 1))

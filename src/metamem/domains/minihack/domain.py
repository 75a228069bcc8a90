"""MiniHack as a domain: tasks by game and level, worlds in a child process."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metamem.core import extras
from metamem.core.errors import UsageError
from metamem.core.ids import content_id
from metamem.core.splits import check_split
from metamem.core.types import Task
from metamem.domains.base import DomainBase
from metamem.domains.minihack.boxoban import boxoban_tasks, levels_id
from metamem.domains.minihack.tasks import further_tasks, home_tasks, shifted_tasks
from metamem.domains.remote import RemoteWorld

BOXOBAN_VARIABLE = "BOXOBAN_LEVELS"
VERSION = 1
_WORLD = "metamem.domains.minihack.world:open_world"
_PLAN = "metamem.domains.minihack.planner:open_plan"


class MiniHackDomain(DomainBase):
    """Small NetHack levels: find the stairs, use what lies about, survive.

    `data` is a folder with published Boxoban levels; they then make up part of the shift. `reserve`
    is how many further tasks of train there are for those who ask for more.
    """

    name = "minihack"
    max_steps = 100
    agent = "explorer"
    answers = "planner"
    suggestions: Mapping[str, Any] = {"designs": 60, "final_repeats": 1}

    def __init__(
        self,
        train: int = 100,
        valid: int = 100,
        test: int = 100,
        shift: int = 100,
        seed: int = 0,
        data: str = "",
        reserve: int = 1000,
    ) -> None:
        extras.require(self.name)
        sizes = {"train": train, "valid": valid, "test": test, "shift": shift}
        if min(sizes.values()) < 1:
            raise UsageError("every split needs at least one task")
        folder = data or os.environ.get(BOXOBAN_VARIABLE, "")
        if reserve < 0:
            raise UsageError("a reserve cannot hold less than nothing")
        self._sizes, self._seed, self._reserve = sizes, seed, reserve
        self._boxoban = Path(folder).expanduser().resolve() if folder else None
        levels = levels_id(self._boxoban) if self._boxoban else ""
        self.version = content_id("minihack", VERSION, sizes, seed, levels)[:12]
        self._tasks: dict[str, tuple[Task, ...]] = {}
        self._plans: dict[str, str] = {}

    def describe(self) -> str:
        return (
            "Small levels of the game NetHack, told in words. The agent walks, searches, opens,"
            " picks up and uses things as the goal says. It sees messages, what is seen where, a"
            " map, what it carries, and the actions that are possible now. Reward 1 for reaching"
            " the goal within 100 steps."
        )

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        if split not in self._tasks:
            self._tasks[split] = tuple(self._made(split))
        return self._tasks[split]

    def _made(self, split: str) -> list[Task]:
        size = self._sizes[split]
        if split != "shift":
            return home_tasks(split, size, self._seed)
        boxes = boxoban_tasks(self._boxoban, size // 4, self._seed) if self._boxoban else []
        return [*shifted_tasks(size - len(boxes), self._seed), *boxes]

    def reserve(self) -> Sequence[Task]:
        # Train itself never has more of the varied games than tasks in all.
        return further_tasks(self._sizes["train"], self._reserve, self._seed)

    def world(self, task: Task, seed: int) -> RemoteWorld:
        """The task fixes level and luck alike, so the seed plays no part."""
        return RemoteWorld(_WORLD, task.data, seed, extra=self.name)

    def invariants(self) -> tuple[str, ...]:
        return (
            "Only an action from the list of possible ones has an effect.",
            "While the game asks something, the possible actions are answers; 'cancel' leaves it.",
            "Using a thing on the floor mostly needs standing on it and picking it up first.",
            "Levels differ from task to task: places seldom carry over, ways of doing things do.",
            "Lava and deep water kill; unknown monsters may.",
            "An episode ends with reward 1 when the goal is reached, else with 0 at death or after"
            " 100 steps.",
        )

    def oracle(self, task: Task) -> str:
        """The actions by which a planner that sees the whole level won; empty where it did not.

        No ceiling: a perfect player may win where the planner does not.
        """
        if task.id not in self._plans:
            world = RemoteWorld(_PLAN, task.data, 0, extra=self.name)
            self._plans[task.id] = world.reset().text
            world.close()
        return self._plans[task.id]

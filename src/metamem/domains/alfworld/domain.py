"""ALFWorld as a domain: tasks from own or official games, played in the fast engine."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from metamem.core.errors import UsageError
from metamem.core.splits import check_split
from metamem.core.types import Task
from metamem.domains.alfworld.engine import AlfworldWorld
from metamem.domains.alfworld.game import Game
from metamem.domains.alfworld.sources import GeneratedGames, OfficialGames, Source
from metamem.domains.base import DomainBase, Sizes

DATA_VARIABLE = "ALFWORLD_DATA"
_RESERVE = "reserve"  # beside the splits


@lru_cache(maxsize=2048)
def _game(source: Source, key: str) -> Game:
    return source.game(key)


class AlfworldDomain(DomainBase):
    """Household tasks: find things, clean, heat or cool them, and put them where they belong.

    `data` is `generated`, a folder with official games, or `auto`: the folder that the variable
    ALFWORLD_DATA names, else generated. Sizes are numbers of tasks; `reserve` is how many further
    ones of train there are, for those who ask for more than it has.
    """

    def __init__(
        self,
        data: str = "auto",
        train: int = 200,
        valid: int = 300,
        test: int = 200,
        shift: int = 200,
        seed: int = 0,
        reserve: int = 400,
    ) -> None:
        if reserve < 0:
            raise UsageError("a reserve cannot hold less than nothing")
        sizes = Sizes(train, valid, test, shift)
        folder = os.environ.get(DATA_VARIABLE, "") if data == "auto" else data
        self._source: Source = (
            GeneratedGames(sizes, seed)
            if folder in ("", "generated")
            else OfficialGames(Path(folder).expanduser(), sizes, seed)
        )
        self._tasks: dict[str, tuple[Task, ...]] = {}
        self._version = ""
        self._reserve = reserve

    @property
    def name(self) -> str:
        return "alfworld"

    @property
    def version(self) -> str:
        self._version = self._version or self._source.version
        return self._version

    @property
    def max_steps(self) -> int:
        return 30

    def describe(self) -> str:
        return (
            "Household tasks in a text world. The agent walks between receptacles, opens them, takes"
            " and moves one object at a time, and cleans, heats, cools or looks at objects as the"
            " goal says. It sees the goal, what it finds, and the commands that are possible now."
            f" Six kinds of task; reward 1 for reaching the goal. Data: {self._source.describe()}."
        )

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        if split not in self._tasks:
            self._tasks[split] = tuple(self._task(split, key) for key in self._source.keys(split))
        return self._tasks[split]

    def reserve(self) -> Sequence[Task]:
        if _RESERVE not in self._tasks:
            keys = self._source.further(self._reserve)
            self._tasks[_RESERVE] = tuple(self._task("train", key) for key in keys)
        return self._tasks[_RESERVE]

    def world(self, task: Task, seed: int) -> AlfworldWorld:
        """The game of a task. Nothing in it is left to chance, so the seed plays no part."""
        return AlfworldWorld(_game(self._source, task.data["key"]))

    def baselines(self) -> tuple[str, ...]:
        return (*super().baselines(), "object_places")

    def invariants(self) -> tuple[str, ...]:
        return (
            "Only a command from the list of possible actions has an effect; any other is answered"
            " 'Nothing happens.'",
            "The agent holds at most one object.",
            "Numbers of objects and receptacles hold within one task only: 'mug 1' of two tasks are"
            " different mugs, but kinds of things behave alike everywhere.",
            "What a closed receptacle holds is seen only after opening it.",
            "Objects are cleaned at a sinkbasin, heated at a microwave and cooled at a fridge, while"
            " in the hand.",
            "An episode ends with reward 1 when the goal holds, else with 0 after the last step.",
        )

    def oracle(self, task: Task) -> str:
        return "\n".join(_game(self._source, task.data["key"]).walkthrough)

    def _task(self, split: str, key: str) -> Task:
        game = _game(self._source, key)
        return Task(self._source.task_id(split, key), game.sentence, game.goal.kind, {"key": key})

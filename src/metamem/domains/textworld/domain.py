"""TextWorld as a domain: tasks from own or official games, played in the real engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metamem.core import extras
from metamem.core.splits import check_split
from metamem.core.types import Task
from metamem.domains.base import DomainBase, Sizes
from metamem.domains.textworld.sources import GeneratedTasks, OfficialTasks, Source
from metamem.domains.textworld.world import TextworldWorld


class TextWorldDomain(DomainBase):
    """Text adventures: find a treasure, cook a meal, collect a coin.

    `data` is `generated` or a folder with official games; `size` is `small` or `balrog` and is
    about generated games. With `admissible=False` no agent is shown what it may do. `away` says what
    shift is of generated games: `houses` (the same families in houses that no other split has),
    `games` (other families, in other houses too) or `both`, half of each.
    """

    name = "textworld"
    max_steps = 80
    suggestions: Mapping[str, Any] = {
        "designs": 30,
        "confirm": 6,
        "confirm_seeds": 1,
        "final_repeats": 1,
    }
    trial: Mapping[str, Any] = {
        "houses": 1,
        "shift_houses": 1,
        "train": 1,
        "valid": 1,
        "test": 1,
        "shift": 1,
    }

    def __init__(
        self,
        data: str = "generated",
        size: str = "small",
        admissible: bool = True,
        houses: int = 30,
        shift_houses: int = 8,
        train: int = 60,
        valid: int = 60,
        test: int = 80,
        shift: int = 60,
        seed: int = 0,
        away: str = "both",
    ) -> None:
        extras.require(self.name)
        sizes = Sizes(train, valid, test, shift)
        self._source: Source = (
            GeneratedTasks(size, houses, shift_houses, sizes, seed, away)
            if data == "generated"
            else OfficialTasks(Path(data).expanduser(), sizes, seed)
        )
        self.admissible = admissible
        self.version = self._source.version + ("" if admissible else "-free")

    def describe(self) -> str:
        shown = "and the commands that are possible now" if self.admissible else "and nothing else"
        return (
            "Text adventures in houses of several rooms: find a thing and take it, or gather, cut"
            " and cook ingredients by the recipe in the cookbook, prepare the meal and eat it. The"
            f" agent sees the goal in one sentence, what the game says, {shown}. Reward is the share"
            f" of the points that it made. Data: {self._source.describe()}."
        )

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        return self._source.tasks(split)

    def world(self, task: Task, seed: int) -> TextworldWorld:
        """The game of a task. Nothing in it is left to chance, so the seed plays no part."""
        return TextworldWorld(task.data, show_actions=self.admissible)

    def baselines(self) -> tuple[str, ...]:
        return (*super().baselines(), "object_places")

    def invariants(self) -> tuple[str, ...]:
        return (
            "Exits lead north, south, east or west; going back the other way leads back.",
            "What a closed container holds is seen only after opening it; a closed door must be"
            " opened before passing.",
            "Houses, places of things and recipes differ from game to game; within a game nothing"
            " moves unless the agent moves it.",
            "The recipe is in the cookbook in the kitchen. A stove fries, an oven roasts, a BBQ"
            " grills; cutting needs the knife; the meal is prepared in the kitchen.",
            "Cooking an ingredient twice burns it, and eating or burning what the recipe needs"
            " loses the game; so does taking the wrong treasure.",
            "Reward is the share of the game's points, 1 when it is won; 80 steps at most.",
        )

    def oracle(self, task: Task) -> str:
        """The way to win, in order, under a heading that says what it is for."""
        steps = [f"{number}. {command}" for number, command in enumerate(task.data["plan"], 1)]
        return "\n".join([f"{task.data['title']}:", *steps])

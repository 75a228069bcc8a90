"""Baba Is AI as a domain: levels of 51 ids, some families of which only the shift split has."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.splits import check_split
from metamem.core.types import SPLITS, Observation, Task
from metamem.domains.baba import levels
from metamem.domains.baba.engine import ACTIONS, Game, Level
from metamem.domains.baba.solver import solve
from metamem.domains.baba.text import describe
from metamem.domains.base import DomainBase

MAX_STEPS = 20
_RESERVE = "reserve"  # beside the splits
_THING = re.compile("ball|key|door")
GOAL = (
    "Win the level: bring something that is YOU onto something that is WIN."
    " Words can be pushed to make rules and to break them."
)
SHIFTED = (
    "two_room-maybe_break_stop-goto_win",
    "two_room-make_win",
    *levels.MAKE_YOU,
    levels.MAKE_WALL_WIN,
)


class BabaWorld:
    """One level as text. Reward 1 for winning it; a level without YOU is lost and ends."""

    def __init__(self, level: Level, parity: bool = True) -> None:
        self._level, self._parity = level, parity
        self._game = Game(level)

    def reset(self) -> Observation:
        self._game = Game(self._level)
        return self._show()

    def step(self, action: str) -> Observation:
        if action not in ACTIONS:
            return self._show(f"{action!r} is no action here.\n\n")
        if not self._game.won and not self._game.lost:
            self._game.step(action)
        return self._show()

    def close(self) -> None:
        pass

    def _show(self, remark: str = "") -> Observation:
        game = self._game
        text = remark + describe(game, self._parity)
        return Observation(text, ACTIONS, float(game.won), game.won or game.lost)


class BabaDomain(DomainBase):
    """Puzzles whose rules are blocks on the map that can be pushed.

    `parity` keeps the oddities of the reference's text. Sizes are numbers of tasks; `reserve` is how
    many further ones of train there are for those who ask for more.
    """

    name = "baba"
    agent = "explorer"
    max_steps = MAX_STEPS
    suggestions: Mapping[str, Any] = {"designs": 120}

    def __init__(
        self,
        train: int = 222,
        valid: int = 148,
        test: int = 148,
        shift: int = 140,
        seed: int = 0,
        parity: bool = True,
        reserve: int = 1998,
    ) -> None:
        self._sizes = {"train": train, "valid": valid, "test": test, "shift": shift}
        for split, size in self._sizes.items():
            if size < (2 if split == "train" else 1):
                raise UsageError(
                    f"{size} tasks are too few for {split}", hint="train needs at least 2, others 1"
                )
        if reserve < 0:
            raise UsageError("a reserve cannot hold less than nothing")
        self._seed, self._parity, self._reserve = seed, parity, reserve
        self._tasks: dict[str, tuple[Task, ...]] = {}
        self.version = content_id("baba", levels.VERSION, seed, self._sizes, parity, GOAL)[:12]

    def describe(self) -> str:
        return (
            "Baba Is AI, a puzzle in text. The map holds objects and blocks with words on them;"
            " three blocks in a row or column, such as `key is win`, are a rule while they stand so."
            " The player moves whatever is YOU by one cell, pushes blocks, and wins by moving it"
            " onto something that is WIN. It sees the active rules and where things lie as seen"
            f" from YOU. {len(levels.kinds())} kinds of level; reward 1 for a win within"
            f" {MAX_STEPS} actions."
        )

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        if split not in self._tasks:
            before = SPLITS[: SPLITS.index(split)]
            taken = {_looks(task) for earlier in before for task in self.tasks(earlier)}
            drawn = self._drawn(split, 0, taken)
            self._tasks[split] = tuple(islice(drawn, self._sizes[split]))
        return self._tasks[split]

    def reserve(self) -> Sequence[Task]:
        if _RESERVE not in self._tasks:
            taken = {_looks(task) for split in SPLITS for task in self.tasks(split)}
            drawn = self._drawn("train", self._sizes["train"], taken)
            self._tasks[_RESERVE] = tuple(islice(drawn, self._reserve))
        return self._tasks[_RESERVE]

    def _drawn(self, split: str, first: int, taken: set[str]) -> Iterator[Task]:
        """Every id comes once before any comes again, in an order drawn anew for each round.

        A level that looks like one that is taken, whatever its things are called, is passed over.
        """
        rng = random.Random(derive_seed("baba tasks", self._seed, split))
        kinds = levels.kinds()
        ids = [i for i, kind in kinds.items() if (kind.family in SHIFTED) == (split == "shift")]
        number = 0
        while True:
            rng.shuffle(ids)
            for level_id in ids:
                data = {"id": level_id, "seed": derive_seed(self._seed, split, number)}
                task = Task(f"{split}-{number:04d}", GOAL, kinds[level_id].family, data)
                number += 1
                if number > first and (looks := _looks(task)) not in taken:
                    taken.add(looks)
                    yield task

    def world(self, task: Task, seed: int) -> BabaWorld:
        """The level of a task. Nothing in it is left to chance, so the seed plays no part."""
        return BabaWorld(_level(task.data["id"], task.data["seed"]), self._parity)

    def invariants(self) -> tuple[str, ...]:
        return (
            f"an episode has at most {MAX_STEPS} actions",
            "the five actions are always admissible",
            "a level in which nothing is YOU is lost and ends the episode",
            "reward is 1 for a win and 0 otherwise",
        )

    def oracle(self, task: Task) -> str:
        """A shortest solution; nothing where none exists within the steps of an episode."""
        actions = _solution(task.data["id"], task.data["seed"])
        return "\n".join(f"{n}. {action}" for n, action in enumerate(actions, 1))


def _looks(task: Task) -> str:
    """A level as it is seen at the start, things named by the order in which they are told."""
    names: dict[str, str] = {}
    text = describe(Game(_level(task.data["id"], task.data["seed"])))
    return _THING.sub(lambda found: names.setdefault(found[0], f"thing {len(names)}"), text)


@lru_cache(maxsize=4096)
def _level(level_id: str, seed: int) -> Level:
    return levels.draw_level(level_id, seed)


@lru_cache(maxsize=4096)
def _solution(level_id: str, seed: int) -> tuple[str, ...]:
    return solve(_level(level_id, seed), MAX_STEPS).actions

"""Where the tasks of a split come from: own games, or a folder of official ones."""

import random
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.types import SPLITS, Task
from metamem.domains.base import Sizes
from metamem.domains.textworld.generate import games
from metamem.domains.textworld.recipes import GENERATOR_VERSION, SIZES, recipes
from metamem.domains.textworld.sheet import Sheet, read_sheet

TASKS_VERSION = 2  # how tasks are made of games
AWAY = ("both", "houses", "games")
OFFICIAL_FOLDERS = ("coin_collector", "the_cooking_game", "treasure_hunter")
_HELD_OUT = "coin_collector"  # the official family that only the shifted split has


@dataclass(frozen=True)
class GeneratedTasks:
    """Own games. A task is a game and a room to start in; home splits share their houses.

    The houses of shift are in no other split. `away` says how its tasks differ else: `houses`, not
    at all; `games`, they are of other families; `both`, half of them of each sort.
    """

    size: str
    houses: int
    shift_houses: int
    sizes: Sizes
    seed: int
    away: str = "both"

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise UsageError(f"no size called {self.size!r}", hint=f"known: {', '.join(SIZES)}")
        if self.away not in AWAY:
            raise UsageError(f"no shift called {self.away!r}", hint=f"known: {', '.join(AWAY)}")
        if self.houses < 1 or self.shift_houses < 1:
            raise UsageError("at least one house is needed, at home and for shift")

    @property
    def version(self) -> str:
        digest = content_id(
            GENERATOR_VERSION,
            TASKS_VERSION,
            version("textworld"),
            self.away,
            self.size,
            self.houses,
            self.shift_houses,
            self.sizes.as_list(),
            self.seed,
        )
        return f"generated-{GENERATOR_VERSION}.{TASKS_VERSION}-{digest[:16]}"

    def describe(self) -> str:
        shift = {
            "houses": "games of the same families in",
            "games": "games of other families in",
            "both": "games of the same families, and of others, each in",
        }[self.away]
        return (
            f"own games ({self.size}): train, valid and test share their {self.houses} houses and"
            f" differ in where the agent starts; shift has {shift} {self.shift_houses} houses that no"
            " other split has"
        )

    def tasks(self, split: str) -> list[Task]:
        return self._splits[split]

    @cached_property
    def _splits(self) -> dict[str, list[Task]]:
        unseen = {"both": self.sizes.shift // 2, "houses": self.sizes.shift, "games": 0}[self.away]
        counts = {"unseen": unseen, "away": self.sizes.shift - unseen}
        houses = {place: self.shift_houses if count else 0 for place, count in counts.items()}
        ordered = {
            "home": recipes(self.size, self.seed, shift=False, houses=self.houses),
            "unseen": recipes(
                self.size, self.seed, shift=False, houses=houses["unseen"], unseen=True
            ),
            "away": recipes(self.size, self.seed, shift=True, houses=houses["away"]),
        }
        made = iter(games([recipe for own in ordered.values() for recipe in own]))
        pools = {
            place: self._starts([next(made) for _ in own], place) for place, own in ordered.items()
        }
        splits: dict[str, list[Task]] = {
            split: _taken(pools["home"], self.sizes.of(split), split)
            for split in SPLITS
            if split != "shift"
        }
        splits["shift"] = [
            task for place, count in counts.items() for task in _taken(pools[place], count, "shift")
        ]
        return {
            split: [replace(task, id=f"{split}-{n:03d}") for n, task in enumerate(own)]
            for split, own in splits.items()
        }

    def _starts(self, paths: list[Path], where: str) -> list[Task]:
        """Every start of every house in rounds: each split visits all the houses it can."""
        rounds: list[list[Task]] = []
        for number, path in enumerate(paths):
            sheet = read_sheet(path.with_suffix(".json"))
            # Large games have locked doors, which a walk cannot pass: they have one start.
            starts = sheet.starts if self.size == "small" else [sheet.start]
            random.Random(derive_seed("starts", self.seed, where, number)).shuffle(starts)
            for turn, start in enumerate(starts):
                if turn == len(rounds):
                    rounds.append([])
                task = _task(path, sheet, start)
                kind = f"{task.kind} in an unseen house" if where == "unseen" else task.kind
                rounds[turn].append(replace(task, kind=kind))
        # In every round the houses come in another order: a place in a split tells no house.
        for turn, tasks in enumerate(rounds):
            random.Random(derive_seed("order", self.seed, where, turn)).shuffle(tasks)
        return [task for turn in rounds for task in turn]


@dataclass(frozen=True)
class OfficialTasks:
    """The games of BALROG, in a folder with one folder for each family."""

    folder: Path
    sizes: Sizes
    seed: int

    def __post_init__(self) -> None:
        if not any((self.folder / name).is_dir() for name in OFFICIAL_FOLDERS):
            raise UsageError(
                f"no TextWorld games at {self.folder}",
                hint=f"it should hold the folders {', '.join(OFFICIAL_FOLDERS)}",
            )

    @property
    def version(self) -> str:
        listed = [[p.name, content_id(p.read_bytes().hex())] for _, p in self._all()]
        digest = content_id(version("textworld"), listed, self.sizes.as_list(), self.seed)
        return f"official-{digest[:16]}"

    def describe(self) -> str:
        return "official games, each from its own start; coin collector is kept for shift"

    def tasks(self, split: str) -> list[Task]:
        return self._splits[split]

    @cached_property
    def _splits(self) -> dict[str, list[Task]]:
        """Families take turns; train, valid and test go on where the last one stopped."""
        found = self._all()
        home = _in_turns([p for f, p in found if f != _HELD_OUT], self.seed)
        away = _in_turns([p for f, p in found if f == _HELD_OUT], self.seed)
        splits: dict[str, list[Task]] = {}
        for split in SPLITS:
            pool, count = away if split == "shift" else home, self.sizes.of(split)
            splits[split] = []
            for path in pool[:count]:
                sheet = read_sheet(path.with_suffix(".json"))
                task = _task(path, sheet, sheet.start)
                name = f"{split}-{content_id(path.name)[:12]}"
                splits[split].append(Task(name, task.goal, task.kind, task.data))
            del pool[:count]
            if not splits[split]:
                raise UsageError(
                    f"{self.folder} has no games left for {split}",
                    hint="ask for fewer in the splits before it",
                )
        return splits

    def _all(self) -> list[tuple[str, Path]]:
        paths = [
            (family, path)
            for family in OFFICIAL_FOLDERS
            for path in sorted((self.folder / family).glob("*.z8"))
        ]
        if not paths:
            raise DataError(f"{self.folder} has no games (*/*.z8)")
        return paths


def _in_turns(paths: list[Path], seed: int) -> list[Path]:
    families: dict[str, list[Path]] = {}
    for path in paths:
        families.setdefault(path.parent.name, []).append(path)
    for family, own in families.items():
        random.Random(derive_seed("textworld split", seed, family)).shuffle(own)
    longest = max(map(len, families.values()), default=0)
    return [own[n] for n in range(longest) for own in families.values() if n < len(own)]


def _taken(pool: list[Task], count: int, split: str) -> list[Task]:
    """The first so many, which are then in the pool no more."""
    if len(pool) < count:
        raise UsageError(
            f"the houses have no {count} tasks left for {split}",
            hint="ask for fewer tasks or for more houses",
        )
    taken = pool[:count]
    del pool[:count]
    return taken


def _task(path: Path, sheet: Sheet, start: str) -> Task:
    data = {
        "path": str(path),
        "walk": sheet.walk(start) if start != sheet.start else [],
        "plan": sheet.plan(start),
        "title": sheet.title,
    }
    return Task("", sheet.goal, sheet.family, data)


Source = GeneratedTasks | OfficialTasks

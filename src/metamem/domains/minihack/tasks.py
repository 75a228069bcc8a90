"""Which games there are, what each asks for, and which levels go into which split.

The games are those of the paper on learned memory designs: all of MiniHack but the custom, multi-room
and crossing ones. Its games of another distribution (corridors, quests, Boxoban) are the shift.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from metamem.core.ids import derive_seed
from metamem.core.types import Task

_STAIRS = "reach the staircase down"


@dataclass(frozen=True, slots=True)
class Family:
    """Games that ask for the same."""

    kind: str
    goal: str
    names: tuple[str, ...]  # whose levels vary with the seed
    few: tuple[str, ...] = ()  # with a handful of levels, or one, whatever the seed


def _named(prefix: str, suffixes: str, version: int = 0) -> tuple[str, ...]:
    """`_` stands for no suffix."""
    return tuple(
        f"MiniHack-{prefix}{'' if suffix == '_' else '-' + suffix}-v{version}"
        for suffix in suffixes.split()
    )


def _skill(prefix: str) -> dict[str, tuple[str, ...]]:
    return {"names": _named(prefix, "_ Distr"), "few": _named(prefix, "Fixed")}


FAMILIES = (
    Family(
        "room",
        f"Cross the room and {_STAIRS}.",
        _named(
            "Room",
            "Random-5x5 Random-15x15 Dark-5x5 Dark-15x15 Monster-5x5 Monster-15x15 Trap-5x5"
            " Trap-15x15 Ultimate-5x5 Ultimate-15x15",
        ),
        _named("Room", "5x5 15x15"),
    ),
    Family(
        "maze",
        f"Find the way through the maze and {_STAIRS}.",
        _named("MazeWalk", "9x9 15x15 45x19 Mapped-9x9 Mapped-15x15 Mapped-45x19"),
        _named("Labyrinth", "Small Big"),
    ),
    Family(
        "apple maze",
        f"Explore the maze, eat the apples in it and {_STAIRS}.",
        _named("ExploreMaze", "Easy Hard Easy-Mapped Hard-Mapped"),
    ),
    Family(
        "river",
        f"Push boulders to make a crossing and {_STAIRS}.",
        _named("River", "_ Narrow Monster Lava MonsterLava"),
    ),
    Family(
        "hide and seek",
        f"Keep away from the monster among trees and clouds and {_STAIRS}.",
        _named("HideNSeek", "_ Mapped Lava Big"),
    ),
    Family(
        "key room",
        f"Find the key, unlock the door of the small room and {_STAIRS}.",
        _named("KeyRoom", "S5 S15 Dark-S5 Dark-S15 Fixed-S5"),
    ),
    Family(
        "memento",
        "Look at what stands at the start, walk to the fork and find the grid bug to kill.",
        (),
        _named("Memento", "Short-F2 F2 F4"),
    ),
    Family(
        "sokoban",
        "Push boulders into all the pits and reach the stairs.",
        (),
        tuple(
            f"MiniHack-Sokoban{level}-v1"
            for level in ["1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b"]
        ),
    ),
    Family("eat", "Eat the apple.", **_skill("Eat")),
    Family("wield", "Wield the dagger.", **_skill("Wield")),
    Family("wear", "Wear the robe.", **_skill("Wear")),
    Family("put on", "Put on the amulet.", **_skill("PutOn")),
    Family("zap", "Zap the wand.", **_skill("Zap")),
    Family("read", "Read the scroll.", **_skill("Read")),
    Family("pray", "Pray at the altar.", **_skill("Pray")),
    Family("sink", "Drink from the sink.", **_skill("Sink")),
    Family("closed door", f"Open the door and {_STAIRS}.", _named("ClosedDoor", "_")),
    Family(
        "locked door",
        f"Get past the locked door and {_STAIRS}.",
        _named("LockedDoor", "_"),
        _named("LockedDoor", "Fixed"),
    ),
    Family(
        "freeze",
        "Find what makes cold and use it.",
        _named(
            "Freeze",
            "Wand-Full Wand-Restricted Horn-Full Horn-Restricted Random-Full Random-Restricted",
        ),
    ),
    Family(
        "freeze lava",
        f"Freeze a way to the other side and {_STAIRS}.",
        _named("Freeze-Lava", "Full Restricted"),
    ),
    Family(
        "levitate",
        "Find what makes you levitate and float in the air.",
        _named(
            "Levitate",
            "Boots-Full Boots-Restricted Ring-Full Ring-Restricted Potion-Full Potion-Restricted"
            " Random-Full",
        ),
        _named("Levitate", "Boots-Fixed Ring-Fixed Potion-Fixed"),
    ),
    Family(
        "cross lava",
        f"Get to the other side and {_STAIRS}.",
        _named(
            "LavaCross",
            "Full Restricted Levitate-Full Levitate-Restricted Levitate-Potion-Inv-Full"
            " Levitate-Potion-Inv-Restricted Levitate-Potion-Pickup-Full"
            " Levitate-Potion-Pickup-Restricted Levitate-Ring-Inv-Full"
            " Levitate-Ring-Inv-Restricted Levitate-Ring-Pickup-Full"
            " Levitate-Ring-Pickup-Restricted",
        ),
    ),
    Family(
        "minotaur",
        "Kill the minotaur with the wand.",
        (),
        _named("WoD-Easy", "Full Restricted"),
    ),
    Family(
        "past the minotaur",
        f"Get past the minotaur and {_STAIRS}.",
        _named("WoD-Hard", "Full Restricted") + _named("WoD-Pro", "Full Restricted"),
        _named("WoD-Medium", "Full Restricted"),
    ),
)
SHIFTED = (
    Family(
        "corridor",
        f"Explore the rooms and corridors and {_STAIRS}.",
        _named("Corridor", "R2 R3 R5"),
    ),
    Family(
        "battle",
        f"Fight the monsters in the corridor and {_STAIRS}.",
        _named("CorridorBattle", "_ Dark"),
    ),
    Family(
        "quest",
        f"Get to the other side, fight what attacks you and {_STAIRS}.",
        _named("Quest", "Easy Medium Hard"),
    ),
)
BOXOBAN = "Push every boulder onto a fountain."
BOXOBAN_SETS = {
    "MiniHack-Boxoban-Hard-v0": "hard",
    "MiniHack-Boxoban-Medium-v0": "medium/train",
    "MiniHack-Boxoban-Unfiltered-v0": "unfiltered/train",
}


def home_tasks(split: str, size: int, seed: int) -> list[Task]:
    """Levels of the home families. Those of which there are few are for training alone.

    Every level of the others is a fresh draw, so that no split ever shows another's.
    """
    tasks = []
    if split == "train":
        tasks = [_task(family, name, split, 0, seed) for family, name in _each(FAMILIES, few=True)]
        _rng(seed, split, "few").shuffle(tasks)
    varied = list(_each(FAMILIES, few=False))
    _rng(seed, split, "varied").shuffle(varied)
    few = tasks[: size // 4]
    drawn = [
        _task(*varied[number % len(varied)], split, number // len(varied), seed)
        for number in range(size - len(few))
    ]
    together = [*few, *drawn]
    _rng(seed, split, "order").shuffle(together)
    return together


def further_tasks(first: int, size: int, seed: int) -> list[Task]:
    """Fresh levels of the varied games beyond the `first` that train has of them."""
    varied = list(_each(FAMILIES, few=False))
    _rng(seed, "train", "varied").shuffle(varied)
    numbers = range(first, first + size)
    return [_task(*varied[n % len(varied)], "train", n // len(varied), seed) for n in numbers]


def shifted_tasks(size: int, seed: int) -> list[Task]:
    names = list(_each(SHIFTED, few=False))
    return [
        _task(*names[number % len(names)], "shift", number // len(names), seed)
        for number in range(size)
    ]


def _each(families: tuple[Family, ...], *, few: bool) -> Iterator[tuple[Family, str]]:
    for family in families:
        for name in family.few if few else family.names:
            yield family, name


def _rng(seed: int, split: str, use: str) -> random.Random:
    return random.Random(derive_seed("minihack", seed, split, use))


def _task(family: Family, name: str, split: str, number: int, seed: int) -> Task:
    level = derive_seed("minihack level", seed, split, name, number) % 2**31
    identity = f"{split}-{derive_seed(name, level) % 16**10:010x}"
    return Task(identity, family.goal, family.kind, {"name": name, "seed": level})

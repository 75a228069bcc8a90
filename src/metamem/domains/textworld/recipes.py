"""Which games are made: a recipe names one game exactly, whatever machine makes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed

GENERATOR_VERSION = 1

Families = Mapping[str, list[dict[str, Any]]]

_SKILLS: dict[str, Any] = {"open": True, "cook": True, "cut": True, "drop": False}
_TREASURE: list[dict[str, Any]] = [{"level": level} for level in (14, 16, 18, 20)]  # ten rooms
_COOKING: list[dict[str, Any]] = [
    {**_SKILLS, "recipe": 1, "take": 1, "go": 6, "split": "train"},
    {**_SKILLS, "recipe": 2, "take": 2, "go": 6, "split": "train"},
    {**_SKILLS, "recipe": 2, "take": 2, "go": 9, "split": "train"},
]
_COINS: list[dict[str, Any]] = [
    {"level": level} for level in (106, 108, 110)
]  # twice as many rooms as the last digits
_MORE_COOKING = [{**_SKILLS, "recipe": 3, "take": 3, "go": 9, "split": "test"}]
_BALROG: Families = {
    "treasure_hunter": [{"level": 30}],
    "cooking": [{**_SKILLS, "recipe": 5, "take": 5, "go": 12, "split": "test"}],
    "coin_collector": [{"level": 220}],
}
_SMALL_HOME = {"treasure_hunter": _TREASURE, "cooking": _COOKING}
_SMALL_SHIFT = {"coin_collector": _COINS, "cooking": _MORE_COOKING}
_BALROG_HOME = {family: _BALROG[family] for family in ("treasure_hunter", "cooking")}
_BALROG_SHIFT = {"coin_collector": _BALROG["coin_collector"]}

# size: (settings by family at home, likewise where the search never was)
SIZES: Mapping[str, tuple[Families, Families]] = {
    "small": (_SMALL_HOME, _SMALL_SHIFT),
    "balrog": (_BALROG_HOME, _BALROG_SHIFT),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of one of TextWorld's own challenges, and luck."""

    family: str
    settings: Mapping[str, Any] = field(hash=False)
    seed: int
    length: int = 0  # of the walkthrough; 0: any

    def key(self, engine: str) -> str:
        """The content key under one version of the engine."""
        return content_id(
            GENERATOR_VERSION, engine, self.family, dict(self.settings), self.seed, self.length
        )


def recipes(
    size: str, seed: int, *, shift: bool, houses: int, unseen: bool = False
) -> list[Recipe]:
    """So many games of the home or shifted families, the families taking turns.

    Those that are `unseen` are made alike, with other luck: no house is among the others.
    """
    if size not in SIZES:
        raise UsageError(f"no size called {size!r}", hint=f"known: {', '.join(SIZES)}")
    families = SIZES[size][shift]
    place = "unseen" if unseen else shift
    names = list(families)
    made = []
    for number in range(houses):
        turn, family = number // len(names), names[number % len(names)]
        settings = families[family][turn % len(families[family])]
        luck = derive_seed("textworld", seed, size, place, family, turn)
        length = 20 if size == "balrog" and family == "treasure_hunter" else 0
        made.append(Recipe(family, settings, luck, length))
    return made

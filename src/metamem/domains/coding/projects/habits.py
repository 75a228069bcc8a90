"""The projects: their words, their modules, and the kinds of faults they are prone to."""

import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_OUT_OF = 10  # what the shares of habits are counted in


@dataclass(frozen=True, slots=True)
class Habits:
    project: str
    modules: tuple[str, ...]
    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    shares: Mapping[str, int]  # kind of fault → how many of ten
    seen: bool  # in train, valid and test; the others are shift's

    def kind(self, rng: random.Random, every: list[str]) -> str:
        """A kind of fault: the project's own most of the time, else any."""
        place = rng.randrange(_OUT_OF)
        for kind, share in self.shares.items():
            if place < share:
                return kind
            place -= share
        return rng.choice(every)


@cache
def projects() -> tuple[Habits, ...]:
    text = resources.files(__package__).joinpath("habits.toml").read_text("utf-8")
    return tuple(
        Habits(
            name,
            tuple(data["modules"]),
            tuple(data["nouns"]),
            tuple(data["verbs"]),
            data["habits"],
            group == "seen",
        )
        for group, members in tomllib.loads(text).items()
        for name, data in members.items()
    )

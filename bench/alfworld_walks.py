"""Ways to walk through an ALFWorld game that visit the odd corners of its rules."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from metamem.domains.alfworld.game import Game

INVALID = (
    "",
    "LOOK",
    "go  to cabinet 1",
    "go to nowhere 1",
    "put mug 1 in/on desk 1",
    "examine",
    "take everything",
    "open cabinet 99",
    "heat bed 1 with microwave 1",
)
_INVALID_SHARE = 0.12
_PROCESSING = ("heat", "cool", "clean", "slice")
_APPLIANCES = ("microwave", "fridge", "sinkbasin")

Weigh = Callable[[str], float]  # how much a walk wants a command


@dataclass(frozen=True)
class Walk:
    """A style of play. It sees the admissible commands and says the next command."""

    style: str
    steps: int


def commands(walk: Walk, game: Game, rng: random.Random) -> Iterator[str]:
    """Yields commands; send it the admissible list that followed each."""
    actions: tuple[str, ...] = ()
    if walk.style == "walkthrough":
        for command in game.walkthrough:
            actions = yield command
        weigh: Weigh = _undoing  # go on after the win, and undo it
    else:
        weigh = {
            "random": lambda _: 1.0,
            "process": _processing,
            "shuffle": _shuffling(game),
            "double": _doubling(game),
        }[walk.style]
        actions = yield "look"
    for _ in range(walk.steps):
        if rng.random() < _INVALID_SHARE:
            command = _invalid(game, rng)
        else:
            command = rng.choices(actions, [weigh(action) for action in actions])[0]
        actions = yield command


def _invalid(game: Game, rng: random.Random) -> str:
    """A command that is wrong in itself, or right only elsewhere (and perhaps here)."""
    thing, place = rng.choice(game.things).name, rng.choice(game.receptacles).name
    return rng.choice(
        (
            *INVALID,
            f"examine {thing}",
            f"open {place}",
            f"  go to {place} ",
            f"close {place}",
            f"take {thing} from {place}",
            f"move {thing} to {place}",
            f"use {thing}",
        )
    )


def _verb(action: str) -> str:
    return action.partition(" ")[0]


def _undoing(action: str) -> float:
    return {"take": 12.0, "move": 12.0, "look": 3.0, "go": 0.5}.get(_verb(action), 2.0)


def _processing(action: str) -> float:
    """Clean, heat, cool and slice in all orders, and examine in between."""
    verb = _verb(action)
    if verb in _PROCESSING:
        return 25.0
    if verb == "go":
        return 3.0 if any(name in action for name in (*_APPLIANCES, "countertop")) else 0.3
    return {"take": 10.0, "examine": 12.0, "move": 4.0, "open": 6.0}.get(verb, 0.5)


def _shuffling(game: Game) -> Weigh:
    """Move things between receptacles of one location, and look."""
    crowded = {
        f"go to {game.receptacles[index].name}"
        for indices in game.at_location.values()
        for index in indices
        if len(indices) > 1
    }

    def weigh(action: str) -> float:
        if _verb(action) == "go":
            return 2.0 if action in crowded else 0.1
        return {"take": 12.0, "move": 12.0, "look": 8.0, "open": 12.0}.get(_verb(action), 0.5)

    return weigh


def _doubling(game: Game) -> Weigh:
    """Take things that are in two receptacles at once, and see what the other one says."""
    places: dict[int, list[int]] = {}
    for thing, place in sorted(game.placed):
        places.setdefault(thing, []).append(place)
    doubled = {game.things[t].name: p for t, p in places.items() if len(p) > 1}
    theirs = {f"go to {game.receptacles[p].name}" for ps in doubled.values() for p in ps}

    def weigh(action: str) -> float:
        verb = _verb(action)
        if verb == "go":
            return 4.0 if action in theirs else 0.1
        if verb == "take":
            return 20.0 if any(f"take {name} from" in action for name in doubled) else 0.5
        return {"move": 8.0, "examine": 5.0, "look": 3.0}.get(verb, 1.0)

    return weigh

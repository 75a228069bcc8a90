"""Ways to walk through an ALFWorld game that visit the odd corners of its rules."""

import random
from collections.abc import Generator

from metamem.domains.alfworld.game import Game, Receptacle, Thing

STYLES = ("process", "shuffle", "double")
_INVALID_SHARE = 0.12
_APPLIANCES = {"microwave": "heat", "fridge": "cool", "sinkbasin": "clean"}
_WRONG = (
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


def commands(
    script: list[str], steps: int, game: Game, rng: random.Random
) -> Generator[str, tuple[str, ...], None]:
    """A script, then random steps, with wrong commands in between.

    Send it the admissible commands that followed each of its own.
    """
    actions = yield "look"
    for command in script:
        if rng.random() < _INVALID_SHARE:
            actions = yield _wrong(game, rng)
        actions = yield command
    for _ in range(steps):
        wrong = rng.random() < _INVALID_SHARE
        actions = yield _wrong(game, rng) if wrong else rng.choice(actions)


def script(style: str, game: Game, rng: random.Random) -> list[str]:
    """The commands of a directed walk; none where the game offers no occasion for it.

    They are written without looking at the rules, so some of them may do nothing.
    """
    return {"process": _process, "shuffle": _shuffle, "double": _double}[style](game, rng)


def undoing(game: Game) -> list[str]:
    """The walkthrough, and then its last move undone and done again where it was a move."""
    last = game.walkthrough[-1]
    back = last.replace("move ", "take ").replace(" to ", " from ")
    return [*game.walkthrough, "look", back, "inventory", last, "look"]


def _wrong(game: Game, rng: random.Random) -> str:
    """A command that is wrong in itself, or right only elsewhere (and perhaps here)."""
    thing, place = rng.choice(game.things).name, rng.choice(game.receptacles).name
    elsewhere = (
        f"examine {thing}",
        f"open {place}",
        f"  go to {place} ",
        f"close {place}",
        f"take {thing} from {place}",
        f"move {thing} to {place}",
        f"use {thing}",
    )
    return rng.choice((*_WRONG, *elsewhere))


def _placed(game: Game, rng: random.Random) -> list[tuple[Thing, Receptacle]]:
    """What can be picked up and where it is, in random order."""
    pairs = [
        (game.things[thing], game.receptacles[place])
        for thing, place in sorted(game.placed)
        if "pickupable" in game.things[thing].fixed
    ]
    rng.shuffle(pairs)
    return pairs


def _fetch(thing: Thing, place: Receptacle) -> list[str]:
    return [f"go to {place.name}", f"open {place.name}", f"take {thing.name} from {place.name}"]


def _process(game: Game, rng: random.Random) -> list[str]:
    """Slice, clean, heat and cool something in random order, examining it after each."""
    pairs = _placed(game, rng)
    plain = [p for p in pairs if "isreceptacleobject" not in p[0].fixed]
    changeable = [p for p in plain if {"sliceable", "heatable", "cleanable"} & p[0].fixed]
    appliances = [r for r in game.receptacles if r.type in _APPLIANCES]
    if not changeable or not appliances:
        return []
    changeable.sort(key=lambda pair: "sliceable" not in pair[0].fixed)
    thing, place = changeable[0]
    walk = []
    knives = [p for p in pairs if p[0].type in ("knife", "butterknife") and p[0] is not thing]
    if knives and rng.random() < 0.7:
        knife, holder = knives[0]
        walk += [*_fetch(knife, holder), f"examine {knife.name}", f"go to {place.name}"]
        walk += [f"slice {thing.name} with {knife.name}"]
        tables = [r for r in game.receptacles if (r.type, knife.type) in game.accepts]
        walk += [f"go to {tables[0].name}", f"open {tables[0].name}"]
        walk += [f"move {knife.name} to {tables[0].name}"]
    walk += [*_fetch(thing, place), f"examine {thing.name}"]
    for appliance in rng.choices(appliances, k=4):
        walk += [f"go to {appliance.name}"]
        walk += [f"{_APPLIANCES[appliance.type]} {thing.name} with {appliance.name}"]
        walk += [f"examine {thing.name}"]
    return walk


def _shuffle(game: Game, rng: random.Random) -> list[str]:
    """Move a thing between receptacles of one location, and look after each move."""
    crowded = [
        [game.receptacles[i] for i in group]
        for group in game.at_location.values()
        if len(group) > 1
    ]
    rng.shuffle(crowded)
    for group in crowded:
        for thing, place in _placed(game, rng):
            fitting = [r for r in group if (r.type, thing.type) in game.accepts]
            if len(fitting) < 2:
                continue
            walk = _fetch(thing, place)
            walk += [f"go to {group[0].name}", "look", *(f"open {r.name}" for r in fitting)]
            for receptacle in rng.choices(fitting, k=4):
                walk += [f"move {thing.name} to {receptacle.name}", "look"]
                walk += [f"take {thing.name} from {receptacle.name}"]
            return [*walk, "look", f"move {thing.name} to {fitting[-1].name}", "look"]
    return []


def _double(game: Game, rng: random.Random) -> list[str]:
    """Take a thing that is in two receptacles at once, and see what the other one says."""
    pairs = _placed(game, rng)
    for thing, first in pairs:
        for other, second in pairs:
            if other is thing and second is not first:
                there, back = _fetch(thing, first), _fetch(thing, second)
                seen = [f"examine {thing.name}", "look"]
                put = [f"move {thing.name} to {second.name}", f"examine {second.name}", "look"]
                return [*there, *seen, *back[:2], *put, back[2], *there, *back, *seen]
    return []

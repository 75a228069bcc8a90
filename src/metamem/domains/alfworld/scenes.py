"""Scenes of own games: a room with its receptacles, the same in every game set there."""

import random
from dataclasses import dataclass
from functools import lru_cache

from metamem.core.ids import derive_seed
from metamem.domains.alfworld.game import Receptacle
from metamem.domains.alfworld.homes import FLOOR, HABITS, HOME_ROOMS, UNUSUAL_ROOMS, Room
from metamem.domains.alfworld.naming import SEPARATOR, display_names
from metamem.domains.alfworld.tables import ACCEPTS

SCENES_PER_ROOM = {False: 25, True: 6}  # shifted or not
_OPENABLE = {"cabinet": 0.82, "drawer": 0.84, "safe": 0.85, "fridge": 1.0, "microwave": 1.0}
_STACKED = frozenset({"cabinet", "drawer", "shelf", "stoveburner"})  # may share one location
_SHARED = 0.15
_BASINS = {"sinkbasin": "sink", "bathtubbasin": "bathtub"}
_UNUSUAL_PLACE = 2  # weight of an accepting receptacle that no habit names


@dataclass(frozen=True, slots=True, eq=False)  # by identity: each is built once and cached
class Scene:
    room: Room
    shifted: bool
    receptacles: tuple[Receptacle, ...]  # in id order
    types: tuple[str, ...]  # of the receptacles, sorted, each once
    locations: tuple[str, ...]  # where receptacles stand
    start: str  # where the agent starts: no receptacle here


def rooms(shifted: bool) -> dict[str, Room]:
    return UNUSUAL_ROOMS if shifted else HOME_ROOMS


@lru_cache(maxsize=512)
def build_scene(seed: int, shifted: bool, room_name: str, number: int) -> Scene:
    rng = random.Random(derive_seed("alfworld scene", seed, shifted, room_name, number))
    room = rooms(shifted)[room_name]
    types = [
        kind
        for kind, chance, low, high in room.receptacle_counts()
        if rng.random() < chance
        for _ in range(rng.randint(low, high))
    ]
    spots = rng.sample(range(100, 1000), len(types) + 1)
    ids = []
    locations: list[str] = []
    for position, (kind, spot) in enumerate(zip(types, spots, strict=False)):
        # A basin is a part of its fixture, and its id says so: names depend on that.
        fixture = _BASINS.get(kind)
        ids.append(
            f"{fixture}{SEPARATOR}{spot}{SEPARATOR}{kind}"
            if fixture
            else f"{kind}{SEPARATOR}{spot}"
        )
        beside = position and types[position - 1] == kind and kind in _STACKED
        shared = beside and rng.random() < _SHARED
        locations.append(locations[-1] if shared else f"loc{SEPARATOR}{spot}")
    names = display_names(ids)
    receptacles = tuple(
        Receptacle(i, names[i], kind, location, rng.random() < _OPENABLE.get(kind, 0.0))
        for i, kind, location in sorted(zip(ids, types, locations, strict=True))
    )
    return Scene(
        room,
        shifted,
        receptacles,
        tuple(sorted(set(types))),
        tuple(sorted(set(locations))),
        f"loc{SEPARATOR}{spots[-1]}",
    )


@lru_cache(maxsize=4096)
def place_weights(
    thing: str, types: tuple[str, ...], shifted: bool
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Where a type of thing is found among these receptacle types, and how likely each is.

    At home it follows habit. In a shifted room, habit counts for half: the other half of the
    things stand anywhere they fit.
    """
    habit = HABITS[thing]
    accepting = [t for t in types if thing in ACCEPTS[t]]
    weights = {t: float(habit[t]) for t in (*types, FLOOR) if t in habit}
    for kind in accepting:
        weights.setdefault(kind, _UNUSUAL_PLACE)
    if not weights:
        return (FLOOR,), (1.0,)
    if shifted and accepting:
        total = sum(weights.values())
        for kind in accepting:
            weights[kind] += total / len(accepting)
    return tuple(weights), tuple(weights.values())

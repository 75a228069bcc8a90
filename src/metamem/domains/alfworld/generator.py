"""Own household games, by seed: a scene, its objects, a goal that can be reached, and the way."""

import random
import zlib
from dataclasses import dataclass, field
from functools import lru_cache

from metamem.core.ids import derive_seed
from metamem.domains.alfworld.game import CHANGING, Game, Receptacle, Thing
from metamem.domains.alfworld.goals import CLEAN, COOL, HEAT, LOOK, TWO, Goal
from metamem.domains.alfworld.homes import FLOOR, KIND_WEIGHTS, SINGLE
from metamem.domains.alfworld.naming import SEPARATOR, display_names
from metamem.domains.alfworld.scenes import (
    SCENES_PER_ROOM,
    Scene,
    build_scene,
    place_weights,
    rooms,
)
from metamem.domains.alfworld.tables import (
    ACCEPTED_PAIRS,
    ACCEPTS,
    AFFORDANCES,
    FIXTURES,
    fixed_facts,
)

GENERATOR_VERSION = 1  # part of every data version: raise it with any change of what comes out

# What is done to the object, and the type of receptacle it is done with.
PROCESSES = {
    CLEAN: ("clean", "cleanable", "sinkbasin"),
    COOL: ("cool", "coolable", "fridge"),
    HEAT: ("heat", "heatable", "microwave"),
}
LAMP = "desklamp"

# Oddities of the published games, about as frequent here as there.
_ALSO_ON_COUNTER = 0.12  # a thing in an appliance that also counts as on the counter top
_APPLIANCES = frozenset({"coffeemachine", "stoveburner", "sinkbasin", "toaster"})
_OTHER_LOCATION = 0.015  # a thing whose recorded location is not that of its receptacle
_STARTS_COOL = 0.1  # of what can be cooled and is in a fridge
_INNER = 0.02  # a thing that lies in a bowl, box, cup, mug, pan, plate or pot beside it


@dataclass
class _Draft:
    """A thing while its game is being made."""

    id: str
    type: str
    places: list[Receptacle] = field(default_factory=list)
    location: str = ""


def generate(seed: int, split: str, index: int, *, shifted: bool = False) -> Game:
    """The game with this number in a split. Shifted ones have other rooms, goals and places."""
    rng = random.Random(derive_seed("alfworld game", GENERATOR_VERSION, seed, split, index))
    scene, goal = _draw_task(rng, seed, shifted)
    drafts = _draw_things(rng, scene, goal)
    return _assemble(rng, scene, goal, drafts)


# --- the task -------------------------------------------------------------------------------


def _draw_task(rng: random.Random, seed: int, shifted: bool) -> tuple[Scene, Goal]:
    kinds = list(KIND_WEIGHTS)
    while True:  # a scene may offer no goal of the kind; most do
        kind = rng.choices(kinds, list(KIND_WEIGHTS.values()))[0]
        names = [name for name, room in rooms(shifted).items() if kind in room.kinds]
        weights = [rooms(shifted)[name].kinds[kind] for name in names]
        room = rng.choices(names, weights)[0]
        scene = build_scene(seed, shifted, room, rng.randrange(SCENES_PER_ROOM[shifted]))
        goals = _goals(scene, kind)
        if goals:
            # First the object, then the target, so that objects which fit in many places are
            # not asked for more often than others.
            thing = rng.choice(sorted({goal.object for goal in goals}))
            return scene, rng.choice([goal for goal in goals if goal.object == thing])


@lru_cache(maxsize=1024)
def _goals(scene: Scene, kind: str) -> tuple[Goal, ...]:
    """Goals of a kind that this scene can be given.

    Every fifth pair of object and target is kept for shifted games, which use only such pairs.
    """
    process = PROCESSES.get(kind)
    if process and process[2] not in scene.types:
        return ()
    objects = [
        thing
        for thing in _pool(scene)
        if thing not in FIXTURES and (not process or thing in AFFORDANCES[process[1]])
    ]
    if kind == LOOK:
        if not _can_stand(LAMP, scene, ""):
            return ()
        pairs = [(thing, LAMP) for thing in objects]
    else:
        pairs = [
            (thing, target)
            for thing in objects
            for target in scene.types
            if thing in ACCEPTS[target] and not (process and process[2] == target)
        ]
    return tuple(
        Goal(kind, thing, target)
        for thing, target in pairs
        if _can_stand(thing, scene, target)
        and not (kind == TWO and thing in SINGLE)
        and _kept_for_shift(kind, thing, target) == scene.shifted
    )


def _pool(scene: Scene) -> list[str]:
    room = scene.room
    return f"{room.always} {room.often} {room.rarely}".split()


def _can_stand(thing: str, scene: Scene, target: str) -> bool:
    """Whether the thing can start in some receptacle that is not the target."""
    places, _ = place_weights(thing, scene.types, scene.shifted)
    return any(place not in (FLOOR, target) for place in places)


def _kept_for_shift(kind: str, thing: str, target: str) -> bool:
    return zlib.crc32(f"{kind} {thing} {target}".encode()) % 5 == 0


# --- the things -----------------------------------------------------------------------------


def _draw_things(rng: random.Random, scene: Scene, goal: Goal) -> list[_Draft]:
    room = scene.room
    needed = {goal.object: 2 if goal.kind == TWO else 1}
    if goal.kind == LOOK:
        needed[LAMP] = 1
    types: list[str] = []
    for pool, chance in ((room.always, 1.0), (room.often, 0.5), (room.rarely, 0.12)):
        for thing in pool.split():
            present = rng.random() < chance
            count = 1 if thing in SINGLE else rng.choice((1, 2, 2, 3))
            types += [thing] * max(count if present else 0, needed.get(thing, 0))
    for fixture in room.fixtures.split():
        name, _, count_text = fixture.partition("*")
        types += [name] * int(count_text or 1)

    numbers = rng.sample(range(1000, 10000), len(types))
    drafts = [_Draft(f"{t}{SEPARATOR}{n}", t) for t, n in zip(types, numbers, strict=True)]
    by_type: dict[str, list[Receptacle]] = {}
    for receptacle in scene.receptacles:
        by_type.setdefault(receptacle.type, []).append(receptacle)
    hidden = {name.partition("*")[0] for name in room.fixtures.split()}
    for draft in drafts:
        if draft.type in hidden:
            draft.location = f"loc{SEPARATOR}{rng.randrange(1000, 10000)}"
            continue
        must_stand = needed.get(draft.type, 0) > 0
        needed[draft.type] = needed.get(draft.type, 0) - 1
        _stand(rng, scene, goal, draft, by_type, must_stand)
    return drafts


def _stand(
    rng: random.Random,
    scene: Scene,
    goal: Goal,
    draft: _Draft,
    by_type: dict[str, list[Receptacle]],
    must_stand: bool,
) -> None:
    """Give a thing its place. What the goal asks for never starts where it should end."""
    places, weights = place_weights(draft.type, scene.types, scene.shifted)
    barred = {goal.target} if draft.type == goal.object else set()
    if must_stand:
        barred.add(FLOOR)
    if barred:
        weights = tuple(0.0 if p in barred else w for p, w in zip(places, weights, strict=True))
    place = rng.choices(places, weights)[0] if any(weights) else FLOOR
    if place == FLOOR:
        draft.location = rng.choice((*scene.locations, f"loc{SEPARATOR}{draft.id[-4:]}"))
        return
    draft.places.append(rng.choice(by_type[place]))
    draft.location = draft.places[0].location
    if (
        place in _APPLIANCES
        and "countertop" in by_type
        and "countertop" not in barred
        and rng.random() < _ALSO_ON_COUNTER
    ):
        draft.places.append(rng.choice(by_type["countertop"]))
    if rng.random() < _OTHER_LOCATION:
        draft.location = rng.choice(scene.locations)


# --- the game -------------------------------------------------------------------------------


def _assemble(rng: random.Random, scene: Scene, goal: Goal, drafts: list[_Draft]) -> Game:
    drafts.sort(key=lambda draft: draft.id)
    names = display_names([d.id for d in drafts] + [r.id for r in scene.receptacles])
    things = tuple(Thing(d.id, names[d.id], d.type, fixed_facts(d.type)) for d in drafts)
    receptacles = tuple(
        Receptacle(r.id, names[r.id], r.type, r.location, r.openable) for r in scene.receptacles
    )
    position = {r.id: i for i, r in enumerate(receptacles)}
    placed = [(i, position[p.id]) for i, d in enumerate(drafts) for p in d.places]
    states: dict[str, frozenset[int]] = {fact: frozenset() for fact in CHANGING}
    states["iscool"] = frozenset(
        thing
        for thing, place in placed
        if receptacles[place].type == "fridge"
        and "coolable" in things[thing].fixed
        and not (goal.kind == COOL and things[thing].type == goal.object)
        and rng.random() < _STARTS_COOL
    )
    return Game(
        start=scene.start,
        receptacles=receptacles,
        things=things,
        placed=frozenset(placed),
        lying=frozenset((i, d.location) for i, d in enumerate(drafts)),
        inside=_draw_inside(rng, things, placed),
        accepts=ACCEPTED_PAIRS,
        opened=frozenset(),
        states=states,
        goal=goal,
        sentence=rng.choice(goal.sentences()),
        walkthrough=_walkthrough(goal, receptacles, things, placed),
    )


def _draw_inside(
    rng: random.Random, things: tuple[Thing, ...], placed: list[tuple[int, int]]
) -> frozenset[tuple[int, int]]:
    outer_at = {p: t for t, p in placed if "isreceptacleobject" in things[t].fixed}
    return frozenset(
        (inner, outer_at[place])
        for inner, place in placed
        if place in outer_at
        and "pickupable" in things[inner].fixed
        and "isreceptacleobject" not in things[inner].fixed
        and rng.random() < _INNER
    )


def _walkthrough(
    goal: Goal,
    receptacles: tuple[Receptacle, ...],
    things: tuple[Thing, ...],
    placed: list[tuple[int, int]],
) -> tuple[str, ...]:
    """A way to win, by one who knows where everything is."""
    commands: list[str] = []
    opened: set[str] = set()
    at = ""

    def reach(place: Receptacle, *, inside: bool) -> None:
        nonlocal at
        if place.location != at:
            commands.append(f"go to {place.name}")
            at = place.location
        if inside and place.openable and place.name not in opened:
            commands.append(f"open {place.name}")
            opened.add(place.name)

    def first(kind: str) -> Receptacle:
        return next(r for r in receptacles if r.type == kind)

    wanted: dict[int, Receptacle] = {}
    for thing, place in placed:
        if things[thing].type == goal.object:
            wanted.setdefault(thing, receptacles[place])
    for thing, source in list(wanted.items())[: 2 if goal.kind == TWO else 1]:
        name = things[thing].name
        reach(source, inside=True)
        commands.append(f"take {name} from {source.name}")
        if goal.kind == LOOK:
            lamp, stand = next((t, p) for t, p in placed if things[t].type == goal.target)
            reach(receptacles[stand], inside=False)
            commands.append(f"use {things[lamp].name}")
            break
        if goal.kind in PROCESSES:
            verb, _, appliance = PROCESSES[goal.kind]
            reach(first(appliance), inside=False)
            commands.append(f"{verb} {name} with {first(appliance).name}")
        target = first(goal.target)
        reach(target, inside=True)
        commands.append(f"move {name} to {target.name}")
    return tuple(commands)

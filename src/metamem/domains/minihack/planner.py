"""Privileged advice: a planner that sees the whole level plays it once and tells how it won.

What a task allows is fixed by its seed, luck included, so what won once wins again. The planner
knows one recipe for each kind of goal and tries it in several manners: aiming elsewhere, or standing
up to monsters, with other luck each time. Where all fail within the steps of an episode there is no
advice: this is what a planner reaches, and a perfect player may reach more.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from metamem.core.types import Observation
from metamem.domains.minihack.actions import OFFSETS
from metamem.domains.minihack.engine import Game
from metamem.domains.minihack.pushing import STRAIGHT, Yard, crossings, push_plan
from metamem.domains.minihack.terrain import LAVA, WATER, Ground, Place, in_line
from metamem.domains.minihack.world import MiniHackWorld

_STEPS = 100
_REACH = 6  # within which a wand surely hits
_STAIRS_DOWN, _ALTAR, _SINK, _FOUNTAIN = 24, 27, 30, 31  # symbols of the display
_STRIDE = 3  # steps straight on that are worth a run
_SEARCHES = 10  # of one place, for what may be hidden there
_ALONE = 100  # positions that are looked at for one boulder's way
_LIKELY = 6  # boulders and rows, the nearest to each other, that are thought through
_RETREAT = 8  # steps to a narrow place that are worth it
_ENDURED = 30  # steps that are spent waiting for monsters to come
_TOOLS = {  # what a thing's name says of how to use it
    "horn": "apply",
    "wand": "zap",
    "potion": "quaff",
    "ring": "put on",
    "amulet": "put on",
    "boots": "wear",
    "shoes": "wear",
    "robe": "wear",
    "scroll": "read",
    "dagger": "wield",
}
_FLOATING = ("potion", "ring", "boots", "shoes")


@dataclass(frozen=True, slots=True)
class Manner:
    """How a recipe is gone about."""

    aim: str = "east"  # where to point what could be pointed anywhere
    fights: bool = False  # turn on monsters that come near, in a narrow place if there are many
    waits: int = 0  # steps spent at the start: luck runs otherwise afterwards
    hurries: bool = False  # go several steps by one action, as far as that leads


class Over(Exception):
    """The episode has ended, or its steps are spent."""


PLAIN = Manner()
MANNERS = (
    *(Manner(aim) for aim in ("east", *(name for name in OFFSETS if name != "east"))),
    *(Manner(fights=True, waits=waits) for waits in range(8)),
    Manner(hurries=True),
    *(Manner(fights=True, waits=waits, hurries=True) for waits in range(4)),
)


class Planner:
    """Plays one level, knowing its ground."""

    def __init__(self, data: Mapping[str, Any], manner: Manner = PLAIN) -> None:
        self._data, self._manner = data, manner
        self._ground = Ground.of(Game(data, mapped=True).begin())
        self._world = MiniHackWorld(data)
        self._seen = self._world.reset()
        self._done: list[str] = []
        self._been: set[Place] = set()
        self._patience = _ENDURED
        self.aimed = False  # it had to choose a direction by luck
        self.met = False  # there were monsters
        self._look()

    def plan(self) -> list[str]:
        """The actions that won, or none."""
        with suppress(Over):
            for _ in range(self._manner.waits):
                self._wait()
            self._play(self._data["name"].split("-")[1])
        return self._done if self._seen.reward else []

    @property
    def late(self) -> bool:
        """Whether it ran out of steps."""
        return len(self._done) >= _STEPS

    # --- recipes ----------------------------------------------------------------------------

    def _play(self, game: str) -> None:
        if game == "Eat":
            self._reach("apple")
            self._use("eat", "")
        elif game in ("Pray", "Sink"):
            self._walk(self._ground.places(_ALTAR if game == "Pray" else _SINK))
            self._use("pray" if game == "Pray" else "quaff", "")
        elif game == "KeyRoom":
            self._fetch("key")
            self._unlock()
            self._descend()
        elif game == "WoD":
            self._fetch("wand")
            self._slay()
            self._descend()
        elif game == "Wield":
            self._fetch("dagger")
            self._use("wield", " dagger")
        elif game in ("Wear", "PutOn", "Zap", "Read", "Freeze", "Levitate"):
            self._handle()
            self._descend()
        elif game == "Boxoban":
            self._fill(self._ground.places(_FOUNTAIN))
        else:
            if game in ("LavaCross", "Quest"):
                self._handle()
            if game == "River":
                self._ford()
            self._descend()

    def _handle(self) -> None:
        """Get the first thing that a recipe knows, and use it where it serves."""
        held = self._item()
        if not held:
            for word in _TOOLS:
                if self._things(word) or word in self._world.here:
                    self._fetch(word)
                    break
            held = self._item()
        for word, command in _TOOLS.items():
            if word not in held:
                continue
            river = self._ground.places(LAVA)
            if command in ("zap", "apply") and river:
                self._face(river)
            self._use(command, word, in_line(self._at, river))
            self._ground.floating = word in _FLOATING
            return

    def _descend(self) -> None:
        stairs = self._ground.places(_STAIRS_DOWN)
        while stairs:
            # Where no way is in sight, what looks like rock may hide one.
            self._ground.doubting = False
            self._ground.doubting = not self._ground.way(self._at, lambda place: place in stairs)
            self._step_towards(lambda place: place in stairs)
        while True:  # no stairs here: look everywhere for what is to be killed
            if bugs := self._things("grid bug"):
                self._step_towards(lambda place: place in bugs)
            else:
                self._explore()

    def _ford(self) -> None:
        """Push boulders into the water, one behind the other, until a row of it can be crossed."""
        stairs = set(self._ground.places(_STAIRS_DOWN))
        while not self._ground.way(self._at, lambda place: place in stairs):
            water = self._ground.places(*WATER)
            piled = self._ground.piled()
            afloat = {(x, y) for x, y in piled if {(x, y - 1), (x, y + 1)} & {*water}}
            floor = self._ground.floor() - afloat
            pairs = [(b, row) for row in crossings(water, floor) for b in piled - afloat]
            pairs.sort(key=lambda pair: len(pair[1]) * _apart(pair[0], pair[1][0]))
            ways = []
            for boulder, row in pairs[:_LIKELY]:  # one at a time: the others lie where they are
                yard = Yard(floor - piled | {boulder}, frozenset(row[:1]), 1, OFFSETS, OFFSETS)
                left = _STEPS - len(self._done)
                way = push_plan(yard, frozenset({boulder}), self._at, left, _ALONE)
                if way:
                    ways.append((len(row) * len(way), way))
            if not ways:
                raise Over
            self._push(min(ways)[1])

    def _fill(self, goals: list[Place]) -> None:
        """Bring a boulder to every goal."""
        yard = Yard(self._ground.floor(), frozenset(goals), len(goals), STRAIGHT, STRAIGHT)
        self._push(push_plan(yard, self._ground.piled(), self._at, _STEPS))

    def _push(self, way: list[str]) -> None:
        for direction in way:
            dx, dy = OFFSETS[direction]
            wanted = (self._at[0] + dx, self._at[1] + dy)
            self._guard()
            self._act(direction)
            if self._at != wanted:  # something was in the way: think again
                return

    def _slay(self) -> None:
        """Find the monster, stand in line with it and use the wand on it until it falls."""
        while not self._things("minotaur corpse"):
            if direction := self._aimed(self._at):
                self._use("zap", "wand", direction)
            elif self._monsters():
                self._step_towards(lambda place: bool(self._aimed(place)))
            else:
                self._explore()

    def _aimed(self, place: Place) -> str:
        x, y = place
        near = [m for m in self._monsters() if max(abs(m[0] - x), abs(m[1] - y)) <= _REACH]
        return in_line(place, near)

    def _face(self, river: list[Place]) -> None:
        """Stand where the river lies straight ahead, on the row of the stairs if that can be."""
        rows = {y for _, y in self._ground.places(_STAIRS_DOWN)}
        wanted = {(x - 1, y) for x, y in river if not rows or y in rows}
        if self._at not in wanted:
            self._walk(self._open(wanted))

    def _unlock(self) -> None:
        sides = ((0, 1), (1, 0), (0, -1), (-1, 0))
        doors = self._ground.closed_doors()
        self._walk(self._open({(x + dx, y + dy) for x, y in doors for dx, dy in sides}))
        self._act("apply")

    # --- parts of recipes -------------------------------------------------------------------

    def _fetch(self, word: str) -> None:
        """Go where it is and take it; some games take what one walks over by themselves."""
        if not self._carried(word):
            self._reach(word)
            if not self._carried(word):
                self._act("pick up")

    def _reach(self, word: str) -> None:
        if word not in self._world.here:
            while not self._things(word):
                self._explore()
            self._walk(self._things(word))

    def _carried(self, word: str) -> bool:
        return any(word in name.split() for name in self._world.view.items.values())

    def _use(self, command: str, word: str, direction: str = "") -> None:
        """A command and the answers that it asks for."""
        self._act(command)
        while self._world.view.asking:
            options = self._seen.actions
            fitting = [name for name in options if word and word in name]
            self.aimed |= not direction and "direction" in self._world.view.messages[-1]
            likely = (*fitting, "yes", direction, self._manner.aim)
            self._act(next((name for name in likely if name in options), options[0]))

    def _open(self, places: set[Place]) -> list[Place]:
        return [place for place in sorted(places) if self._ground.cost(place) < float("inf")]

    def _walk(self, goals: list[Place]) -> None:
        wanted = set(goals)
        while self._at not in wanted:
            self._step_towards(lambda place: place in wanted)

    def _explore(self) -> None:
        self._step_towards(lambda place: place not in self._been)

    def _step_towards(self, is_goal: Callable[[Place], bool]) -> None:
        self._guard()
        way = self._ground.way(self._at, is_goal)
        if not way:
            raise Over
        direction = way[0]
        before = self._at
        dx, dy = OFFSETS[direction]
        if self._ground.is_rock((before[0] + dx, before[1] + dy)):
            self._search()
            return
        if self._manner.hurries and way[1:_STRIDE] == [direction] * (_STRIDE - 1):
            far = f"far {direction}"
            direction = far if far in self._seen.actions else direction
        if direction not in self._seen.actions:
            raise Over
        self._act(direction)
        if self._world.view.asking:
            self._act("yes" if "yes" in self._seen.actions else "cancel")
        locked = any("locked" in said for said in self._world.view.messages)
        if self._at == before and locked and "kick" in self._seen.actions:
            self._act("kick")
            self._act(direction)

    def _search(self) -> None:
        """Until something comes to light next to one."""
        around = list(map(self._beside, OFFSETS))
        rock = sum(map(self._ground.is_rock, around))
        for _ in range(_SEARCHES):
            self._act("search")
            if sum(map(self._ground.is_rock, around)) < rock:
                return
        self._ground.searched.update(filter(self._ground.is_rock, around))

    def _wait(self) -> None:
        """Let a step pass: by searching, or else by walking there and back."""
        if "search" in self._seen.actions:
            self._act("search")
            return
        free = [
            name
            for name, (dx, dy) in OFFSETS.items()
            if name in self._seen.actions
            and self._ground.cost((self._at[0] + dx, self._at[1] + dy)) == 1
        ]
        if not free:
            raise Over
        narrow = [n for n in free if self._ground.is_narrow(self._beside(n))]
        self._act((narrow or free)[len(self._done) % len(narrow or free)])

    def _beside(self, direction: str) -> Place:
        return self._at[0] + OFFSETS[direction][0], self._at[1] + OFFSETS[direction][1]

    def _guard(self) -> None:
        """Strike what stands next to one, before anything else; before many, from a narrow place."""
        while self._manner.fights and self._world.view.monsters:
            near = [d for d in OFFSETS if self._beside(d) in self._world.view.monsters]
            many = len(self._world.view.monsters) > 1
            if many and not self._ground.is_narrow(self._at) and self._patience > 0:
                way = self._ground.way(self._at, self._tenable)
                if way and len(way) <= _RETREAT and way[0] in self._seen.actions:
                    self._patience -= 1
                    self._act(way[0])
                    continue
            if near:
                self._strike(next((d for d in near if d in self._seen.actions), near[0]))
            elif many and self._patience > 0:
                self._patience -= 1
                self._wait()
            else:
                return

    def _tenable(self, place: Place) -> bool:
        return place not in self._world.view.monsters and self._ground.is_narrow(place)

    def _strike(self, direction: str) -> None:
        self._act(direction)
        if self._world.view.asking:
            self._act("yes" if "yes" in self._seen.actions else "cancel")

    def _act(self, action: str) -> None:
        if action not in self._seen.actions or len(self._done) >= _STEPS:
            raise Over
        self._seen = self._world.step(action)
        self._done.append(action)
        if self._seen.done:
            raise Over
        self._look()

    # --- what is known ----------------------------------------------------------------------

    @property
    def _at(self) -> Place:
        return self._world.view.x, self._world.view.y

    def _look(self) -> None:
        self._ground.learn(self._world.view)
        self.met |= bool(self._world.view.monsters)
        x, y = self._at  # what is next to one is seen even in the dark
        self._been.update((x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1))

    def _things(self, word: str) -> list[Place]:
        return [(x, y) for name, x, y in self._world.view.things if word in name]

    def _monsters(self) -> list[Place]:
        return [(x, y) for name, x, y in self._world.view.things if name == "minotaur"]

    def _item(self) -> str:
        """Something carried that a recipe can use and that nobody starts out with."""
        for name in self._world.view.items.values():
            if "mail" not in name and any(w in name.split() for w in _TOOLS if w != "dagger"):
                return name
        return ""


def _apart(one: Place, other: Place) -> int:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


def best_plan(data: Mapping[str, Any]) -> list[str]:
    """The first plan that wins, in another manner each time where it matters."""
    aimed = met = late = True
    for manner in MANNERS:
        if (
            (manner.aim != PLAIN.aim and not aimed)
            or (manner.fights and not met)
            or (manner.hurries and not late)
        ):
            continue
        planner = Planner(data, manner)
        if actions := planner.plan():
            return actions
        if manner == PLAIN:
            aimed, met, late = planner.aimed, planner.met, planner.late
    return []


class PlanWorld:
    """The plan as the first observation of a world, so that it is made in the child process."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def reset(self) -> Observation:
        actions = best_plan(self._data)
        return Observation("\n".join(f"{n}. {name}" for n, name in enumerate(actions, 1)))

    def step(self, action: str) -> Observation:
        raise NotImplementedError("a plan is only read")

    def close(self) -> None:
        """Nothing is held."""


def open_plan(data: Mapping[str, Any], seed: int) -> PlanWorld:
    return PlanWorld(data)

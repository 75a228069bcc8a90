"""Drawing one task: first what its goal needs, then where everything is."""

import random
from collections.abc import Sequence
from typing import Any

from bench.seventh.lore import (
    BOXES,
    CLOSED,
    CONTAINERS,
    CONTROLS,
    FACTS,
    HUB,
    INSTRUMENTS,
    MATERIALS,
    PARTS,
    STATIONS,
    TARGETS,
    TOOLS,
    Lore,
    kind_of,
)

ROOMS = 4  # beside the yard
USUAL_IN_SHIFT = 2  # of them, the other rooms being of kinds that no other split has
AT_HOME = 0.9  # how often a thing is where its kind usually is, if there is such a room
SEALED = 0.25  # of the closed containers
SHOWN_CONTROLS = 3  # of a station; one of them starts it
BYSTANDERS = 6  # things that the goal does not need
MORE_STATIONS, MORE_TOOLS, MORE_TARGETS = 0.3, 0.6, 0.4  # how often one is there unneeded
UNUSED = 2  # containers with nothing in them
RARE, RARE_IN_SHIFT = 0.05, 0.5  # how often the device to mend is one of the rare ones


class Draft:
    """One task being drawn."""

    def __init__(self, lore: Lore, rng: random.Random, shifted: bool) -> None:
        self.lore, self.rng, self.shifted = lore, rng, shifted
        weights = FACTS["weights"]["shift" if shifted else "usual"]
        self.kind: str = rng.choices(list(weights), list(weights.values()))[0]
        self.goal: dict[str, Any] = {"kind": self.kind, "things": []}
        getattr(self, f"_{self.kind}")()
        self._place()

    def sentence(self) -> str:
        goal = self.goal
        said = {"thing": goal.get("wanted") or goal["things"][0], **goal}
        return str(self.rng.choice(FACTS["goals"][self.kind]).format(**said))

    def data(self) -> dict[str, Any]:
        return {
            "goal": self.goal,
            "doors": self.doors,
            "stations": self.stations,
            "fixtures": self.fixtures,
            "containers": self.containers,
            "hooks": self.hooks,
        }

    # What each kind of goal needs.

    def _fetch(self) -> None:
        self.goal["things"] = [self.rng.choice(MATERIALS)]
        self.goal["wanted"] = self.goal["things"][0]
        self._target()

    def _work(self) -> None:
        pairs = sorted(self.lore.held_back) if self.shifted else self.lore.worked
        thing, station = self.rng.choice(pairs)
        wanted = f"{STATIONS[station]} {thing}"
        self.goal.update(things=[thing], station=station, wanted=wanted)
        self._target()

    def _make(self, ingredients: Sequence[int] = (1,)) -> None:
        able = [p for p, (_, *parts) in FACTS["recipes"].items() if len(parts) in ingredients]
        product = self.rng.choice(able)
        station, *things = FACTS["recipes"][product]
        self.goal.update(things=things, station=station, product=product, wanted=product)

    def _blend(self) -> None:
        self._make((2,))

    def _carry(self) -> None:
        self._make((1, 2))
        self._target()

    def _sort(self) -> None:
        self.goal["things"] = [thing := self.rng.choice(list(self.lore.box))]
        self.goal.update(instrument=self.lore.instrument_for(thing), box=self.lore.box[thing])

    def _mend(self) -> None:
        rare = self.rng.random() < (RARE_IN_SHIFT if self.shifted else RARE)
        device = self.rng.choice(FACTS["devices"]["rare" if rare else "common"])
        self.goal.update(
            things=[self.lore.part[device]], tool=self.lore.tool[device], device=device
        )

    def _target(self) -> None:
        self.goal["target"] = self.rng.choice(TARGETS)

    # Where everything is.

    def _place(self) -> None:
        rng, goal, names = self.rng, self.goal, FACTS["rooms"]
        usual = USUAL_IN_SHIFT if self.shifted else ROOMS
        self.rooms = rng.sample(names["usual"], usual)
        self.rooms += rng.sample(names["unusual"], ROOMS - usual)
        self.doors = [[HUB, room] for room in self.rooms]
        self.doors += [rng.sample(self.rooms, 2) for _ in range(2)]
        self.containers: dict[str, list[Any]] = {}  # name: room, sealed, things
        self._unnumbered = {k: rng.sample(range(1, 13), 12) for k in CONTAINERS}

        others = [t for t in (*MATERIALS, *PARTS) if t not in goal["things"]]
        for thing in [*goal["things"], *rng.sample(others, BYSTANDERS)]:
            kind = self.lore.container[thing] if rng.random() < AT_HOME else self._any_kind()
            self._put_away(thing, kind, self._home(thing))
        for _ in range(UNUSED):
            self._container(self._any_kind(), rng.choice(self.rooms))

        tools = [t for t in TOOLS if t in self._tools_needed() or rng.random() < MORE_TOOLS]
        self.hooks = {tool: self._home(tool) for tool in tools}
        stations = [s for s in STATIONS if s == goal.get("station") or rng.random() < MORE_STATIONS]
        self.stations = {s: [self._home(s), self._controls(s)] for s in stations}
        targets = [goal[k] for k in ("target", "device") if k in goal]
        targets += [t for t in TARGETS if t not in targets and rng.random() < MORE_TARGETS]
        self.fixtures = {name: self._home(name) for name in targets}
        if "box" in goal:
            others = [i for i in INSTRUMENTS if i != goal["instrument"]]
            instruments = sorted([goal["instrument"], rng.choice(others)])
            self.fixtures |= {name: self._home(name) for name in instruments}
            self.fixtures |= dict.fromkeys(BOXES, self._home("boxes"))

    def _any_kind(self) -> str:
        return self.rng.choice(CONTAINERS)

    def _home(self, name: str) -> str:
        room = self.lore.room[name]
        at_home = room in self.rooms and self.rng.random() < AT_HOME
        return room if at_home else self.rng.choice(self.rooms)

    def _put_away(self, thing: str, kind: str, room: str) -> None:
        fitting = [
            c for c, (at, *_) in self.containers.items() if at == room and kind_of(c) == kind
        ]
        name = (
            self.rng.choice(fitting)
            if fitting and self.rng.random() < 0.5
            else self._container(kind, room)
        )
        self.containers[name][2].append(thing)

    def _container(self, kind: str, room: str) -> str:
        """A new one; its number says nothing but which it is in this task."""
        name = f"{kind} {self._unnumbered[kind].pop()}"
        sealed = kind in CLOSED and self.rng.random() < SEALED
        self.containers[name] = [room, sealed, []]
        return name

    def _controls(self, station: str) -> list[str]:
        right = self.lore.control[station]
        others = [c for c in CONTROLS if c != right]
        return sorted([right, *self.rng.sample(others, SHOWN_CONTROLS - 1)])

    def _tools_needed(self) -> set[str]:
        needed = {self.goal["tool"]} if "tool" in self.goal else set()
        for name, (_, sealed, things) in self.containers.items():
            if sealed and set(things) & set(self.goal["things"]):
                needed.add(self.lore.opener[kind_of(name)])
        return needed

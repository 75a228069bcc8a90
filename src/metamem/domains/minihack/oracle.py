"""Privileged advice: a planner that sees the whole level plays it once and tells how it won.

What a task allows is fixed by its seed, luck included, so what won once wins again. The planner
knows one recipe for each kind of goal; where that fails within the steps of an episode there is no
advice, and the ceiling is lower there than what a perfect player could reach.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from metamem.core.types import Observation
from metamem.domains.minihack.actions import OFFSETS
from metamem.domains.minihack.engine import Game
from metamem.domains.minihack.terrain import Ground, Place, in_line
from metamem.domains.minihack.world import MiniHackWorld

_STEPS = 100
_REACH = 6  # within which a wand surely hits
_STAIRS_DOWN, _ALTAR, _SINK, _LAVA = 24, 27, 30, 34  # symbols of the display
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


class Over(Exception):
    """The episode has ended, or its steps are spent."""


class Planner:
    """Plays one level, knowing its ground."""

    def __init__(self, data: Mapping[str, Any], aim: str = "east") -> None:
        self._data, self._aim = data, aim
        self._ground = Ground.of(Game(data, mapped=True).begin())
        self._world = MiniHackWorld(data)
        self._seen = self._world.reset()
        self._done: list[str] = []
        self._been: set[Place] = set()
        self.aimed = False  # it had to choose a direction by luck
        self._look()

    def plan(self) -> list[str]:
        """The actions that won, or none."""
        with suppress(Over):
            self._play(self._data["name"].split("-")[1])
        return self._done if self._seen.reward else []

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
        else:
            if game in ("LavaCross", "Quest"):
                self._handle()
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
            river = self._ground.places(_LAVA)
            if command in ("zap", "apply") and river:
                self._face(river)
            self._use(command, word, in_line(self._at, river))
            self._ground.floating = word in _FLOATING
            return

    def _descend(self) -> None:
        stairs = self._ground.places(_STAIRS_DOWN)
        while stairs:
            self._walk(stairs)
        while True:  # no stairs here: look everywhere for what is to be killed
            if bugs := self._things("grid bug"):
                self._step_towards(lambda place: place in bugs)
            else:
                self._explore()

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
            likely = (*fitting, "yes", direction, self._aim)
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
        way = self._ground.way(self._at, is_goal)
        if not way:
            raise Over
        direction = way[0]
        before = self._at
        if direction not in self._seen.actions:
            raise Over
        self._act(direction)
        if self._world.view.asking:
            self._act("yes" if "yes" in self._seen.actions else "cancel")
        locked = any("locked" in said for said in self._world.view.messages)
        if self._at == before and locked and "kick" in self._seen.actions:
            self._act("kick")
            self._act(direction)

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


def best_plan(data: Mapping[str, Any]) -> list[str]:
    """The first plan that wins, aiming another way each time where it matters."""
    for aim in OFFSETS:
        planner = Planner(data, aim)
        if actions := planner.plan():
            return actions
        if not planner.aimed:
            return []
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

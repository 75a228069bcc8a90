"""The worlds that pushing leads to: what a model says of things, as a space that can be searched.

>>> class Pushes:
...     def chance(self, name, facts, outcome):
...         return float((name, outcome) in {("box", "push"), ("exit", "win")})
...
...     def facts_of(self, facts, things):
...         return facts
>>> seen = scenes.read("box 1 step to the right\\nexit 3 steps to the right")
>>> space = Space(Pushes(), seen, [("go", (1, 0))], ((0, 0), (3, 0)))
>>> space.moves(space.start)  # where one is then, in the world with the box moved, and how sure
[('go', ((1, 0), 1), 0.98)]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from metamem.designs.thinking import scenes
from metamem.designs.thinking.scenes import Cell, Scene

Things = frozenset[tuple[Cell, str]]
State = tuple[Cell, int]  # where one is, and the number of the world
_LIKELY = 0.3  # from here on it is taken to win, to kill, to be pushed
_FREE = 0.98  # how sure a step onto what stops nobody is
_FAR = 12.0  # steps to what wins, where nothing does
_WON: Cell = (10**6, 10**6)


class Model(Protocol):
    """What is known of things."""

    def chance(self, name: str, facts: frozenset[str], outcome: str) -> float:
        """How often things of this name did that while the facts held."""
        ...

    def facts_of(self, facts: frozenset[str], things: Things) -> frozenset[str]:
        """The facts after things have been pushed."""
        ...


@dataclass(frozen=True)
class Manner:
    """What each thing does while certain facts hold."""

    wins: frozenset[str]
    kills: frozenset[str]
    pushed: frozenset[str]
    stops: dict[str, float]


@dataclass(frozen=True)
class World:
    """What is where, and what that does."""

    number: int
    things: Things
    manner: Manner
    cells: dict[Cell, list[str]]
    goals: list[Cell]


class Space:
    """The worlds that pushing leads to. Each is made once: most states differ in where one is."""

    def __init__(
        self,
        model: Model,
        scene: Scene,
        vectors: Sequence[tuple[str, Cell]],
        box: tuple[Cell, Cell],
    ) -> None:
        """`vectors` says where actions move one; nothing goes beyond the box."""
        self.model, self.facts, self.drawn = model, scene.facts, scene.drawn
        (self.low_x, self.low_y), (self.high_x, self.high_y) = box
        self.vectors = vectors
        self.names = frozenset(name for _, name in scene.things)
        self.quoted = frozenset(name for name in self.names if scenes.quoted(name))
        self.worlds: list[World] = []
        self.numbers: dict[Things, int] = {}
        self.told: dict[Things, Manner] = {}  # by where quoted things are
        self.manners: dict[frozenset[str], Manner] = {}  # by facts
        self.start: State = (scene.at, self._world(scene.things).number)

    def _world(self, things: Things) -> World:
        """The world with these things."""
        number = self.numbers.get(things)
        if number is not None:
            return self.worlds[number]
        cells: dict[Cell, list[str]] = {}
        for cell, name in sorted(things):
            cells.setdefault(cell, []).append(name)
        return self._made(things, cells, self._manner(things))

    def moves(self, state: State) -> list[tuple[str, State, float]]:
        at, number = state
        world = self.worlds[number]
        found = []
        for action, way in self.vectors:
            target = (at[0] + way[0], at[1] + way[1])
            if not self._inside(target):
                continue
            if target not in world.cells:
                if not self.drawn:
                    found.append((action, (target, number), _FREE))
                continue
            then = self._after(world, target, way)
            if then is not None:
                found.append((action, *then))
        return found

    def won(self, state: State) -> bool:
        return state[0] == _WON

    def left(self, state: State) -> float:
        """How far the nearest of what wins is."""
        (x, y), number = state
        if state[0] == _WON:
            return 0.0
        goals = self.worlds[number].goals
        if self.drawn:
            return min((max(abs(a - x), abs(b - y)) for a, b in goals), default=_FAR)
        return min((abs(a - x) + abs(b - y) for a, b in goals), default=_FAR)

    def _after(self, world: World, target: Cell, way: Cell) -> tuple[State, float] | None:
        manner, names = world.manner, world.cells[target]
        if not manner.wins.isdisjoint(names):
            return (_WON, world.number), 0.95
        if not manner.kills.isdisjoint(names):
            return None
        moving: list[tuple[Cell, str]] = []
        cell, sure = target, _FREE
        while True:
            push = False
            for name in world.cells.get(cell, ()):
                if name in manner.pushed:
                    moving.append((cell, name))
                    push = True
                    continue
                stop = manner.stops[name]
                if stop >= 0.5:
                    return None
                if cell == target or not self.drawn:
                    sure *= 1 - stop
            if not push:
                break
            cell = (cell[0] + way[0], cell[1] + way[1])
            if not self._inside(cell):
                return None
        if not moving:
            return (target, world.number), sure
        return (target, self._pushed(world, moving, way)), sure

    def _pushed(self, world: World, moving: list[tuple[Cell, str]], way: Cell) -> int:
        """The world in which these things are one cell further."""
        moved = [((x + way[0], y + way[1]), name) for (x, y), name in moving]
        things = world.things.difference(moving).union(moved)
        number = self.numbers.get(things)
        if number is not None:
            return number
        cells = dict(world.cells)
        for cell, name in moving:
            cells[cell] = [other for other in cells[cell] if other != name]
        for cell, name in moved:
            cells[cell] = sorted([*cells.get(cell, ()), name])
        for cell, _ in moving:
            if not cells[cell]:
                del cells[cell]
        spelled = any(name in self.quoted for _, name in moving)
        return self._made(things, cells, self._manner(things) if spelled else world.manner).number

    def _made(self, things: Things, cells: dict[Cell, list[str]], manner: Manner) -> World:
        goals = [cell for cell, name in things if name in manner.wins]
        world = World(len(self.worlds), things, manner, cells, goals)
        self.numbers[things] = world.number
        self.worlds.append(world)
        return world

    def _manner(self, things: Things) -> Manner:
        spelling = frozenset(thing for thing in things if thing[1] in self.quoted)
        if spelling not in self.told:
            facts = self.model.facts_of(self.facts, spelling)
            if facts not in self.manners:
                self.manners[facts] = self._learned(facts)
            self.told[spelling] = self.manners[facts]
        return self.told[spelling]

    def _learned(self, facts: frozenset[str]) -> Manner:
        def likely(outcome: str) -> frozenset[str]:
            return frozenset(n for n in self.names if chance(n, facts, outcome) >= _LIKELY)

        chance = self.model.chance
        wins = likely("win")
        stops = {name: chance(name, facts, "block") for name in self.names}
        return Manner(wins, likely("death") - wins, likely("push"), stops)

    def _inside(self, cell: Cell) -> bool:
        x, y = cell
        return self.low_x <= x <= self.high_x and self.low_y <= y <= self.high_y

"""The ground of a level as the oracle sees it: where one can go, and the shortest way there."""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from nle import nethack
from numpy.typing import NDArray

from metamem.domains.minihack.actions import OFFSETS
from metamem.domains.minihack.engine import View

Place = tuple[int, int]
_STONE, _LAST_WALL, WATER, LAVA = 0, 11, (32, 41), 34
_LIQUIDS = (*WATER, LAVA)
_DOORS, _CLOSED = (13, 14, 15, 16), (15, 16)
_BARS, _TREE, _FIRST_TRAP, _LAST_TRAP = 17, 18, 42, 64
_BOULDER = ord("`")
_DANGER = 30.0  # what crossing a trap counts for, in steps
_HIDDEN = 12.0  # what finding a way through seeming rock counts for
_NARROW = 2  # a place with so many ways out can be held against many


@dataclass
class Ground:
    """Symbols of the display by place (row, column); -1 where something stands or lies on it."""

    symbols: NDArray[np.int32]
    boulders: NDArray[np.bool_]
    floating: bool = False
    doubting: bool = False  # rock may hide a door or a corridor, and a boulder may give way
    searched: set[Place] = field(default_factory=set)  # rock that hides nothing

    @staticmethod
    def of(view: View) -> "Ground":
        return Ground(_symbols(view), view.chars == _BOULDER)

    def learn(self, view: View) -> None:
        """What is in sight now counts for more than what was mapped."""
        now = _symbols(view)
        seen = now > _STONE
        # Traps that the map shows stay known, though they look like floor until found.
        hidden = (self.symbols >= _FIRST_TRAP) & (now < _FIRST_TRAP)
        self.symbols[seen & ~hidden] = now[seen & ~hidden]
        self.boulders = np.where(view.chars != ord(" "), view.chars == _BOULDER, self.boulders)

    def cost(self, place: Place) -> float:
        x, y = place
        symbol = int(self.symbols[y, x])
        rock = self.boulders[y, x] or 0 <= symbol <= _LAST_WALL
        if rock and self.doubting and place not in self.searched:
            return _HIDDEN
        if rock or symbol in (_BARS, _TREE):
            return float("inf")
        if symbol in _LIQUIDS and not self.floating:
            return float("inf")
        trapped = _FIRST_TRAP <= symbol <= _LAST_TRAP and not self.floating
        return 1.0 + _DANGER * trapped

    def floor(self) -> frozenset[Place]:
        """Where one could stand, boulders or not."""
        solid = (self.symbols >= _STONE) & (self.symbols <= _LAST_WALL)
        rows, columns = np.nonzero(~solid & ~np.isin(self.symbols, (*_LIQUIDS, _BARS, _TREE)))
        return frozenset((int(x), int(y)) for x, y in zip(columns, rows, strict=True))

    def piled(self) -> frozenset[Place]:
        rows, columns = np.nonzero(self.boulders)
        return frozenset((int(x), int(y)) for x, y in zip(columns, rows, strict=True))

    def is_narrow(self, place: Place) -> bool:
        x, y = place
        around = [(x + dx, y + dy) for dx, dy in OFFSETS.values()]
        rows, columns = self.symbols.shape
        inside = [(x, y) for x, y in around if 0 <= x < columns and 0 <= y < rows]
        return sum(self.cost(one) < float("inf") for one in inside) <= _NARROW

    def is_rock(self, place: Place) -> bool:
        return 0 <= int(self.symbols[place[1], place[0]]) <= _LAST_WALL

    def is_door(self, place: Place) -> bool:
        return int(self.symbols[place[1], place[0]]) in _DOORS

    def closed_doors(self) -> list[Place]:
        return self.places(*_CLOSED)

    def places(self, *symbols: int) -> list[Place]:
        rows, columns = np.nonzero(np.isin(self.symbols, symbols))
        return [(int(x), int(y)) for x, y in zip(columns, rows, strict=True)]

    def way(self, start: Place, is_goal: Callable[[Place], bool]) -> list[str]:
        """Directions of the cheapest way to a place that is wanted; empty if there is none."""
        rows, columns = self.symbols.shape
        best = {start: 0.0}
        came: dict[Place, tuple[Place, str]] = {}
        queue = [(0.0, 0, start)]
        order = 0
        while queue:
            spent, _, place = heapq.heappop(queue)
            if place != start and is_goal(place):
                return _back(came, place)
            if spent > best[place]:
                continue
            for direction, (dx, dy) in OFFSETS.items():
                x, y = after = (place[0] + dx, place[1] + dy)
                if not (0 <= x < columns and 0 <= y < rows):
                    continue
                if dx and dy and (self.is_door(place) or self.is_door(after)):
                    continue
                total = spent + self.cost(after)
                if total < best.get(after, float("inf")):
                    best[after], came[after] = total, (place, direction)
                    order += 1
                    heapq.heappush(queue, (total, order, after))
        return []


def in_line(start: Place, places: Iterable[Place]) -> str:
    """The direction in which one of the places lies straight ahead, the nearest first."""
    found = []
    for x, y in places:
        dx, dy = x - start[0], y - start[1]
        if (dx or dy) and (not dx or not dy or abs(dx) == abs(dy)):
            sign = ((dx > 0) - (dx < 0), (dy > 0) - (dy < 0))
            found.append((max(abs(dx), abs(dy)), sign))
    names = {offset: name for name, offset in OFFSETS.items()}
    return names[min(found)[1]] if found else ""


def _symbols(view: View) -> NDArray[np.int32]:
    glyphs = view.glyphs.astype(np.int32) - nethack.GLYPH_CMAP_OFF
    return np.where(
        (glyphs >= 0) & (glyphs < nethack.GLYPH_EXPLODE_OFF - nethack.GLYPH_CMAP_OFF), glyphs, -1
    )


def _back(came: dict[Place, tuple[Place, str]], place: Place) -> list[str]:
    steps = []
    while place in came:
        place, direction = came[place]
        steps.append(direction)
    return steps[::-1]

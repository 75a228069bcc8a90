"""Where a drawn map ends: the way to the nearest edge of what is known, where one has not been.

    >>> model, wall = GridModel(), "#####"
    >>> for before, act, after in [("#@..", "east", "#.@."), ("#.@.", "west", "#@.."),
    ...                            ("#@..", "west", "#@..")]:
    ...     model.learn_step(f"{wall}\\n{before}\\n{wall}", act, f"{wall}\\n{after}\\n{wall}")
    >>> here = ground(model, "#####\\n#@..\\n#####")
    >>> here.way(here.edges())
    ['east', 'east']
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence

from metamem.core.types import Step
from metamem.designs.thinking import scenes
from metamem.designs.thinking.grid import GridModel
from metamem.designs.thinking.scenes import Cell, Scene

_BESIDE: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
_LATEST = 60  # steps that are looked back at
_STOPS = 0.5  # how often a sign must have stopped or killed one before it is kept from
_KILLS = 0.25
_WINS = 0.3  # and won, before it is gone for
_DREAD = 30.0  # steps that going through what kills is worth avoiding
_ODD = 2  # a sign that a map shows no more often stands out


class Ground:
    """What a drawn map shows, and the ways from where one is."""

    def __init__(self, model: GridModel, now: Scene, been: set[Cell], dread: bool = True) -> None:
        self.been, self.at = been, now.at
        self.names = dict(now.things)
        known = {name: _known(model, name) for name in {*self.names.values()}}
        self.stops, self.kills, self.wins = (
            {name for name, told in known.items() if told[n]} for n in range(3)
        )
        self.came: dict[Cell, tuple[Cell, str]] = {}
        self.far: dict[Cell, float] = {now.at: 0.0}
        self._spread(model.vectors(), dread)

    def _spread(self, vectors: list[tuple[str, Cell]], dread: bool) -> None:
        heap = [(0.0, self.at)]
        while heap:
            far, here = heapq.heappop(heap)
            for action, (x, y) in vectors if far <= self.far[here] else ():
                there = (here[0] + x, here[1] + y)
                name = self.names.get(there, "")
                if not name or name in self.stops or (dread and name in self.kills):
                    continue
                further = far + (_DREAD if name in self.kills else 1.0)
                if further < self.far.get(there, 1e9):
                    self.far[there], self.came[there] = further, (here, action)
                    heapq.heappush(heap, (further, there))

    def way(self, cells: Iterable[tuple[float, Cell]]) -> list[str]:
        """The moves to the one that is best for how far it is; nothing where none can be reached."""
        reached = [(self.far[cell] - worth, cell) for worth, cell in cells if cell in self.came]
        told: list[str] = []
        cell = min(reached)[1] if reached else self.at
        while cell in self.came:
            cell, action = self.came[cell]
            told.append(action)
        return told[::-1]

    def edges(self) -> Iterable[tuple[float, Cell]]:
        """Cells beside what is not drawn, where one has not been."""
        for cell in self.far:
            fresh = [c for x, y in _BESIDE if (c := (cell[0] + x, cell[1] + y)) not in self.names]
            if cell not in self.been and set(fresh) - {self.at}:
                yield 0.5 * len(fresh), cell

    def odd(self) -> Iterable[tuple[float, Cell]]:
        """Cells with signs that are seldom drawn, where one has not been."""
        counts = Counter(self.names.values())
        for cell, name in self.names.items():
            if counts[name] <= _ODD and cell not in self.been:
                yield 0.0, cell

    def winning(self) -> Iterable[tuple[float, Cell]]:
        return ((0.0, cell) for cell, name in self.names.items() if name in self.wins)


def ground(
    model: GridModel,
    observation: str,
    first: str = "",
    steps: Sequence[Step] = (),
    *,
    dread: bool = True,
) -> Ground | None:
    """The map of now; `first` is what was seen before the steps of this episode."""
    now = scenes.read(observation, model.mark)
    if now is None or not now.drawn:
        return None
    been = walked(model, [first, *(step.observation for step in steps)], steps)
    return Ground(model, now, been, dread)


def _known(model: GridModel, name: str) -> tuple[bool, bool, bool]:
    stops, kills, wins = (
        model.chance(name, frozenset(), outcome) for outcome in ("block", "death", "win")
    )
    return stops >= _STOPS and wins < _WINS, kills >= _KILLS and wins < _WINS, wins >= _WINS


def walked(model: GridModel, seen: Sequence[str], steps: Sequence[Step]) -> set[Cell]:
    """The cells where one was, as the last drawing has them: maps grow to the left and upwards, too."""
    read = [scenes.read(text, model.mark) for text in seen[-_LATEST - 1 :]]
    done = steps[len(steps) - len(read) + 1 :]
    found: set[Cell] = set()
    dx = dy = 0
    after = read[-1] if read else None
    for before, step in zip(reversed(read[:-1]), reversed(done), strict=False):
        if before is None or after is None:
            break
        x, y = _moved_by(before, after, model.vector(step.action))
        dx, dy = dx + x, dy + y
        found.add((before.at[0] + dx, before.at[1] + dy))
        after = before
    return found


def _moved_by(before: Scene, after: Scene, vector: Cell | None) -> Cell:
    """How far the drawing itself moved between two sights: as most of what it shows did."""
    x, y = after.at[0] - before.at[0], after.at[1] - before.at[1]
    tried = [(0, 0), (x, y)] if vector is None else [(0, 0), (x - vector[0], y - vector[1]), (x, y)]
    return max(dict.fromkeys(tried), key=lambda by: _shared(before, after, by))


def _shared(before: Scene, after: Scene, by: Cell) -> int:
    if by == (0, 0):
        return len(before.things & after.things)
    return sum(((x + by[0], y + by[1]), name) in after.things for (x, y), name in before.things)

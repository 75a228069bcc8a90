"""Ways on a drawn map for one who is asked while acting: to what stands out, where one was not yet.

A search in which things are pushed is in `grid`; here only one moves, and where one was is known.

    >>> model, wall = GridModel(), "#####"
    >>> for before, act, after in [("#@..#", "east", "#.@.#"), ("#.@.#", "west", "#@..#"),
    ...                            ("#@..#", "west", "#@..#")]:
    ...     model.learn_step(f"{wall}\\n{before}\\n{wall}", act, f"{wall}\\n{after}\\n{wall}")
    >>> way_to_odd(model, "#######\\n#@...?#\\n#######")
    ['east', 'east', 'east', 'east']
"""

from collections import Counter, deque
from collections.abc import Sequence

from metamem.core.types import Step
from metamem.designs.thinking import scenes
from metamem.designs.thinking.grid import GridModel
from metamem.designs.thinking.scenes import Cell, Scene

_LATEST = 60  # steps that are looked back at
_STOPS = 0.5  # how often a sign must have stopped or killed one before it is kept from
_KILLS = 0.25
_ODD = 2  # a sign that a map shows no more often stands out


def way_to_odd(
    model: GridModel, observation: str, first: str = "", steps: Sequence[Step] = ()
) -> list[str]:
    """The moves to the nearest sign that is seldom drawn; nothing where there is no way to one.

    `first` is what was seen before the steps of this episode: where one was, one need not go.
    """
    now = scenes.read(observation, model.mark)
    if now is None or not now.drawn:
        return []
    been = walked(model, [first, *(step.observation for step in steps)], steps)
    counts = Counter(name for _, name in now.things)
    barred = {name for name in counts if _barred(model, name)}
    names = {cell: name for cell, name in now.things if name not in barred}
    came: dict[Cell, tuple[Cell, str]] = {now.at: (now.at, "")}
    queue, vectors = deque([now.at]), model.vectors()
    while queue:
        here = queue.popleft()
        if here in names and counts[names[here]] <= _ODD and here not in been:
            return _way(came, here)
        for action, (x, y) in vectors:
            there = (here[0] + x, here[1] + y)
            if there in names and there not in came:
                came[there] = (here, action)
                queue.append(there)
    return []


def _way(came: dict[Cell, tuple[Cell, str]], cell: Cell) -> list[str]:
    told: list[str] = []
    while came[cell][1]:
        cell, action = came[cell]
        told.append(action)
    return told[::-1]


def _barred(model: GridModel, name: str) -> bool:
    none = frozenset[str]()
    stops, kills = (model.chance(name, none, outcome) for outcome in ("block", "death"))
    return stops >= _STOPS or kills >= _KILLS


def walked(model: GridModel, seen: Sequence[str], steps: Sequence[Step]) -> set[Cell]:
    """The cells where one was, as the last drawing has them: maps grow to the left and upwards, too."""
    read = [scenes.read(text, model.mark) for text in seen[-_LATEST - 1 :]]
    done = steps[len(steps) - len(read) + 1 :]
    found: set[Cell] = set()
    dx = dy = 0
    after = read[-1] if read else None
    for before, step in zip(reversed(read[:-1]), reversed(done), strict=True):
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

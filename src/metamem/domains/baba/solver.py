"""Solutions by search over the engine, within a bound of effort.

Plain search is breadth-first and finds a shortest way. Guided search tries first what looks closest
to a win: its way may be longer, but it is found after dozens of positions instead of many thousands.
Either way a level is proven impossible only where every position within the steps was looked at.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

from metamem.domains.baba.engine import ACTIONS, CODES, OBJECTS, Game, Level, block

MOVES = ACTIONS[1:]
_DETOUR = 3  # steps that breaking a STOP rule takes beside the walk to it
_FAR = 99  # more than any level takes

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Solution:
    """`actions` win the level; where there are none, `proven` says that none can be had."""

    actions: tuple[str, ...] = ()
    proven: bool = True  # the search was not cut short by its bound
    states: int = 0


def solve(level: Level, steps: int, states: int = 5_000, *, guided: bool = True) -> Solution:
    """A way to win in at most `steps`, looking at no more than `states` positions."""
    start = Game(level)
    came: dict[Key, tuple[Key, str] | None] = {start.key: None}
    depth = {start.key: 0}
    queue = [(0, 0, 0, start)]
    count = 0
    while queue:
        game = heappop(queue)[-1]
        before = game.key
        taken = depth[before] + 1
        if taken > steps:
            continue
        for action in MOVES:
            after = game.copy()
            after.step(action)
            if after.won:
                return Solution((*_way(came, before), action), True, len(depth))
            key = after.key
            if after.lost or depth.get(key, _FAR) <= taken:
                continue
            depth[key], came[key] = taken, (before, action)
            count += 1
            if count >= states:
                return Solution((), False, len(depth))
            ahead = _estimate(after) if guided else 0
            # Among equals the deepest first; the count keeps games from being compared.
            heappush(queue, (taken + ahead, -taken, count, after))
    return Solution((), True, len(depth))


def _way(came: dict[Key, tuple[Key, str] | None], key: Key) -> tuple[str, ...]:
    actions = []
    while (step := came[key]) is not None:
        key, action = step
        actions.append(action)
    return tuple(reversed(actions))


def _estimate(game: Game) -> int:
    """How many steps a win may take: go to what is WIN, or first push a word that makes it so."""
    width = game.width
    yous = [place for name in game.names("you") for place in _places(game, name)]
    wins = [place for name in game.names("win") for place in _places(game, name)]
    extra = 0
    if game.names("stop"):
        extra = _DETOUR + _nearest(yous, _places(game, block("stop")), width)
    if wins:
        return extra + _nearest(yous, wins, width)
    best = _FAR
    for name in OBJECTS:
        things = _places(game, name)
        for word in _places(game, block(name)):
            for win in _places(game, block("win")):
                for slot in (win - 2, win - 2 * width):
                    there = _nearest(yous, [word], width) + _apart(word, slot, width)
                    best = min(best, there + _nearest([slot], things, width))
    return extra + best


def _places(game: Game, name: str) -> list[int]:
    return game.places([CODES[name]])


def _nearest(some: list[int], others: list[int], width: int) -> int:
    return min((_apart(one, other, width) for one in some for other in others), default=_FAR)


def _apart(one: int, other: int, width: int) -> int:
    return abs(one % width - other % width) + abs(one // width - other // width)

"""Shortest solutions, or the proof that there is none, by search over pushes.

Walking changes nothing that lasts, so with a single YOU a position is left only by pushing a block,
and the walk before each push is found on the way. What cannot be won any more within the steps is
dropped by an estimate that is never too high. So levels of a dozen blocks are searched whole within
thousands of positions instead of millions. Where walking does matter (several YOU, things that turn
into others), positions are left step by step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from metamem.domains.baba.engine import ACTIONS, CODES, OBJECTS, PROPERTIES, Game, Level, block

MOVES = ACTIONS[1:]
_BACK = {"up": "down", "right": "left", "down": "up", "left": "right"}
_FAR = 99  # more than any level takes
_BORDER, _IS = CODES["border"], CODES[block("is")]
_NAMES = tuple(CODES[block(name)] for name in OBJECTS)
_YOU, _WIN, _STOP = (CODES[block(name)] for name in PROPERTIES)
_BLOCKS = (*_NAMES, _YOU, _WIN, _STOP, _IS)
_GAINFUL = (_WIN, _YOU, *_NAMES)  # what ends a rule that may bring a win nearer
_NAMED = {CODES[block(name)]: CODES[name] for name in OBJECTS}

Key = tuple[object, ...]
Actions = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Solution:
    """`actions` win the level; where there are none, `proven` says that none can be had."""

    actions: Actions = ()
    proven: bool = True  # the search was not cut short by its bound
    states: int = 0


def solve(level: Level, steps: int, states: int = 100_000) -> Solution:
    """A shortest way to win in at most `steps`, leaving no more than `states` positions."""
    start = Game(level)
    if start.lost:
        return Solution()
    spent: dict[Key, int] = {start.key: 0}
    came: dict[Key, tuple[Key, Actions] | None] = {start.key: None}
    # (at least so long in all, how long so far, a count that keeps games from being compared, ...)
    queue: list[tuple[int, int, int, Game | None, Key, Actions]] = [(0, 0, 0, start, start.key, ())]
    count = left = 0
    while queue:
        _, minus, _, game, key, walk = heappop(queue)
        if game is None:
            return Solution((*_way(came, key), *walk), True, left)
        if -minus > spent[key]:
            continue  # reached sooner since
        if left >= states:
            return Solution((), False, left)
        left += 1
        for after, path in _left_by(game, steps + minus):
            total, count = len(path) - minus, count + 1
            if after is None or after.won:
                heappush(queue, (total, -total, count, None, key, path))
                continue
            reached = after.key
            if spent.get(reached, _FAR) <= total:
                continue
            spent[reached], came[reached] = total, (key, path)
            least = total + _ahead(after)
            if least <= steps:
                heappush(queue, (least, -total, count, after, reached, ()))
    return Solution((), True, left)


def _way(came: dict[Key, tuple[Key, Actions] | None], key: Key) -> Actions:
    parts = []
    while (step := came[key]) is not None:
        key, part = step
        parts.append(part)
    return tuple(action for part in reversed(parts) for action in part)


def _left_by(game: Game, steps: int) -> Iterator[tuple[Game | None, Actions]]:
    """Every way to leave a position for good, with its actions; no game where that wins."""
    yous, wins, stops = game.having("you"), game.having("win"), game.having("stop")
    places = game.places(yous)
    covered = {code for below in game.under.values() for code in below}
    if len(places) > 1 or yous & (wins | covered) or game.replaces:
        for action in MOVES if steps else ():
            after = game.copy()
            after.step(action)
            if not after.lost:
                yield after, (action,)
        return
    yield from _pushes(game, places[0], wins, stops, steps)


def _pushes(
    game: Game, you: int, wins: set[int], stops: set[int], steps: int
) -> Iterator[tuple[Game | None, Actions]]:
    """Walks from where YOU is, nearest first: onto a WIN, or up to a block that then moves."""
    ground = game.tops[:]
    ground[you] = (game.under.get(you) or b"\0")[-1]
    ahead = {"up": -game.width, "right": 1, "down": game.width, "left": -1}
    ways: dict[int, Actions] = {you: ()}
    queue = [you]
    for place in queue:
        way = ways[place]
        if len(way) >= steps:
            return
        for action, offset in ahead.items():
            target = place + offset
            top = ground[target]
            if top > _BORDER:
                beyond = target + offset
                while ground[beyond] > _BORDER:
                    beyond += offset
                if ground[beyond] == _BORDER or ground[beyond] in stops:
                    continue
                after = game.copy()
                after.carry(you, place)
                after.step(action)
                if not after.lost:
                    yield after, (*way, action)
            elif top != _BORDER and top not in stops and target not in ways:
                ways[target] = (*way, action)
                if top in wins:
                    yield None, ways[target]
                else:
                    queue.append(target)
                    if place == you and ground[you] in wins and len(way) + 2 <= steps:
                        yield None, (action, _BACK[action])  # it stands on it: off and on again


def _ahead(game: Game) -> int:
    """Steps that a win takes at least: to what is WIN, or to a block and until it makes a rule.

    A step changes how two blocks stand to each other by one cell at most, whatever it pushes.
    """
    width, wins = game.width, game.having("win")
    yous = game.places(game.having("you"))
    walk = _nearest(yous, game.places(_BLOCKS), width) - 1
    if not wins:
        return walk + _making(game, (_WIN,)) + 1
    hidden = [place for place, below in game.under.items() if wins.intersection(below)]
    least = _nearest(yous, game.places(wins), width)
    if hidden:  # where YOU stands on it, it must leave and come back
        least = min(least, _nearest(yous, hidden, width) or 2)
    if least > walk + 2:
        least = min(least, walk + _making(game, _GAINFUL) + 1)
    return least


def _making(game: Game, ends: tuple[int, ...]) -> int:
    """Steps until some rule that is not in force stands, at least; its blocks count, not the way."""
    width, tops = game.width, game.tops
    names, last = game.places(_NAMES), game.places(ends)
    best = _FAR
    for middle in game.places([_IS]):
        y, x = divmod(middle, width)
        for name in names:
            up, left = name // width - y, name % width - x
            across, down = abs(left + 1) + abs(up), abs(left) + abs(up + 1)
            if min(across, down) >= best:
                continue
            for end in last:
                if end == name or game.in_force(_NAMED[tops[name]], tops[end]):
                    continue
                below, right = end // width - y, end % width - x
                best = min(
                    best,
                    max(
                        across, abs(right - 1) + abs(below), abs(right - left - 2) + abs(below - up)
                    ),
                    max(down, abs(right) + abs(below - 1), abs(right - left) + abs(below - up - 2)),
                )
    return best


def _nearest(some: list[int], others: list[int], width: int) -> int:
    return min(
        (
            abs(one % width - other % width) + abs(one // width - other // width)
            for one in some
            for other in others
        ),
        default=_FAR,
    )

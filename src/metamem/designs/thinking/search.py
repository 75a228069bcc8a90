"""Bounded search: the likeliest short way to a goal over any model of what actions do.

There is no clock in the jail, so the bound is a number of nodes. About 2,000 nodes of a light
model are 20 ms of CPU time.

    >>> def moves(at):
    ...     yield "right", at + 1, 0.9
    ...     yield "double", at * 2, 1.0
    >>> search(1, moves, lambda at: at == 6).actions
    ('double', 'right', 'double')
"""

import heapq
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

State = TypeVar("State", bound=Hashable)

NODES = 2000
_DOUBT = 2.0  # how many steps a move is worth avoiding that comes true only once in e times


@dataclass(frozen=True, slots=True)
class Found:
    """A way, how sure it is that all of it comes true (0 to 1), and what finding it took."""

    actions: tuple[str, ...] = ()
    sure: float = 0.0
    nodes: int = 0
    complete: bool = False  # the whole space was looked through: without a way there is none
    reached: bool = False  # the goal; else the way is towards the best state that was seen

    def __bool__(self) -> bool:
        return self.reached


def search(
    start: State,
    moves: Callable[[State], Iterable[tuple[str, State, float]]],
    done: Callable[[State], bool],
    estimate: Callable[[State], float] | None = None,
    *,
    nodes: int = NODES,
    longest: int = 100,
) -> Found:
    """A* with costs of one a step and more for doubt; breadth-first where nothing is estimated.

    `moves(state)` gives (action, state after, how sure that is). Ties go to what came first, so
    that the same model gives the same way. Where the goal is not reached, and there is an
    estimate, the way to the state nearest to the goal is given.
    """
    guess = estimate or (lambda _: 0.0)
    first = guess(start)
    queue: list[tuple[float, int, State]] = [(first, 0, start)]
    costs: dict[State, float] = {start: 0.0}
    came: dict[State, tuple[State, str, float, int]] = {}
    closed: set[State] = set()
    nearest, least = start, first
    count = order = 0
    while queue and count < nodes:
        _, _, state = heapq.heappop(queue)
        if state in closed:
            continue
        closed.add(state)
        count += 1
        if done(state):
            return _way(state, came, count, complete=False, reached=True)
        depth = came[state][3] if state in came else 0
        if depth >= longest:
            continue
        cost = costs[state]
        for action, after, sure in moves(state):
            if sure <= 0 or after in closed:
                continue
            total = cost + 1 - _DOUBT * math.log(min(sure, 1.0))
            if total < costs.get(after, math.inf):
                costs[after] = total
                came[after] = (state, action, min(sure, 1.0), depth + 1)
                order += 1
                left = guess(after)
                if left < least:
                    nearest, least = after, left
                heapq.heappush(queue, (total + left, order, after))
    return _way(nearest, came, count, complete=not queue, reached=False)


def _way(
    state: State,
    came: dict[State, tuple[State, str, float, int]],
    nodes: int,
    *,
    complete: bool,
    reached: bool,
) -> Found:
    actions: list[str] = []
    sure = 1.0
    while state in came:
        state, action, one, _ = came[state]
        actions.append(action)
        sure *= one
    return Found(tuple(reversed(actions)), sure, nodes, complete, reached)

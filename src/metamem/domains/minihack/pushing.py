"""Which way to push boulders: a search over pushes, bounded by the positions that it looks at.

Walking changes nothing, so a position is left by pushing a boulder only; the walk there is found on
the way. The estimate of what is still to be done is each boulder's own way to the nearest goal.
"""

import heapq
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from metamem.domains.minihack.actions import OFFSETS
from metamem.domains.minihack.terrain import Place

Offsets = Mapping[str, Place]
Boulders = frozenset[Place]
STRAIGHT = {name: offset for name, offset in OFFSETS.items() if 0 in offset}
_NODES = 4_000
_FAR = 10_000


@dataclass(frozen=True, slots=True)
class Yard:
    """Where one can walk and push, and how many goals are to be reached by boulders."""

    floor: frozenset[Place]
    goals: frozenset[Place]  # may lie outside of the floor: a boulder that gets there is gone
    wanted: int
    walks: Offsets
    pushes: Offsets


def push_plan(
    yard: Yard, boulders: Boulders, start: Place, steps: int, nodes: int = _NODES
) -> list[str]:
    """Directions that bring as many boulders to goals as wanted; none where none were found."""
    far = _distances(yard)
    first = (boulders, start)
    spent = {first: 0}
    came: dict[tuple[Boulders, Place], tuple[tuple[Boulders, Place], list[str]]] = {}
    queue = [(0, 0, 0, first)]
    count = left = 0
    while queue and left < nodes:
        _, minus, _, node = heapq.heappop(queue)
        if -minus > spent[node]:
            continue
        if len(node[0] & yard.goals) >= yard.wanted:
            return _back(came, node)
        left += 1
        for after, way in _pushed(yard, *node):
            total = len(way) - minus
            if total > steps or spent.get(after, _FAR) <= total:
                continue
            ahead = sum(sorted(far.get(place, _FAR) for place in after[0])[: yard.wanted])
            if total + ahead > steps:
                continue
            spent[after], came[after] = total, (node, way)
            count += 1
            heapq.heappush(queue, (total + 2 * ahead, -total, count, after))
    return []


def _pushed(
    yard: Yard, boulders: Boulders, start: Place
) -> Iterator[tuple[tuple[Boulders, Place], list[str]]]:
    ways: dict[Place, list[str]] = {start: []}
    queue = [start]
    for place in queue:
        for name, (dx, dy) in yard.walks.items():
            after = (place[0] + dx, place[1] + dy)
            if after in boulders:
                beyond = (after[0] + dx, after[1] + dy)
                free = beyond in yard.floor or beyond in yard.goals
                if name in yard.pushes and free and beyond not in boulders:
                    yield (boulders - {after} | {beyond}, after), [*ways[place], name]
            elif after in yard.floor and after not in ways:
                ways[after] = [*ways[place], name]
                queue.append(after)


def _distances(yard: Yard) -> dict[Place, int]:
    """Pushes from each place to the nearest goal, if no other boulder were in the way."""
    far = dict.fromkeys(yard.goals, 0)
    queue = list(yard.goals)
    for place in queue:
        for dx, dy in yard.pushes.values():
            before, behind = (place[0] - dx, place[1] - dy), (place[0] - 2 * dx, place[1] - 2 * dy)
            if before in yard.floor and behind in yard.floor and before not in far:
                far[before] = far[place] + 1
                queue.append(before)
    return far


def _back(
    came: Mapping[tuple[Boulders, Place], tuple[tuple[Boulders, Place], list[str]]],
    node: tuple[Boulders, Place],
) -> list[str]:
    parts: list[list[str]] = []
    while node in came:
        node, way = came[node]
        parts.append(way)
    return [name for way in reversed(parts) for name in way]


def crossings(liquid: Collection[Place], floor: Collection[Place]) -> list[list[Place]]:
    """Rows of liquid between ground on both sides, from the west, the narrowest first."""
    found = []
    for x, y in liquid:
        if (x - 1, y) in floor:
            row = [(x, y)]
            while (row[-1][0] + 1, y) in liquid:
                row.append((row[-1][0] + 1, y))
            if (row[-1][0] + 1, y) in floor:
                found.append(row)
    return sorted(found, key=lambda row: (len(row), row))

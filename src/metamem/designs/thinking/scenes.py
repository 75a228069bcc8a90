"""What is where: things and positions read from text, told by offsets or drawn as a map.

>>> scene = read("Doors are shut\\nbox 2 steps to the right and 1 step up\\nwall 1 step down")
>>> sorted(scene.things)
[((0, 1), 'wall'), ((2, -1), 'box')]
>>> sorted(scene.facts)
['Doors are shut']
>>> drawn = read("####\\n#.A#\\n####", mark="A")
>>> drawn.at, drawn.names((1, 1))
((2, 1), ['.'])
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

Cell = tuple[int, int]  # to the right, and down

DIRECTIONS: dict[str, Cell] = {  # words of any language user, not of a domain
    **dict.fromkeys(("left", "west"), (-1, 0)),
    **dict.fromkeys(("right", "east"), (1, 0)),
    **dict.fromkeys(("up", "north", "above"), (0, -1)),
    **dict.fromkeys(("down", "south", "below"), (0, 1)),
}
_OFFSET = re.compile(rf"(\d+)\s+(?:[a-z]+\s+){{0,3}}?({'|'.join(DIRECTIONS)})\b", re.IGNORECASE)
_LONG_WORD = re.compile(r"[a-zA-Z]{3}|[a-zA-Z], |: ")
_QUOTED = re.compile(r"[`'\"]([^`'\"]+)[`'\"]")
_LEAST_ROWS = 3


@dataclass(frozen=True)
class Scene:
    at: Cell  # where one is
    things: frozenset[tuple[Cell, str]]
    facts: frozenset[str]  # lines that tell no position
    drawn: bool = False  # a map: where it shows nothing, nothing is
    cells: dict[Cell, list[str]] = field(default_factory=dict, compare=False, repr=False)

    def names(self, cell: Cell) -> list[str]:
        return self.cells.get(cell, [])


def scene(
    at: Cell, things: frozenset[tuple[Cell, str]], facts: frozenset[str], drawn: bool
) -> Scene:
    cells: dict[Cell, list[str]] = {}
    for cell, name in sorted(things):
        cells.setdefault(cell, []).append(name)
    return Scene(at, things, facts, drawn, cells)


@lru_cache(maxsize=4096)
def read(observation: str, mark: str = "") -> Scene | None:
    """The scene that a text tells; None where it tells no positions, or the map lacks the mark."""
    rows = drawing(observation)
    if rows:
        things = {((x, y), sign) for y, row in enumerate(rows) for x, sign in enumerate(row)}
        own = [cell for cell, sign in things if sign == mark]
        if len(own) != 1:
            return None
        shown = frozenset(pair for pair in things if pair[1] not in (" ", mark))
        return scene(own[0], shown, frozenset(), drawn=True)
    found, facts = set(), set()
    for line in observation.splitlines():
        offsets = list(_OFFSET.finditer(line))
        if not offsets:
            facts.add(line.strip())
            continue
        x = sum(int(o[1]) * DIRECTIONS[o[2].lower()][0] for o in offsets)
        y = sum(int(o[1]) * DIRECTIONS[o[2].lower()][1] for o in offsets)
        found.add(((x, y), line[: offsets[0].start()].strip()))
    return scene((0, 0), frozenset(found), frozenset(facts - {""}), drawn=False) if found else None


def drawing(observation: str) -> list[str]:
    """The longest run of lines that are signs and not words; nothing where there are too few."""
    return list(_drawn(observation))


@lru_cache(maxsize=256)
def _drawn(observation: str) -> tuple[str, ...]:
    best: list[str] = []
    run: list[str] = []
    for line in [*observation.splitlines(), "the end"]:
        if line.strip() and not _LONG_WORD.search(line):
            run.append(line)
        else:
            best, run = max(best, run, key=len), []
    enough = len(best) >= _LEAST_ROWS and max(map(len, best)) >= _LEAST_ROWS
    return tuple(best) if enough else ()


@lru_cache(maxsize=4096)
def quoted(name: str) -> str:
    """What stands in quotation marks in a name, if anything."""
    found = _QUOTED.search(name)
    return found[1] if found else ""

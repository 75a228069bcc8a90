"""Which episodes were played in the same world: by the rare marks that they share.

A mark is anything that tells one world from another: a name, a line, a move that led somewhere.

    >>> worlds = Worlds()
    >>> worlds.add(["hall > east > attic", "a door"])
    0
    >>> worlds.add(["cellar > up > shop", "a door"])
    1
    >>> worlds.add(["attic > up > roof", "hall > east > attic", "a door"])
    2
    >>> worlds.of(["hall > east > attic"])
    [0, 2]
    >>> worlds.groups()
    [[0, 2], [1]]
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

RARE = 0.34  # a mark that more of the episodes have tells nothing
ENOUGH = 0.5  # of the rarest mark's weight, before two episodes are held to share a world


@dataclass
class Worlds:
    """Episodes by number, each with its marks."""

    marks: list[tuple[str, ...]] = field(default_factory=list)
    having: dict[str, list[int]] = field(default_factory=dict)

    def add(self, marks: Iterable[str]) -> int:
        number = len(self.marks)
        self.marks.append(tuple(dict.fromkeys(marks)))
        for mark in self.marks[-1]:
            self.having.setdefault(mark, []).append(number)
        return number

    def weight(self, mark: str) -> float:
        """How much a mark tells, 0 to 1: the rarer, the more."""
        have, total = len(self.having.get(mark, ())), len(self.marks)
        if have == 0 or (have > 2 and have > RARE * total):
            return 0.0
        return math.log(1 + total / have) / math.log(1 + total)

    def of(self, marks: Iterable[str], enough: float = ENOUGH) -> list[int]:
        """The episodes that were in the world that these marks are of, likeliest first."""
        shared: Counter[int] = Counter()
        for mark in dict.fromkeys(marks):
            weight = self.weight(mark)
            for number in self.having.get(mark, ()) if weight else ():
                shared[number] += weight  # type: ignore[assignment]
        likely = [number for number, weight in shared.items() if weight >= enough]
        return sorted(likely, key=lambda number: (-shared[number], number))

    def groups(self, enough: float = ENOUGH) -> list[list[int]]:
        """All episodes, those of one world together: whoever shares enough with one of a group."""
        group = list(range(len(self.marks)))

        def root(number: int) -> int:
            while group[number] != number:
                group[number] = group[group[number]]
                number = group[number]
            return number

        for number, marks in enumerate(self.marks):
            for other in self.of(marks, enough):
                one, two = sorted((root(number), root(other)))
                group[two] = one
        found: dict[int, list[int]] = {}
        for number in range(len(group)):
            found.setdefault(root(number), []).append(number)
        return list(found.values())

"""The rules once more, slow and literal: every thing is an object that knows whether it moved."""

from metamem.domains.baba.engine import Level

DIRECTIONS = {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)}
NOUNS = {"baba", "ball", "key", "door", "wall"}
PROPERTIES = {"you", "win", "stop"}


class Thing:
    def __init__(self, name: str) -> None:
        self.name, self.moved = name, False
        self.word = name[6:-1] if name.startswith("rule ") else ""


class NaiveGame:
    def __init__(self, level: Level) -> None:
        self.width, self.height = level.width, level.height
        self.grid = {
            (n % level.width, n // level.width): [Thing(name) for name in stack]
            for n, stack in enumerate(level.cells)
        }
        self.won = False
        self.read()

    def top(self, x: int, y: int) -> Thing | None:
        return self.grid[x, y][-1] if self.grid[x, y] else None

    def word(self, x: int, y: int) -> str:
        top = self.top(x, y)
        return top.word if top else ""

    def places(self) -> list[tuple[int, int]]:
        return [(x, y) for y in range(self.height) for x in range(self.width)]

    def read(self) -> None:
        self.rules: list[tuple[str, str]] = []
        self.turns: list[tuple[str, str]] = []
        for x, y in self.places():
            if self.word(x, y) == "is":
                for dx, dy in ((1, 0), (0, 1)):
                    first, last = self.word(x - dx, y - dy), self.word(x + dx, y + dy)
                    if first in NOUNS and last in PROPERTIES:
                        self.rules.append((first, last))
                    if first in NOUNS and last in NOUNS:
                        self.turns.append((first, last))

    def step(self, action: str) -> None:
        if action == "idle":
            return
        for stack in self.grid.values():
            for thing in stack:
                thing.moved = False
        self.won = False
        for x, y in self.places():
            top = self.top(x, y)
            if top and not top.moved and (top.name, "you") in self.rules:
                self.won = self.move(x, y, *DIRECTIONS[action])
                top.moved = True
        self.read()
        for old, new in self.turns:
            for place in self.places():
                if (top := self.top(*place)) and top.name == old:
                    self.grid[place].append(Thing(new))

    def move(self, x: int, y: int, dx: int, dy: int) -> bool:
        """Whether the thing on top here would win by this move."""
        there = (x + dx, y + dy)
        ahead = self.top(*there)
        if ahead and ahead.word:
            self.move(*there, dx, dy)
            ahead = self.top(*there)
        blocked = ahead and (
            ahead.word or ahead.name == "border" or (ahead.name, "stop") in self.rules
        )
        target = self.top(x, y) if blocked else ahead
        if not blocked:
            self.grid[there].append(self.grid[x, y].pop())
        return target is not None and (target.name, "win") in self.rules

    @property
    def lost(self) -> bool:
        tops = {stack[-1].name for stack in self.grid.values() if stack}
        return not self.won and not any(
            name in tops for name, given in self.rules if given == "you"
        )

    def cells(self) -> list[tuple[str, ...]]:
        return [tuple(thing.name for thing in self.grid[place]) for place in self.places()]

"""The rules of Baba Is AI: a grid of stacks, rules that are read from blocks, one step at a time.

Only the top of a stack counts. A thing is named as the text lists it: `key` is an object,
``rule `key` `` is the block with that word on it. While a level is played, tops are kept as a
row of bytes, so that finding, copying and comparing them is quick.
"""

from collections.abc import Iterable
from dataclasses import dataclass

OBJECTS = ("baba", "ball", "key", "door", "wall")
PROPERTIES = ("you", "win", "stop")
BORDER = "border"
ACTIONS = ("idle", "up", "right", "down", "left")


def block(word: str) -> str:
    """The rule block with a word on it."""
    return f"rule `{word}`"


# A thing's code is its place here: nothing, objects, the border, then the blocks.
THINGS = ("", *OBJECTS, BORDER, *map(block, OBJECTS), *map(block, PROPERTIES), block("is"))
CODES = {name: code for code, name in enumerate(THINGS)}
_BORDER = CODES[BORDER]
_FIRST_PROPERTY = CODES[block(PROPERTIES[0])]
_IS = CODES[block("is")]
_WORD = _BORDER  # a block's code less this is the code of the object that it names
_YOU, _WIN, _STOP = (CODES[block(name)] for name in PROPERTIES)

Stack = tuple[str, ...]  # from the bottom up; empty where nothing lies
Rule = tuple[int, int]  # (code of the object, code of the block that ends the rule)


@dataclass(frozen=True, slots=True)
class Level:
    """A grid at its start, row by row, border included."""

    width: int
    height: int
    cells: tuple[Stack, ...]
    family: str = ""
    plan: str = ""  # what to do, in outline: privileged


class Game:
    """A level being played. `won` and `lost` end it; a level without YOU is lost."""

    __slots__ = ("_rules", "lost", "tops", "under", "width", "won")

    def __init__(self, level: Level) -> None:
        self.width = level.width
        self.tops = bytearray(CODES[stack[-1]] if stack else 0 for stack in level.cells)
        self.under: dict[int, bytes] = {  # what lies beneath the tops, from the bottom up
            place: bytes(CODES[name] for name in stack[:-1])
            for place, stack in enumerate(level.cells)
            if len(stack) > 1
        }
        self.won = False
        self._rules: list[Rule] = self._read()
        self.lost = self.you() < 0

    def copy(self) -> "Game":
        twin = Game.__new__(Game)
        twin.width, twin.tops, twin.under = self.width, self.tops[:], self.under.copy()
        twin.won, twin.lost = self.won, self.lost
        twin._rules = self._rules  # replaced as a whole, never changed
        return twin

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal positions."""
        return (bytes(self.tops), *sorted(self.under.items()))

    def stack(self, place: int) -> Stack:
        codes = [*self.under.get(place, b""), self.tops[place]]
        return tuple(THINGS[code] for code in codes if code)

    def rules(self) -> list[tuple[str, str]]:
        """Active rules in reading order, as (object, property)."""
        return [
            (THINGS[name], PROPERTIES[end - _FIRST_PROPERTY])
            for name, end in self._rules
            if end >= _FIRST_PROPERTY
        ]

    def having(self, property_: str) -> set[int]:
        """The codes of the objects that have a property."""
        block_ = CODES[block(property_)]
        return {name for name, end in self._rules if end == block_}

    def in_force(self, name: int, end: int) -> bool:
        """Whether a rule stands, by the codes of its object and of the block that ends it."""
        return (name, end) in self._rules

    @property
    def replaces(self) -> bool:
        """Whether a rule turns one kind of thing into another."""
        return any(end < _FIRST_PROPERTY for _, end in self._rules)

    def you(self) -> int:
        """Where offsets are counted from: the first top of the type that the last YOU rule names.

        A type that lies on top nowhere is passed over; -1 where no YOU is left.
        """
        for name, end in reversed(self._rules):
            if end == _YOU:
                place = self.tops.find(name)
                if place >= 0:
                    return place
        return -1

    def step(self, action: str) -> None:
        """One action. `idle` moves nothing and reads nothing."""
        if action == "idle":
            return
        ahead = {"up": -self.width, "right": 1, "down": self.width, "left": -1}[action]
        rules, tops = self._rules, self.tops
        yous = {name for name, end in rules if end == _YOU}
        wins = [name for name, end in rules if end == _WIN]
        stops = [name for name, end in rules if end == _STOP]
        moved: set[int] = set()  # cells whose top has moved in this step
        self.won = False
        for place in self.places(yous):
            # What moved before may have left, covered or entered this cell.
            if tops[place] not in yous or place in moved:
                continue
            target = self._make_way(place, ahead, stops)
            self.won = tops[target] in wins  # judged before moving; the last to move decides
            if target != place:
                self._move(place, target)
            moved.add(target)
        self._rules = self._read()
        for old, end in self._rules:
            if end < _FIRST_PROPERTY:
                self._replace(old, end - _WORD)
        self.lost = not self.won and self.you() < 0

    def places(self, codes: Iterable[int]) -> list[int]:
        """The cells with one of these on top, row by row."""
        found = []
        for code in codes:
            place = self.tops.find(code)
            while place >= 0:
                found.append(place)
                place = self.tops.find(code, place + 1)
        found.sort()
        return found

    def carry(self, place: int, target: int) -> None:
        """Bring what lies on top of a cell to another, as walking there would."""
        if place != target:
            self._move(place, target)

    def _make_way(self, place: int, ahead: int, stops: list[int]) -> int:
        """Push what can be pushed; where the thing at `place` will then be."""
        target = place + ahead
        top = self.tops[target]
        if top > _BORDER:
            beyond = self._make_way(target, ahead, stops)
            if beyond == target:
                return place
            self._move(target, beyond)
            top = self.tops[target]
        return place if top >= _BORDER or top in stops else target

    def _move(self, place: int, target: int) -> None:
        top = self.tops[place]
        below = self.under.pop(place, b"")
        self.tops[place] = below[-1] if below else 0
        if len(below) > 1:
            self.under[place] = below[:-1]
        self._cover(target, top)

    def _cover(self, place: int, code: int) -> None:
        if self.tops[place]:
            self.under[place] = self.under.get(place, b"") + bytes([self.tops[place]])
        self.tops[place] = code

    def _replace(self, old: int, new: int) -> None:
        """Every top of one kind gets one of another kind on it."""
        for place in self.places([old]):
            self._cover(place, new)

    def _read(self) -> list[Rule]:
        """Rules stand left to right and top to bottom around every IS that lies on top."""
        tops, rules = self.tops, []
        place = tops.find(_IS)
        while place >= 0:
            for step in (1, self.width):
                name, end = tops[place - step], tops[place + step]
                if _BORDER < name < _FIRST_PROPERTY and _BORDER < end < _IS:
                    rules.append((name - _WORD, end))
            place = tops.find(_IS, place + 1)
        return rules

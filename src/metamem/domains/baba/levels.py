"""The 51 ids of Baba Is AI and how their levels are drawn. The same id and seed: the same level."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.domains.baba.engine import BORDER, Game, Level, Stack, block

VERSION = 1
Cell = tuple[int, int]

SUFFIXES = ("", "-distr_obj", "-distr_rule", "-distr_obj_rule", "-distr_obj-irrelevant_rule")
WIN_SUFFIX = "-distr_win_rule"
MAKE_YOU = ("two_room-make_you", "two_room-make_you-make_win")
MAKE_WALL_WIN = "two_room-make_wall_win"


@dataclass(frozen=True, slots=True)
class Kind:
    """What an id stands for."""

    family: str
    distr_obj: bool = True
    distr_rule: bool = True
    irrelevant: bool = False
    win_rule: bool = False
    ball: bool | None = None  # whether the ball must be (or must not be) what wins


@cache
def kinds() -> dict[str, Kind]:
    """Every id and what it stands for, sorted by id."""
    found: dict[str, Kind] = {}
    for family in ("goto_win", "make_win", *TWO_ROOMS):
        for suffix in SUFFIXES:
            found[family + suffix] = Kind(
                family,
                distr_obj="distr_obj" in suffix,
                distr_rule="rule" in suffix,
                irrelevant="irrelevant" in suffix,
            )
    for family in ("goto_win", "two_room-goto_win", "two_room-make_win"):
        found[family + WIN_SUFFIX] = Kind(family, win_rule=True)
    for suffix in SUFFIXES:
        plain = found["make_win" + suffix]
        for name, ball in (("#no_ball_win", False), ("#only_ball_win", True)):
            found[f"make_win{suffix}{name}"] = Kind(
                "make_win", plain.distr_obj, plain.distr_rule, plain.irrelevant, ball=ball
            )
    for family in (*MAKE_YOU, MAKE_WALL_WIN):
        found[family] = Kind(family)
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class TwoRooms:
    """How a family of two-room levels begins."""

    area: str  # where the objects lie
    stop_broken: bool
    win_broken: bool
    plan: str


TWO_ROOMS = {
    "two_room-goto_win": TwoRooms("left", True, False, "goto[{0}]"),
    "two_room-break_stop-goto_win": TwoRooms(
        "right", False, False, "break[wall is stop], goto[{0}]"
    ),
    "two_room-maybe_break_stop-goto_win": TwoRooms("any", False, False, "goto[{0}]"),
    "two_room-make_win": TwoRooms("left", True, True, "make[{0} is win], goto[{0}]"),
    "two_room-break_stop-make_win": TwoRooms(
        "right", False, True, "break[wall is stop], make[{0} is win], goto[{0}]"
    ),
}


def _area(left: int, top: int, width: int, height: int) -> tuple[Cell, ...]:
    return tuple((x, y) for y in range(top, top + height) for x in range(left, left + width))


AREAS = {"left": _area(1, 1, 4, 7), "right": _area(7, 2, 4, 7), "any": _area(1, 2, 11, 7)}
LEFT_PUSHABLE, RIGHT_PUSHABLE = _area(2, 3, 4, 3), _area(7, 3, 4, 3)
NEAR_LEFT_PUSHABLE, NEAR_RIGHT_PUSHABLE = _area(2, 3, 3, 3), _area(8, 3, 3, 3)
RIGHT_UNPUSHABLE = (*((11, y) for y in range(2, 7)), (11, 7), (10, 7), (9, 7), (8, 7))
ROOM = _area(1, 2, 6, 5)
ROOM_MIDDLE = _area(2, 2, 4, 4)
# Against the edge a word cannot be pushed into a rule. The right corners count twice.
ROOM_EDGE = (*((x, y) for y in (6, 1) for x in (4, 5, 6)), *((6, y) for y in range(1, 7)))


class _Board:
    """A grid being laid out."""

    def __init__(self, width: int, height: int, rng: random.Random) -> None:
        self.width, self.height, self.rng = width, height, rng
        edge = {0, width - 1}
        self.cells: list[Stack] = [
            (BORDER,) if x in edge or y in (0, height - 1) else ()
            for y in range(height)
            for x in range(width)
        ]

    def put(self, thing: str, cell: Cell) -> None:
        self.cells[cell[1] * self.width + cell[0]] += (thing,)

    def drop(self, thing: str, area: Iterable[Cell]) -> None:
        """Put a thing on one of the empty cells of an area, each as likely as the others."""
        self.put(thing, self.rng.choice([c for c in area if not self.at(c)]))

    def at(self, cell: Cell) -> Stack:
        return self.cells[cell[1] * self.width + cell[0]]

    def rule(self, words: str, cell: Cell) -> None:
        for offset, word in enumerate(words.split()):
            self.put(block(word), (cell[0] + offset, cell[1]))

    def carry(self, cell: Cell, area: Iterable[Cell]) -> None:
        """Take the block that lies on a cell to an empty cell of an area."""
        place = cell[1] * self.width + cell[0]
        *rest, top = self.cells[place]
        self.drop(top, area)
        self.cells[place] = tuple(rest)

    def level(self, kind: Kind, plan: str) -> Level:
        return Level(self.width, self.height, tuple(self.cells), kind.family, plan)


def draw_level(name: str, seed: int) -> Level:
    """One level of an id. One in which no YOU lies on top is drawn again, as in the reference."""
    kind = kinds().get(name)
    if kind is None:
        raise UsageError(f"no level id {name!r}", hint="see metamem.domains.baba.levels.kinds()")
    rng = random.Random(derive_seed("baba level", VERSION, name, seed))
    while True:
        level = _draw(kind, rng)
        if Game(level).you() >= 0:
            return level


def _draw(kind: Kind, rng: random.Random) -> Level:
    things = ["ball", "key", "door"]
    while True:
        rng.shuffle(things)
        if kind.ball is None or kind.ball == (things[0] == "ball"):
            break
    if kind.family in TWO_ROOMS:
        return _two_rooms(kind, TWO_ROOMS[kind.family], things, rng)
    if kind.family in MAKE_YOU:
        return _make_you(kind, things, rng)
    if kind.family == MAKE_WALL_WIN:
        return _make_wall_win(kind, things, rng)
    return _one_room(kind, things, rng)


def _one_room(kind: Kind, things: list[str], rng: random.Random) -> Level:
    goal, other, third = things
    board = _Board(8, 8, rng)
    board.rule("baba is you", (1, 6))
    board.rule(f"{goal} is win", (1, 1))
    make = kind.family == "make_win"
    if make:
        board.carry((1, 1), ROOM_MIDDLE)
    if kind.distr_rule:
        board.put(block(third if kind.irrelevant else other), rng.choice(ROOM_EDGE))
    for thing in ("baba", goal, other) if kind.distr_obj else ("baba", goal):
        board.drop(thing, ROOM)
    if kind.win_rule:
        board.rule(f"{third} is win", (4, 4))
    return board.level(kind, f"make[{goal} is win], goto[{goal}]" if make else f"goto[{goal}]")


def _walled(rng: random.Random) -> _Board:
    board = _Board(13, 9, rng)
    for y in range(1, 8):
        board.put("wall", (6, y))
    return board


def _two_rooms(kind: Kind, rooms: TwoRooms, things: list[str], rng: random.Random) -> Level:
    goal, other, third = things
    board = _walled(rng)
    board.rule("baba is you", (1, 7))
    board.rule("wall is stop", (1, 2))
    board.rule(f"{goal} is win", (9, 1))
    if kind.distr_rule:
        if kind.irrelevant:
            board.drop(block(third), RIGHT_PUSHABLE)
        elif kind.distr_obj:
            board.put(block(other), rng.choice(RIGHT_UNPUSHABLE))
        else:
            board.drop(block(other), RIGHT_PUSHABLE)
    if rooms.stop_broken:
        board.carry(rng.choice(((2, 2), (3, 2))), LEFT_PUSHABLE)
    if rooms.win_broken:
        board.carry((9, 1), RIGHT_PUSHABLE)
    board.drop("baba", LEFT_PUSHABLE)
    for thing in (goal, other) if kind.distr_obj else (goal,):
        board.drop(thing, AREAS[rooms.area])
    if kind.win_rule:
        board.rule(f"{third} is win", (9, 4))
    return board.level(kind, rooms.plan.format(goal))


def _make_you(kind: Kind, things: list[str], rng: random.Random) -> Level:
    goal, other, _ = things
    board = _walled(rng)
    board.rule("baba is you", (1, 6))
    board.rule("wall is stop", (1, 1))
    board.rule(f"{goal} is win", (9, 1))
    board.drop(block(other), NEAR_LEFT_PUSHABLE)
    make_win = kind.family.endswith("-make_win")
    if make_win:
        board.carry((9, 1), NEAR_RIGHT_PUSHABLE)
    board.drop("baba", NEAR_LEFT_PUSHABLE)
    for thing in (goal, other):
        board.drop(thing, AREAS["right"])
    make = f"make[{goal} is win], " if make_win else ""
    return board.level(kind, f"make[{other} is you], {make}goto[{goal}]")


def _make_wall_win(kind: Kind, things: list[str], rng: random.Random) -> Level:
    goal, other, third = things
    board = _walled(rng)
    board.rule("baba is you", (1, 7))
    board.rule("wall is stop", (2, 2))
    board.rule(f"{goal} is win", (9, 1))
    place = rng.choice(RIGHT_UNPUSHABLE)
    board.carry((9, 1), (place,))
    board.drop(block(third), NEAR_RIGHT_PUSHABLE)
    board.drop("baba", LEFT_PUSHABLE)
    for thing in (goal, other):
        board.drop(thing, AREAS["right"])
    return board.level(kind, "break[wall is stop], make[wall is win], goto[wall]")

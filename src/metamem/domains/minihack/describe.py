"""What a player of NetHack sees, in words: messages, things around, the map, what is carried."""

import re
from collections.abc import Iterable

import numpy as np
from nle import nethack
from numpy.typing import NDArray

ROWS, COLUMNS = nethack.DUNGEON_SHAPE
_POINTS = (
    "east",
    "east-southeast",
    "southeast",
    "south-southeast",
    "south",
    "south-southwest",
    "southwest",
    "west-southwest",
    "west",
    "west-northwest",
    "northwest",
    "north-northwest",
    "north",
    "north-northeast",
    "northeast",
    "east-northeast",
)
_NEAR = ((1, "adjacent"), (3, "very near"), (8, "near"))  # else far
_DISTANCES = (*(word for _, word in _NEAR), "far")
_HUNGER = ("satiated", "", "hungry", "weak", "fainting", "fainted", "starved")
_CONDITIONS = (
    "turning to stone",
    "slimed",
    "strangled",
    "food poisoned",
    "terminally ill",
    "blind",
    "deaf",
    "stunned",
    "confused",
    "hallucinating",
    "levitating",
    "flying",
    "riding",
)

# Symbols of the game's display, in the order of its own table, from its glyph offset on.
_STONE, _FIRST_WALL, _LAST_WALL = 0, 1, 11
_TREE, _DARK_FLOOR, _FLOOR, _CORRIDOR, _LIT_CORRIDOR = 18, 20, 19, 21, 22
_PLAIN = (_STONE, *range(_FIRST_WALL, _LAST_WALL + 1), _FLOOR, _DARK_FLOOR, _CORRIDOR)
_SOLID = tuple(range(_FIRST_WALL, _LAST_WALL + 1))


def _table(symbols: tuple[int, ...]) -> NDArray[np.bool_]:
    table = np.zeros(nethack.MAX_GLYPH + 1, dtype=bool)
    table[[nethack.GLYPH_CMAP_OFF + symbol for symbol in symbols]] = True
    return table


WALLS = _table(_SOLID)
_WORTH_TELLING = ~_table((*_PLAIN, _LIT_CORRIDOR))


def _places() -> tuple[list[list[str]], list[list[int]]]:
    """For every offset, row by row from the upper left: a point of the compass, a distance."""
    points, distances = [], []
    for dy in range(-ROWS, ROWS + 1):
        angles = [np.arctan2(dy, dx) for dx in range(-COLUMNS, COLUMNS + 1)]
        points.append([_POINTS[round(angle / (np.pi / 8)) % 16] for angle in angles])
        steps = [max(abs(dx), abs(dy)) for dx in range(-COLUMNS, COLUMNS + 1)]
        distances.append([sum(n > limit for limit, _ in _NEAR) for n in steps])
    return points, distances


_POINT_AT, _DISTANCE_AT = _places()


def text_of(row: NDArray[np.uint8]) -> str:
    """A line of the game's memory, up to its end mark."""
    return row.tobytes().split(b"\0", 1)[0].decode("latin-1")


def things_seen(
    glyphs: NDArray[np.int16], words: NDArray[np.uint8], x: int, y: int
) -> list[tuple[str, int, int]]:
    """Each thing worth telling that is not the player: its name and where it is."""
    found = []
    for place in np.flatnonzero(_WORTH_TELLING[glyphs]).tolist():
        row, column = divmod(place, COLUMNS)
        if (column, row) != (x, y):
            found.append((text_of(words[row, column]), column, row))
    return found


def monsters_seen(glyphs: NDArray[np.int16], x: int, y: int) -> list[tuple[int, int]]:
    """Where monsters stand that are nobody's pets."""
    found = np.flatnonzero(glyphs < nethack.GLYPH_PET_OFF).tolist()
    places = ((place % COLUMNS, place // COLUMNS) for place in found)
    return [place for place in places if place != (x, y)]


def surroundings(things: list[tuple[str, int, int]], x: int, y: int) -> list[str]:
    """One line for each kind of thing and distance, with all the directions it lies in."""
    lines: dict[tuple[int, str], dict[str, None]] = {}
    for name, column, row in things:
        dx, dy = column - x + COLUMNS, row - y + ROWS
        lines.setdefault((_DISTANCE_AT[dy][dx], name), {})[_POINT_AT[dy][dx]] = None
    return [
        f"{name} {_DISTANCES[distance]} {', '.join(points)}"
        for (distance, name), points in sorted(lines.items(), key=lambda line: line[0][0])
    ]


def map_text(chars: NDArray[np.uint8]) -> str:
    """The part of the map that shows anything."""
    shown = chars != ord(" ")
    rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    if not rows.size:
        return ""
    part = chars[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return "\n".join(row.tobytes().decode("latin-1").rstrip() for row in part)


def inventory(letters: NDArray[np.uint8], words: NDArray[np.uint8]) -> dict[str, str]:
    return {
        chr(letter): text_of(words[place])
        for place, letter in enumerate(letters.tolist())
        if letter
    }


_UNDERFOOT = re.compile(r"(?:You (?:see|feel) here|There (?:is|are)) (.+?)(?: here)?[.:;]")


def underfoot(messages: Iterable[str]) -> str:
    """What the game says lies where the player stands; empty where it says nothing of that."""
    found = [m.group(1) for said in messages for m in _UNDERFOOT.finditer(said)]
    return "; ".join(name for name in found if not name.startswith(("nothing", "no ")))


def condition(stats: NDArray[np.int64]) -> str:
    """Health and such. Not the turn: it would make every moment look new."""
    parts = [
        f"hit points {stats[nethack.NLE_BL_HP]} of {stats[nethack.NLE_BL_HPMAX]}",
        f"armour class {stats[nethack.NLE_BL_AC]}",
        f"level {stats[nethack.NLE_BL_XP]}",
        f"gold {stats[nethack.NLE_BL_GOLD]}",
    ]
    parts.append(_HUNGER[int(stats[nethack.NLE_BL_HUNGER])])
    mask = int(stats[nethack.NLE_BL_CONDITION])
    parts += [word for bit, word in enumerate(_CONDITIONS) if mask >> bit & 1]
    return ", ".join(part for part in parts if part)

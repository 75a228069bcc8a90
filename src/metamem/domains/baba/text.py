"""What a player reads: the active rules, and where things lie as seen from YOU."""

from functools import cache

from metamem.domains.baba.engine import BORDER, CODES, THINGS, Game

NO_YOU = "[...] IS YOU rule was broken, the level is lost"
_UNLISTED = frozenset({0, CODES["baba"], CODES[BORDER]})


def describe(game: Game, parity: bool = True) -> str:
    """The observation. With `parity` the oddities of the reference are kept: `2 step to the left`,
    and an empty line for a thing that lies where offsets are counted from.
    """
    here = game.you()
    if here < 0:
        return NO_YOU
    rules = "\n".join([f"{name} is {given}" for name, given in game.rules()])
    width = game.width
    at_y, at_x = divmod(here, width)
    lines = [
        _line(code, place % width - at_x, place // width - at_y, parity)
        for place, code in enumerate(game.tops)
        if code not in _UNLISTED
    ]
    things = "\n".join(lines)
    return f"Active rules:\n{rules}\n\nObjects on the map:\n{things}"


@cache
def _line(code: int, right: int, down: int, parity: bool) -> str:
    parts = []
    for count, ahead, behind in ((right, "to the right", "to the left"), (down, "down", "up")):
        if count:
            plural = count > 1 if parity else abs(count) > 1
            steps = "steps" if plural else "step"
            parts.append(f"{abs(count)} {steps} {ahead if count > 0 else behind}")
    if parts:
        return f"{THINGS[code]} {' and '.join(parts)}"
    return "" if parity else f"{THINGS[code]} here"

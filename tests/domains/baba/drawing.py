"""Levels as drawings: `.` is an empty cell, small letters are objects, capitals are word blocks."""

from metamem.domains.baba.engine import BORDER, Game, Level, Stack, block


def level(drawing: str) -> Level:
    rows = [line.split() for line in drawing.strip().splitlines()]
    width = len(rows[0]) + 2
    edge: list[Stack] = [(BORDER,)] * width
    cells = list(edge)
    for row in rows:
        cells += [(BORDER,), *(stack(cell) for cell in row), (BORDER,)]
    cells += edge
    return Level(width, len(rows) + 2, tuple(cells))


def stack(cell: str) -> Stack:
    """One cell; `key+baba` is a baba on a key."""
    if cell == ".":
        return ()
    return tuple(block(name.lower()) if name.isupper() else name for name in cell.split("+"))


def drawn(game: Game) -> str:
    rows = []
    for start in range(game.width, len(game.tops) - game.width, game.width):
        row = [game.stack(place) for place in range(start + 1, start + game.width - 1)]
        rows.append(" ".join("+".join(map(_cell, s)) or "." for s in row))
    return "\n".join(rows)


def _cell(name: str) -> str:
    return name[6:-1].upper() if name.startswith("rule ") else name


def played(drawing: str, *actions: str) -> Game:
    game = Game(level(drawing))
    for action in actions:
        game.step(action)
    return game


def same(drawing: str) -> str:
    """A drawing as `drawn` would write it."""
    return "\n".join(" ".join(line.split()) for line in drawing.strip().splitlines())

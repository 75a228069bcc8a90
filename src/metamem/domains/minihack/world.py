"""A game of MiniHack as a world: words in, words out. Served from a child process."""

from collections.abc import Mapping
from typing import Any

from metamem.core.types import Observation
from metamem.domains.minihack import describe
from metamem.domains.minihack.actions import OFFSETS, answers, command_names, pointless
from metamem.domains.minihack.engine import Game, View


class MiniHackWorld:
    """Nothing is left to chance beyond the task's own seed: it fixes level and luck alike."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.game = Game(data)
        self._commands = command_names(self.game.keys)
        self._offered: dict[str, int] = {}
        self.here = ""
        self._solid: set[tuple[int, int]] = set()  # places that the game said cannot be entered
        self.view: View

    def reset(self) -> Observation:
        view = self.game.begin()
        self.here = describe.underfoot(view.messages)
        self._solid.clear()
        return self._tell(view, 0.0, False)

    def step(self, action: str) -> Observation:
        key = self._offered.get(action)
        if key is None:
            text = f"message: {action!r} is not possible now.\n{_text(self.view, self.here)}"
            return Observation(text, tuple(self._offered))
        before = self.view
        after, reward, done = self.game.press(key)
        self._look_down(before, after)
        self._note_solid(action, after)
        return self._tell(after, reward, done)

    def close(self) -> None:
        """The engine is kept for the next world."""

    def _tell(self, view: View, reward: float, done: bool) -> Observation:
        said = "message: " + "\n".join(view.messages) + "\n" if view.messages else ""
        if done:  # the dead see nothing
            self._offered = {}
            return Observation(said + "The episode is over.", (), reward, True)
        self.view = view
        self._offered = self._possible(view)
        return Observation(said + _text(view, self.here), tuple(self._offered), reward, False)

    def _look_down(self, before: View, after: View) -> None:
        """Keep what lies underfoot until it changes: the game tells it on arrival at best."""
        said = describe.underfoot(after.messages)
        if (before.x, before.y) != (after.x, after.y):
            place = (after.x, after.y)
            seen = (name for name, x, y in before.things if (x, y) == place)
            self.here = said or "; ".join(seen)
        elif said or len(before.items) < len(after.items) or _emptied(after.messages):
            self.here = said

    def _note_solid(self, action: str, after: View) -> None:
        offset = OFFSETS.get(action.removeprefix("far "))
        if offset and any("solid stone" in said for said in after.messages):
            self._solid.add((after.x + offset[0], after.y + offset[1]))

    def _possible(self, view: View) -> dict[str, int]:
        """Answers while the game asks; else the commands that could do something."""
        if view.asking:
            question = view.messages[-1] if view.messages else ""
            return answers(question, self.game.keys, view.items)
        around = (
            name for name, x, y in view.things if abs(x - view.x) <= 1 and abs(y - view.y) <= 1
        )
        vain = _closed_ways(view, self._solid) | pointless(
            view.items, view.classes, self.here, around
        )
        return {name: key for name, key in self._commands.items() if name not in vain}


def _emptied(messages: tuple[str, ...]) -> bool:
    return any("nothing here" in said for said in messages)


def _closed_ways(view: View, solid: set[tuple[int, int]]) -> set[str]:
    """The ways that a wall in sight, the edge of the map or known solid stone closes."""
    closed: set[str] = set()
    top, left = max(view.y - 1, 0), max(view.x - 1, 0)
    walls = describe.WALLS[view.glyphs[top : view.y + 2, left : view.x + 2]].tolist()
    for direction, (dx, dy) in OFFSETS.items():
        x, y = view.x + dx, view.y + dy
        inside = 0 <= x < describe.COLUMNS and 0 <= y < describe.ROWS
        if not inside or (x, y) in solid or walls[y - top][x - left]:
            closed.update((direction, f"far {direction}"))
    return closed


def _text(view: View, here: str) -> str:
    return "\n".join(
        (
            "seen:",
            *describe.surroundings(view.things, view.x, view.y),
            f"you: {view.yourself} (x={view.x}, y={view.y})",
            *([f"here: {here}"] if here else []),
            "map:",
            describe.map_text(view.chars),
            "carried:",
            *(f"{letter} - {name}" for letter, name in view.items.items()),
            f"condition: {describe.condition(view.stats)}",
        )
    )


def open_world(data: Mapping[str, Any], seed: int) -> MiniHackWorld:
    """The factory for `RemoteWorld`; the task's data alone decide what happens."""
    return MiniHackWorld(data)

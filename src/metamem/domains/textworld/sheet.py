"""What the host knows of a game without running it: its map, its goal and a way to win.

All of it is privileged: an agent sees the goal alone.
"""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import DataError
from metamem.domains.textworld.world import exit_label

FAMILIES = ("treasure_hunter", "cooking", "coin_collector")
_DIRECTIONS = ("north", "south", "east", "west")
_ONE_SENTENCE = re.compile(r"Your objective is to [^.!?]+\.")
_COOKING = "Cook the meal of the recipe in the cookbook in the kitchen, and enjoy it."


@dataclass(frozen=True, slots=True)
class Exit:
    direction: str
    to: str
    door: str = ""  # the name of a closed door in the way
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    family: str
    goal: str  # one sentence, and no word of the way
    start: str  # room ids, here and below
    rooms: dict[str, str]  # id: name
    exits: dict[str, tuple[Exit, ...]]
    walkthrough: tuple[str, ...]  # from the game's own start
    doings: tuple[tuple[str, str], ...]  # the same without the walking: (room, command)

    @property
    def title(self) -> str:
        """The goal in two or three words."""
        return (
            "Cook the meal" if self.family == "cooking" else f"Find the {_thing(self.walkthrough)}"
        )

    @property
    def starts(self) -> list[str]:
        """Rooms to start in, nearest to the game's own first; not where a find would be at once."""
        goal_room = self.doings[-1][0]
        rooms = _spread(self.exits, self.start)
        return [room for room in rooms if self.family == "cooking" or room != goal_room]

    def walk(self, start: str) -> list[str]:
        """Commands that lead from the game's own start to another room."""
        return list(self._way(self.start, start, set()))

    def plan(self, start: str) -> list[str]:
        """A way to win from a room that `walk` led to, as the world names its actions."""
        if start == self.start:
            return self._named(start, self.walkthrough)
        opened: set[str] = set()
        _run(self._way(self.start, start, opened))
        here = start
        commands: list[str] = []
        for room, command in self.doings:
            commands += self._way(here, room, opened)
            here = room
            verb, _, thing = command.partition(" ")
            if verb == "open":
                if thing in opened:
                    continue
                opened.add(thing)
            commands.append(command)
        return self._named(start, commands)

    def _named(self, room: str, commands: Iterable[str]) -> list[str]:
        named = []
        for here, command in _rooms(commands, room, self.exits):
            verb, _, direction = command.partition(" ")
            named.append(exit_label(self.rooms[here], direction) if verb == "go" else command)
        return named

    def _way(self, here: str, there: str, opened: set[str]) -> Iterator[str]:
        """The shortest way between two rooms; doors on it are added to those opened."""
        came: dict[str, tuple[str, Exit]] = {}
        ahead = deque([here])
        while ahead and there not in came and there != here:
            room = ahead.popleft()
            for exit_ in self.exits[room]:
                if exit_.to not in came and exit_.to != here and not exit_.locked:
                    came[exit_.to] = room, exit_
                    ahead.append(exit_.to)
        legs: list[Exit] = []
        while there != here:
            there, leg = came[there]
            legs.append(leg)
        for leg in reversed(legs):
            if leg.door and leg.door not in opened:
                opened.add(leg.door)
                yield f"open {leg.door}"
            yield f"go {leg.direction}"


def read_sheet(path: Path) -> Sheet:
    """The sheet of a game from the `.json` that TextWorld keeps beside it."""
    try:
        data = json.loads(path.read_text())
        names = {key: info["name"] or key for key, info in data["infos"]}
        facts = [(f["name"], [a["name"] for a in f["arguments"]]) for f in data["world"]]
        walkthrough = _needed(data["metadata"]["walkthrough"])
        family = _family(data["metadata"])
        (start,) = (of[1] for name, of in facts if name == "at" and of[0] == "P")
        objective = data["objective"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} does not describe a TextWorld game: {error!r}") from error
    exits = _exits(facts, names)
    doors = {names[of[1]] for name, of in facts if name == "link"}
    doings = tuple(
        (room, command)
        for room, command in _rooms(walkthrough, start, exits)
        if not command.startswith("go ") and command.removeprefix("open ") not in doors
    )
    return Sheet(
        family,
        _goal(family, objective, _thing(walkthrough)),
        start,
        {of: names[of] for of in sorted({start, *exits})},
        exits,
        walkthrough,
        doings,
    )


def _needed(walkthrough: list[str]) -> tuple[str, ...]:
    """Stock walkthroughs look into the bag, lay things down only to take them again, and such."""
    needed: list[str] = []
    for command in walkthrough:
        verb = command.partition(" ")[0]
        again = verb == "open" and command in needed
        held = verb == "take" and any(
            c == command or c.startswith(f"{command} from ") for c in needed
        )
        if not (again or held or verb == "drop" or command in ("inventory", "look")):
            needed.append(command)
    return tuple(needed)


def _family(metadata: dict[str, str]) -> str:
    if "recipe" in metadata:
        return "cooking"
    family = metadata["desc"].lower().replace(" ", "_")
    if family not in FAMILIES:
        raise ValueError(f"no family is called {family}")
    return family


def _thing(walkthrough: tuple[str, ...]) -> str:
    """What the last command of a hunt takes."""
    return walkthrough[-1].removeprefix("take ").partition(" from ")[0]


def _goal(family: str, objective: str, thing: str) -> str:
    """Stock objectives of two families spell out the route: those are never shown."""
    if family == "cooking":
        return _COOKING
    if _ONE_SENTENCE.fullmatch(objective.strip()):
        return objective.strip()
    return f"Find the {thing} and take the {thing}."


def _exits(
    facts: list[tuple[str, list[str]]], names: dict[str, str]
) -> dict[str, tuple[Exit, ...]]:
    state = {of[0]: name for name, of in facts if name in ("closed", "locked")}
    doors = {(of[0], of[2]): of[1] for name, of in facts if name == "link"}
    found: dict[str, list[Exit]] = {}
    for name, of in sorted(facts):
        direction = name.removesuffix("_of")
        if direction not in _DIRECTIONS or len(of) != 2:
            continue
        to, room = of
        door = doors.get((room, to), "")
        closed = names[door] if door in state else ""
        found.setdefault(room, []).append(Exit(direction, to, closed, state.get(door) == "locked"))
    return {room: tuple(exits) for room, exits in found.items()}


def _rooms(
    commands: Iterable[str], room: str, exits: dict[str, tuple[Exit, ...]]
) -> Iterator[tuple[str, str]]:
    """Each command with the room where it is given."""
    for command in commands:
        yield room, command
        verb, _, direction = command.partition(" ")
        if verb == "go":
            room = next(e.to for e in exits[room] if e.direction == direction)


def _spread(exits: dict[str, tuple[Exit, ...]], start: str) -> list[str]:
    reached = [start]
    for room in reached:
        reached += [e.to for e in exits[room] if e.to not in reached and not e.locked]
    return reached


def _run(commands: Iterator[str]) -> None:
    for _ in commands:
        pass

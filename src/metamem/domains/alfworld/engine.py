"""The rules of ALFWorld, from scratch: the same texts, admissible commands and scores as the
official engine, thousands of times faster because nothing is planned or grounded.
"""

from collections.abc import Iterable

from metamem.core.types import Observation
from metamem.domains.alfworld.game import CHANGING, Game
from metamem.domains.alfworld.goals import CLEAN, COOL, HEAT, LOOK, TWO
from metamem.domains.alfworld.naming import listing

NOTHING = "Nothing happens."
_KNIVES = frozenset({"knife", "butterknife"})
_SINKS = frozenset({"sinkbasin", "sink"})
# The fact that must hold of the object, and the one that says it can.
_PROCESSES = {
    CLEAN: ("isclean", "cleanable"),
    COOL: ("iscool", "coolable"),
    HEAT: ("ishot", "heatable"),
}

_HELP_LINES = (
    ("look", "look around your current location"),
    ("inventory", "check your current inventory"),
    ("go to (receptacle)", "move to a receptacle"),
    ("open (receptacle)", "open a receptacle"),
    ("close (receptacle)", "close a receptacle"),
    ("take (object) from (receptacle)", "take an object from a receptacle"),
    ("move (object) to (receptacle)", "place an object in or on a receptacle"),
    ("examine (something)", "examine a receptacle or an object"),
    ("use (object)", "use an object"),
    ("heat (object) with (receptacle)", "heat an object using a receptacle"),
    ("clean (object) with (receptacle)", "clean an object using a receptacle"),
    ("cool (object) with (receptacle)", "cool an object using a receptacle"),
    ("slice (object) with (object)", "slice an object using a sharp object"),
)
# The official text pads every label to 34 characters but that of `move`.
HELP = "Available commands:\n" + "".join(
    f"  {label + ':':<{32 if label.startswith('move') else 34}}{meaning}\n"
    for label, meaning in _HELP_LINES
)


class AlfworldWorld:
    """One game being played. Score and end are those of the current state, never latched."""

    def __init__(self, game: Game) -> None:
        self._game = game
        goal = game.goal
        self._goal_things = [i for i, t in enumerate(game.things) if t.type == goal.object]
        self._goal_places = [i for i, r in enumerate(game.receptacles) if r.type == goal.target]
        self._lamps = [
            i
            for i, t in enumerate(game.things)
            if t.type == goal.target and "toggleable" in t.fixed
        ]
        self.reset()

    def reset(self) -> Observation:
        game = self._game
        self._at = game.start
        self._held: int | None = None
        self._opened = set(game.opened)
        self._contents: list[set[int]] = [set() for _ in game.receptacles]
        for thing, receptacle in game.placed:
            self._contents[receptacle].add(thing)
        self._lying: dict[str, set[int]] = {}
        for thing, location in game.lying:
            self._lying.setdefault(location, set()).add(thing)
        self._removed: set[tuple[int, int]] = set()
        self._states = {fact: set(game.states[fact]) for fact in CHANGING}
        self._look_around()
        everything = listing([f"a {r.name}" for r in game.receptacles])
        return self._observe(
            "-= Welcome to TextWorld, ALFRED! =-\n\n"
            "You are in the middle of a room. Looking quickly around you, you see "
            f"{everything}.\n\nYour task is to: {game.sentence}."
        )

    def step(self, action: str) -> Observation:
        command = action.strip()
        # The official engine compares whole commands too: there is nothing to parse leniently.
        if command not in self._actions:
            return self._observe(NOTHING)
        return self._observe(self._apply(command))

    def close(self) -> None:
        """Nothing to let go of."""

    def _observe(self, text: str) -> Observation:
        return Observation(text, self._actions, 1.0 if self._won else 0.0, self._won)

    def _look_around(self) -> None:
        """After a change: what can be done now, and whether the goal holds."""
        self._actions = self._admissible()
        self._won = self._reached()

    # --- commands -----------------------------------------------------------------------------

    def _apply(self, command: str) -> str:
        """Do an admissible command and say what the agent reads."""
        verb, _, rest = command.partition(" ")
        match verb:
            case "look":
                return self._describe_place()
            case "inventory":
                return self._describe_hand()
            case "help":
                return HELP
            case "examine":
                receptacle = self._game.receptacle_by_name.get(rest)
                if receptacle is None:
                    return self._describe_thing(self._game.thing_by_name[rest])
                return self._describe_receptacle(receptacle)
        text = self._change(verb, rest)
        self._look_around()
        return text

    def _change(self, verb: str, rest: str) -> str:
        receptacles = self._game.receptacle_by_name
        things = self._game.thing_by_name
        match verb:
            case "go":
                name = rest.removeprefix("to ")
                self._at = self._game.receptacles[receptacles[name]].location
                return f"You arrive at {name}. {self._describe_receptacle(receptacles[name])}"
            case "open":
                self._opened.add(receptacles[rest])
                return f"You open the {rest}. {self._describe_receptacle(receptacles[rest])}"
            case "close":
                self._opened.remove(receptacles[rest])
                return f"You close the {rest}."
            case "use":
                self._states["istoggled"].add(things[rest])
                return f"You turn on the {rest}."
            case "take":
                name, _, place = rest.partition(" from ")
                self._take(things[name], receptacles[place])
                return f"You pick up the {name} from the {place}."
            case "move":
                name, _, place = rest.partition(" to ")
                self._put(things[name], receptacles[place])
                return f"You move the {name} to the {place}."
        name, _, tool = rest.partition(" with ")
        thing = things[name]
        match verb:
            case "clean":
                self._states["isclean"].add(thing)
            case "heat":
                self._states["ishot"].add(thing)
                self._states["iscool"].discard(thing)
            case "cool":
                self._states["iscool"].add(thing)
                self._states["ishot"].discard(thing)
            case "slice":
                self._states["issliced"].add(thing)
                return f"You sliced the {name} with the {tool}."
        return f"You {verb} the {name} using the {tool}."

    def _take(self, thing: int, receptacle: int) -> None:
        # Other receptacles that hold the thing too keep listing it, as in the official engine.
        self._contents[receptacle].remove(thing)
        self._removed.add((thing, receptacle))
        self._lying.get(self._at, set()).discard(thing)
        self._held = thing

    def _put(self, thing: int, receptacle: int) -> None:
        self._contents[receptacle].add(thing)
        self._removed.discard((thing, receptacle))
        self._lying.setdefault(self._at, set()).add(thing)
        self._held = None

    # --- what can be done, and whether it is done ---------------------------------------------

    def _admissible(self) -> tuple[str, ...]:
        """All commands that would do something here, sorted, as the official engine lists them."""
        game = self._game
        held = None if self._held is None else game.things[self._held]
        before: list[str] = []  # verbs that sort before `go to`
        after = ["help", "inventory", "look"]  # and after it
        for index in game.at_location.get(self._at, ()):
            place = game.receptacles[index]
            before.append(f"examine {place.name}")
            accessible = not place.openable or index in self._opened
            if place.openable:
                if accessible:
                    before.append(f"close {place.name}")
                else:
                    after.append(f"open {place.name}")
            for number in self._contents[index]:
                thing = game.things[number]
                if held is None and accessible and "pickupable" in thing.fixed:
                    after.append(f"take {thing.name} from {place.name}")
                if "toggleable" in thing.fixed:
                    after.append(f"use {thing.name}")
            if held is None:
                continue
            if accessible and (place.type, held.type) in game.accepts:
                after.append(f"move {held.name} to {place.name}")
            if place.type == "microwave" and "heatable" in held.fixed:
                after.append(f"heat {held.name} with {place.name}")
            elif place.type == "fridge" and "coolable" in held.fixed:
                before.append(f"cool {held.name} with {place.name}")
            elif place.type in _SINKS and "cleanable" in held.fixed:
                before.append(f"clean {held.name} with {place.name}")
        if held is not None:
            before.append(f"examine {held.name}")
            if held.type in _KNIVES:
                after.extend(
                    f"slice {game.things[number].name} with {held.name}"
                    for number in self._lying.get(self._at, ())
                    if "sliceable" in game.things[number].fixed
                )
        # A lamp in two receptacles here would be offered twice: hence the set.
        return (*sorted(before), *game.routes[self._at], *sorted(set(after)))

    def _reached(self) -> bool:
        game = self._game
        kind = game.goal.kind
        if kind == LOOK:
            return self._held in self._goal_things and any(
                lamp in self._states["istoggled"] and lamp in self._contents[place]
                for place in game.at_location.get(self._at, ())
                for lamp in self._lamps
            )
        wanted: list[int] = self._goal_things
        if kind in _PROCESSES:
            done, possible = _PROCESSES[kind]
            processed = self._states[done]
            wanted = [i for i in wanted if i in processed and possible in game.things[i].fixed]
        needed = 2 if kind == TWO else 1
        if len(wanted) < needed:
            return False
        return any(
            len(self._contents[place].intersection(wanted)) >= needed for place in self._goal_places
        )

    # --- texts --------------------------------------------------------------------------------

    def _list_things(self, numbers: Iterable[int]) -> str:
        return listing([f"a {self._game.things[number].name}" for number in sorted(numbers)])

    def _describe_receptacle(self, index: int) -> str:
        place = self._game.receptacles[index]
        if not place.openable:
            return f"On the {place.name}, you see {self._list_things(self._contents[index])}."
        if index not in self._opened:
            return f"The {place.name} is closed."
        return (
            f"The {place.name} is open. In it, you see {self._list_things(self._contents[index])}."
        )

    def _describe_hand(self) -> str:
        if self._held is None:
            return "You are not carrying anything."
        return f"You are carrying: a {self._game.things[self._held].name}."

    def _describe_place(self) -> str:
        game = self._game
        here = game.at_location.get(self._at, ())
        if not here:
            return "You are in the middle of a room. Looking quickly around you, you see nothing."
        # Only what was taken from a receptacle here and put into another one here is listed, once
        # for every receptacle it was taken from.
        beside = [
            f"a {game.things[number].name}"
            for number in sorted(self._lying.get(self._at, ()))
            for index in here
            if (number, index) in self._removed
        ]
        facing = listing([game.receptacles[index].name for index in here])
        return f"You are facing the {facing}. Next to it, you see {listing(beside)}."

    def _describe_thing(self, number: int) -> str:
        thing = self._game.things[number]
        if "isreceptacleobject" in thing.fixed:
            inner = self._list_things(i for i, outer in self._game.inside if outer == number)
            return f"This is a normal {thing.name}. In it, you see {inner}."
        clean, sliced = number in self._states["isclean"], number in self._states["issliced"]
        warmth = (
            "hot"
            if number in self._states["ishot"]
            else "cool"
            if number in self._states["iscool"]
            else ""
        )
        if warmth == "cool" and not clean and not sliced:
            warmth = "cold"  # the one place where the official text does not say cool
        state = " and ".join(word for word in (warmth, "clean" if clean else "") if word)
        if not state:
            if "toggleable" in thing.fixed:
                switch = "on" if number in self._states["istoggled"] else "off"
                return f"This {thing.name} is {switch}."
            if not (sliced and "sliceable" in thing.fixed):
                return f"There's nothing special about {thing.name}."
        words = [word for word in (state, "sliced" if sliced else "") if word]
        return f"This is a {' '.join(words)} {thing.name}."

"""One game as data, and how it is read from an official `game.tw-pddl` file."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError
from metamem.domains.alfworld.goals import Goal, parse_goal
from metamem.domains.alfworld.naming import display_names

Pairs = frozenset[tuple[int, int]]
TypePairs = frozenset[tuple[str, str]]

# Facts about an object that never change, and those that actions may change.
FIXED = [
    "pickupable",
    "cleanable",
    "heatable",
    "coolable",
    "sliceable",
    "toggleable",
    "isreceptacleobject",
]
CHANGING = ["isclean", "ishot", "iscool", "issliced", "istoggled"]
_RELATIONS = [
    "atlocation",
    "receptacleatlocation",
    "receptacletype",
    "objecttype",
    "objectatlocation",
    "inreceptacle",
    "inreceptacleobject",
    "cancontain",
    "openable",
    "opened",
]
_KNOWN = frozenset([*FIXED, *CHANGING, *_RELATIONS])

_FACT = re.compile(r"\(\s*(\w+)\s+(\w+)(?:\s+(\w+))?\s*\)")
_SENTENCE = re.compile(r"Your task is to: (.*?)\.\"")


@dataclass(frozen=True, slots=True)
class Receptacle:
    """A place that holds objects. It never moves."""

    id: str
    name: str
    type: str
    location: str
    openable: bool


@dataclass(frozen=True, slots=True)
class Thing:
    """An object; `fixed` are the facts about it that never change."""

    id: str
    name: str
    type: str
    fixed: frozenset[str]


@dataclass(frozen=True)
class Game:
    """A game at its start. Receptacles and things are in id order and known by position."""

    start: str
    receptacles: tuple[Receptacle, ...]
    things: tuple[Thing, ...]
    placed: Pairs  # (thing, receptacle); a thing may be in several
    lying: frozenset[tuple[int, str]]  # (thing, location); need not agree with `placed`
    inside: Pairs  # (inner thing, outer thing)
    accepts: TypePairs  # (receptacle type, thing type)
    opened: frozenset[int]
    states: Mapping[str, frozenset[int]]  # changing fact → the things it holds for
    goal: Goal
    sentence: str
    walkthrough: tuple[str, ...] = field(repr=False)

    @cached_property
    def receptacle_by_name(self) -> dict[str, int]:
        return {r.name: i for i, r in enumerate(self.receptacles)}

    @cached_property
    def thing_by_name(self) -> dict[str, int]:
        return {t.name: i for i, t in enumerate(self.things)}

    @cached_property
    def at_location(self) -> dict[str, tuple[int, ...]]:
        """Which receptacles stand at a location."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for index, receptacle in enumerate(self.receptacles):
            found[receptacle.location].append(index)
        return {location: tuple(indices) for location, indices in found.items()}

    @cached_property
    def routes(self) -> dict[str, tuple[str, ...]]:
        """The sorted `go to` commands from every location that can be reached."""
        ways = sorted((f"go to {r.name}", r.location) for r in self.receptacles)
        return {
            here: tuple(command for command, location in ways if location != here)
            for here in (self.start, *self.at_location)
        }


# Nearly every game accepts the same pairs of types: keep one copy of each distinct set.
_ACCEPTS: dict[TypePairs, TypePairs] = {}


def load_game(path: str | Path) -> Game:
    """Read a game file; DataError names the file and what is wrong with it."""
    path = Path(path)
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot read the game {path}: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{path} is not a game: not JSON ({error})") from error
    return parse_game(content, str(path))


def parse_game(content: Any, origin: str = "game") -> Game:
    """A game from the content of its file. `origin` names it in errors."""
    try:
        return _parse(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise DataError(f"{origin} is not a readable ALFWorld game: {what}") from error


def read_sentence(content: Mapping[str, Any]) -> str:
    """The goal sentence, which only the grammar text holds."""
    found = _SENTENCE.search(content["grammar"])
    if found is None:
        raise ValueError("its grammar has no sentence 'Your task is to: ...'")
    return found[1]


def _parse(content: Mapping[str, Any]) -> Game:
    problem = content["pddl_problem"].lower()
    start = problem.find("(:init")
    end = problem.find("(:goal")
    if not 0 <= start < end:
        raise ValueError("its problem has no (:init ...) followed by (:goal ...)")
    single: defaultdict[str, list[str]] = defaultdict(list)
    double: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    mentioned: set[str] = set()
    facts = _FACT.findall(problem, start, end)
    if len(facts) != problem.count("(", start, end) - 1:
        raise ValueError("its initial state holds something that is not a plain fact")
    for predicate, first, second in facts:
        if second:
            double[predicate].append((first, second))
            if predicate != "cancontain":  # types only, and they are most of the file
                mentioned.add(first)
                mentioned.add(second)
        else:
            single[predicate].append(first)
            mentioned.add(first)
    unknown = sorted((single.keys() | double.keys()) - _KNOWN)
    if unknown:
        raise ValueError(f"its initial state uses unknown facts: {', '.join(unknown)}")

    names = display_names(mentioned)
    openable = set(single["openable"])
    location = dict(double["receptacleatlocation"])
    receptacles = tuple(
        Receptacle(i, names[i], _bare(t), location[i], i in openable)
        for i, t in sorted(double["receptacletype"])
    )
    marked = {fact: set(single[fact]) for fact in (*FIXED, *CHANGING)}
    things = tuple(
        Thing(i, names[i], _bare(t), _FIXED_SETS[tuple(f for f in FIXED if i in marked[f])])
        for i, t in sorted(double["objecttype"])
    )
    receptacle = {r.id: i for i, r in enumerate(receptacles)}
    thing = {t.id: i for i, t in enumerate(things)}
    if len(receptacle) != len(receptacles) or len(thing) != len(things) or not receptacles:
        raise ValueError("it needs receptacles, and one type for each receptacle and object")
    starts = [place for _, place in double["atlocation"]]
    if len(starts) != 1 or starts[0] in location.values():
        raise ValueError("the agent must start at exactly one location, without a receptacle")
    accepts = frozenset((_bare(r), _bare(t)) for r, t in double["cancontain"])
    return Game(
        start=starts[0],
        receptacles=receptacles,
        things=things,
        placed=frozenset((thing[o], receptacle[r]) for o, r in double["inreceptacle"]),
        lying=frozenset((thing[o], place) for o, place in double["objectatlocation"] if o in thing),
        inside=frozenset((thing[i], thing[o]) for i, o in double["inreceptacleobject"]),
        accepts=_ACCEPTS.setdefault(accepts, accepts),
        opened=frozenset(receptacle[r] for r in single["opened"]),
        states={f: frozenset(thing[o] for o in marked[f]) for f in CHANGING},
        goal=parse_goal(problem[end:]),
        sentence=read_sentence(content),
        walkthrough=tuple(content["walkthrough"]),
    )


class _FixedSets(dict[tuple[str, ...], frozenset[str]]):
    """Few combinations of fixed facts exist: share their sets."""

    def __missing__(self, facts: tuple[str, ...]) -> frozenset[str]:
        return self.setdefault(facts, frozenset(facts))


_FIXED_SETS = _FixedSets()


def _bare(type_name: str) -> str:
    return type_name.removesuffix("type")

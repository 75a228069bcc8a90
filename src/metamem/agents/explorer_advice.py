"""Advice as one who acts step by step reads it: ways to go, likings, and what to keep from.

A line is a step where it says an action and nothing else that matters: `up`, `3. go up`, `> up`,
`up, up, then left`, `left x3`. Steps that are numbered, quoted or in one line are a way, to be gone
in order; points of a list are likings, best first. What stands above them says whether they were
good. Lines in between, such as what was seen on the way, say where on the way one is.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from metamem.agents.advice import CLAUSE, SAYS_BAD, lines_of
from metamem.agents.places import same_places
from metamem.agents.text import tokens

Words = tuple[str, ...]
Sight = frozenset[str]  # what is seen, as its lines

_POINT = re.compile(r"^[-*•]+\s+")
_ORDINAL = re.compile(r"^(?:>+|(?:step\s+)?\(?(\d{1,3})[.):](?=\s))\s*", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*\)")
_TIMES = re.compile(r"\s*(?:[x×*]\s*(\d{1,2})|(\d{1,2})\s*(?:[x×]|times))\s*$", re.IGNORECASE)
_JOINT = re.compile(r"\band\b", re.IGNORECASE)
_HEADS = re.compile(r"\b(?:reward|episode|similar|attempt|example|task)s?\b", re.IGNORECASE)
_MOST_REPEATS = 30
_ALIKE = 0.5  # what shares fewer of its lines is another situation
_STEP_WORDS = 6  # a numbered line of more words tells something else than a step


@dataclass(frozen=True, slots=True)
class Line:
    """A line of advice, and what it would have one do if all of it names actions."""

    text: str
    steps: tuple[Words, ...]
    listed: bool  # marked as a point, a number or a quotation
    point: bool  # a point of a list: a liking, no step of a way
    numbered: bool  # marked by a number
    first: bool  # a new way begins here, at the latest: numbered one, or after a gap without mark
    heads: bool  # speaks of an episode as a whole: what follows is another one
    bad: bool  # says that something was not good


class WayStep(NamedTuple):
    action: str  # empty: one that was never possible so far
    sight: Sight  # what had been seen just before it; empty where nothing was told


@dataclass(slots=True)
class Way:
    """Actions to be done in order."""

    good: bool = True
    steps: list[WayStep] = field(default_factory=list)
    trust: float = 1.0
    position: int = 0  # the step expected next
    taken: Counter[tuple[str, str]] = field(default_factory=Counter)  # its steps, by situation

    @property
    def pictured(self) -> bool:
        """Whether it tells what was seen on the way; what stands above it is only a heading."""
        return any(step.sight for step in self.steps[1:])

    @property
    def known(self) -> bool:
        """Whether any step of it has been possible so far."""
        return any(step.action for step in self.steps)

    def locate(self, now: Sight) -> float:
        """Go to the step before which the way looked most like now; how much alike, 0 to 1.

        A way that tells nothing of what was seen is taken at its word.
        """
        if not self.pictured:
            return 1.0
        best, place = 0.0, self.position
        for n, step in enumerate(self.steps):
            if step.sight:
                alike = len(step.sight & now) / len(step.sight | now)
                if alike > best or (alike == best and place < self.position <= n):
                    best, place = alike, n
        if best > _ALIKE:
            self.position = place
        return best

    def follow(self, here: str, action: str) -> None:
        if self.position < len(self.steps) and self.steps[self.position].action == action:
            self.position += 1
            self.taken[here, action] += 1

    @property
    def insists(self) -> bool:
        """Whether it tells the same step again: it means it, though nothing changed."""
        at = self.position
        return 0 < at < len(self.steps) and self.steps[at].action == self.steps[at - 1].action


@dataclass(slots=True)
class Told:
    """What a text of advice comes to, among the actions known so far."""

    ways: list[Way] = field(default_factory=list)  # good ones
    likings: dict[str, float] = field(default_factory=dict)  # action → -1 to 1


@lru_cache(maxsize=4096)
def read_sight(text: str) -> Sight:
    """How a text was laid out does not matter, only what its lines say."""
    return frozenset(" ".join(words) for line in text.splitlines() if (words := tokens(line)))


@lru_cache(maxsize=256)
def read_lines(advice: str) -> tuple[Line, ...]:
    """What can be said of each line before any action is known."""
    lines: list[Line] = []
    gap = True
    for text in lines_of(advice):
        bare = text.strip().strip("{}[]\"', ")
        if not bare:
            gap = True
            continue
        point, ordinal = _POINT.match(bare), _ORDINAL.match(bare)
        marker = point or ordinal
        said = bare[marker.end() :] if marker else bare
        first = ordinal[1] in ("0", "1") if ordinal else gap and not point
        numbered = bool(ordinal and ordinal[1] and not point)
        lines.append(_line(said, bool(marker), bool(point), numbered, first))
        gap = False
    return tuple(lines)


@lru_cache(maxsize=8192)
def _line(said: str, listed: bool, point: bool, numbered: bool, first: bool) -> Line:
    heads, bad = bool(_HEADS.search(said)), bool(SAYS_BAD.search(said))
    return Line(said, _steps(said), listed, point, numbered, first, heads, bad)


def _steps(said: str) -> tuple[Words, ...]:
    _, colon, rest = said.rpartition(": ")
    body = _ASIDE.sub("", rest if colon else said).strip().strip("[]'\"")
    steps: list[Words] = []
    for part in CLAUSE.split(body):
        for piece in _JOINT.split(part):
            times = _TIMES.search(piece)
            count = min(int(times[1] or times[2]), _MOST_REPEATS) if times else 1
            words = tokens(piece[: times.start()] if times else piece)
            if words:
                steps += [words] * count
    return tuple(steps)


def read_told(advice: str, actions: Mapping[Words, str]) -> Told:
    """Ways and likings in a text. Lines that name no known action are what was seen or said; but a
    short one that is numbered among steps is a step too, of an action that is yet to be met.
    """
    told = Told()
    way = Way()
    points: list[str] = []
    seen: list[str] = []
    for line in read_lines(advice):
        named = _named(line, actions) or ([""] if _unmet(line) else [])
        if not named:
            if (way.steps or points) and line.heads:
                _end(told, way, points)
                way, points, seen = Way(), [], []
            if way.good and not way.steps and not points:
                way.good = not line.bad
            seen.append(line.text)
        elif line.point and len(named) == 1:
            points += named
        else:
            if line.first and way.steps:
                _end(told, way, points)
                way, points = Way(good=not any(SAYS_BAD.search(text) for text in seen)), []
            for action in named:
                way.steps.append(WayStep(action, read_sight("\n".join(seen))))
                seen = []
    _end(told, way, points)
    return told


def keep_ways(before: Sequence[Way], now: Sequence[Way]) -> None:
    """Go on where one was: a way that was told before and is told again is not begun anew."""
    known = same_places(
        [([step.action for step in way.steps], way.position) for way in before],
        [[step.action for step in way.steps] for way in now],
        beginnings=False,
    )
    for way, place in zip(now, known, strict=True):
        if place is not None:
            old = before[place.before]
            way.position, way.trust, way.taken = place.position, old.trust, old.taken


def _named(line: Line, actions: Mapping[Words, str]) -> list[str]:
    """The actions that a line says, if it says nothing else. In a list one word may come first,
    as in `1. go up`; elsewhere that would take descriptions such as `door up` for steps.
    """
    named = []
    for words in line.steps:
        action = actions.get(words) or (actions.get(words[1:]) if line.listed else None)
        if action is None:
            return []
        named.append(action)
    return named


def _unmet(line: Line) -> bool:
    return line.numbered and len(line.steps) == 1 and len(line.steps[0]) <= _STEP_WORDS


def _end(told: Told, way: Way, points: list[str]) -> None:
    if way.good and way.steps:
        told.ways.append(way)
    for rank, action in enumerate(dict.fromkeys(points)):
        told.likings.setdefault(action, 1 - rank / len(points) if way.good else -1.0)
    if not way.good and not way.pictured:
        for step in way.steps:
            if step.action:
                told.likings.setdefault(step.action, -1.0)

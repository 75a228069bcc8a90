"""Maps by world: where one could do what, what was read there, and the way from here.

Episodes that share rare sentences were in the same world. There, the things that the goal names are
gone for and dealt with as it paid anywhere. Where dealing with a thing of the goal gave lines to read
that name further things, those are gone for instead, and the lines are then done in order.

    >>> from metamem.designs import Step
    >>> out, back = ("go east", "take lamp"), ("go east",)
    >>> walk = (Step("go east", "Hall", ("take lamp",)), Step("take lamp", "Yours.", (), 1.0))
    >>> atlas = Atlas()
    >>> atlas.learn(Experience("take the lamp", "Yard", ("go east",), walk, 1.0))
    >>> atlas.way("take the lamp", "Yard")
    ['go east', 'take lamp']
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from metamem.core.types import Experience, Step
from metamem.designs.text import content_words
from metamem.designs.thinking.association import kin
from metamem.designs.thinking.frames import SLOT, fill, parse
from metamem.designs.thinking.routes import Routes, head
from metamem.designs.thinking.worlds import RARE, Worlds

SAME = 3  # moves that led to the same place, and none elsewhere: two episodes of one world
_FAR = 1000.0
_NAME = re.compile(r"[\w-]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    return tuple(s.strip() for s in _SENTENCE.split(text) if s.strip())


def named(text: str, things: Iterable[str]) -> list[str]:
    """The things that a text names, each by its whole name, none that is part of a longer one."""
    padded = " ".join(["", *_NAME.findall(text.lower()), ""])
    found: list[str] = []
    for thing in sorted(set(things), key=lambda name: (-len(name), name)):
        if f" {thing.lower()} " in padded:
            padded = padded.replace(f" {thing.lower()} ", "  ")
            found.append(thing)
    return found


@dataclass
class World:
    """What is known of one world."""

    routes: Routes = field(default_factory=Routes)
    first: dict[str, str] = field(default_factory=dict)  # action → where it was first possible
    read: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # thing → place, text

    def learn(self, experience: Experience) -> None:
        here = head(experience.observation)
        self._possible(here, experience.actions)
        for here, step in self.routes.watch(experience):
            there = head(step.observation)
            if self.routes.is_place(there, step.action):
                here = there
            else:
                for thing in parse(step.action).fillers:
                    self.read.setdefault(thing, []).append((here, step.observation))
            self._possible(here, step.actions)

    def _possible(self, place: str, actions: Iterable[str]) -> None:
        for action in actions:
            self.first.setdefault(action, place)

    def things(self) -> set[str]:
        return {thing for action in self.first for thing in parse(action).fillers}


@dataclass
class Atlas:
    """Episodes by world, and what paid in any of them."""

    lived: list[Experience] = field(default_factory=list)
    worlds: Worlds = field(default_factory=Worlds)
    paid: Counter[str] = field(default_factory=Counter)  # frame → how often the reward then rose
    frames: dict[str, set[str]] = field(default_factory=dict)  # thing → what it was ever first in
    said: dict[str, Counter[str]] = field(default_factory=dict)  # word → what was done, if told so
    ends: Counter[str] = field(default_factory=Counter)  # frame → how often it used a thing up
    walked: list[dict[str, str]] = field(default_factory=list)  # by episode: move → where it led
    known: dict[int, World] = field(default_factory=dict)  # by the likeliest episode

    def learn(self, experience: Experience) -> None:
        self.known = {}
        self.lived.append(experience)
        self.worlds.add(_marks(experience.observation, experience.actions, experience.steps))
        alone = World()
        alone.learn(experience)
        moves = alone.routes.moves.items()
        self.walked.append(
            {f"{here} > {a}": max(to) for here, own in moves for a, to in own.items()}
        )
        best = 0.0
        for step in experience.steps:
            frame, fillers = parse(step.action)
            self.paid[frame] += step.reward > best
            best = max(best, step.reward)
            if len(fillers) > 1:
                by = f"{frame.split()[0]} {SLOT} {frame.split()[-2]} {fillers[-1]}"
                for word in set(content_words(step.observation)) - set(content_words(step.action)):
                    self.said.setdefault(word, Counter())[by] += 1
            if len(fillers) == 1:
                left = any(fillers[0] in parse(action).fillers for action in step.actions)
                self.ends[frame] += -1 if left else 1
            for action in step.actions:
                frame, fillers = parse(action)
                if fillers:
                    self.frames.setdefault(fillers[0], set()).add(frame)

    def world(self, goal: str, marks: list[str]) -> World | None:
        """The world that one is most likely in; rather one where the goal was the same."""
        likely = self.worlds.of(marks)
        same = [number for number, past in enumerate(self.lived) if past.goal == goal]
        if same and (len(same) <= RARE * len(self.lived) or len(same) < 3):
            likely = [n for n in likely if n in same] + [n for n in same if n not in likely]
        if not likely:
            return None
        best = likely[0]
        if best not in self.known:
            self.known[best] = World()
            for number in [best, *(n for n in range(len(self.lived)) if self._same(best, n))]:
                self.known[best].learn(self.lived[number])
        return self.known[best]

    def _same(self, one: int, other: int) -> bool:
        mine, theirs = self.walked[one], self.walked[other]
        both = [mine[move] == theirs[move] for move in mine if move in theirs]
        return one != other and all(both) and len(both) >= SAME

    def way(
        self, goal: str, observation: str, actions: Iterable[str] = (), steps: Iterable[Step] = ()
    ) -> list[str]:
        """From here by way of the things that matter to what is to be done with them."""
        world = self.world(goal, _marks(observation, actions, steps))
        if world is None:
            return []
        walk = Walk(world, head(observation))
        things = world.things()
        wanted = named(goal, things)
        lines, place = self._lines(world, wanted)
        if lines:
            also = [thing for line in lines for thing in named(line, things)]
            wanted = [t for t in dict.fromkeys(also) if t not in wanted]
        tools: list[str] = []
        deals = [action for thing in wanted if (action := self._deal(world, thing))]
        if lines:
            tools = self._tools(world, wanted, {world.first[action] for action in deals}, goal)
            deals += tools
        while deals:
            nearest = min(deals, key=lambda action: walk.length(world.first[action]))
            deals.remove(nearest)
            walk.do(nearest, world.first[nearest])
        for line in lines:
            self._follow(walk, line, place, [parse(action).fillers[0] for action in tools])
        if lines and walk.told:
            self._end(walk, wanted)
        return walk.told

    def _end(self, walk: "Walk", wanted: list[str]) -> None:
        """What came of it all is used up, as such things as went into it can be."""
        uses = set[str]().union(*(self.frames.get(thing, set()) for thing in wanted))
        last = parse(walk.told[-1]).fillers
        for frame in sorted(f for f in uses if self.ends[f] > 0 and f.count(SLOT) == 1):
            walk.told.append(fill(frame, last[:1]))

    def _lines(self, world: World, wanted: Iterable[str]) -> tuple[list[str], str]:
        """Lines that were read of a thing that is wanted, where several name things; and where."""
        things = world.things()
        for thing in wanted:
            for place, text in world.read.get(thing, ()):
                lines = [
                    line.strip()
                    for line in text.splitlines()
                    if _short(line) and named(line, things)
                ]
                if len(lines) > 1:
                    return lines, place
        return [], ""

    def _deal(self, world: World, thing: str) -> str:
        """What paid with things, of what could be done with this one where it first was."""
        own = [action for action in world.first if parse(action).fillers[:1] == (thing,)]
        paid = [action for action in own if self.paid[parse(action).frame] > 0]
        return paid[0] if paid else ""

    def _tools(self, world: World, wanted: list[str], places: set[str], goal: str) -> list[str]:
        """Things of another sort at the same places: what the wanted ones allow, they do not."""
        sorts = [self.frames.get(thing, set()) for thing in wanted]
        common = set.intersection(*sorts) if sorts else set()
        found = []
        for thing in sorted(world.things() - set(wanted) - set(named(goal, world.things()))):
            deal = self._deal(world, thing)
            if deal and world.first[deal] in places and not common <= self.frames.get(thing, set()):
                found.append(deal)
        return found

    def _follow(self, walk: "Walk", line: str, place: str, tools: list[str]) -> None:
        """Do what a line says: the action of the same words, or the one that is told so.

        What nobody did yet is tried as others were done, with a tool that is of no use else.
        """
        words, first = content_words(line), walk.world.first
        for action, where in first.items():
            if content_words(action) == words:
                return walk.do(action, where)
        thing = named(line, walk.world.things())[0]
        verbs = [word for word in words if word not in content_words(thing)]
        if not verbs:
            return None  # it names a thing, no more
        near = [word for word in self.said if word[0] == verbs[0][0] and self._treats(word)]
        told = self._treats(kin(verbs[0], near))
        if told:
            action = told[0].replace(SLOT, thing, 1)
            alike = [a for a in first if parse(a).fillers[1:] == parse(action).fillers[1:]]
            return walk.do(action, first[alike[0]] if alike else place)
        uses = self.frames.get(thing, set())
        usual = min((f for f in uses if f.count(SLOT) == 2 and not self.paid[f]), default="")
        for tool in tools if usual else ():
            rest = usual.split(" ", 1)[1]
            walk.do(f"{verbs[0]} {fill(rest, [thing, tool])}", place)
        return None

    def _treats(self, word: str) -> list[str]:
        """What was done when a word was told, without what only fetches things."""
        told = self.said.get(word, Counter[str]()).most_common()
        return [pattern for pattern, _ in told if not self.paid[parse(pattern).frame]]


def _short(line: str) -> bool:
    """Whether a line is no sentence: what is listed, or to be done."""
    return line.strip()[-1:].isalnum()


def _marks(observation: str, actions: Iterable[str], steps: Iterable[Step]) -> list[str]:
    """What tells where one is: sentences, and what can be done under which first line."""
    found = list(sentences(observation))
    found += [f"{head(observation)} > {action}" for action in actions]
    for step in steps:
        found += sentences(step.observation)
        found += [f"{head(step.observation)} > {action}" for action in step.actions]
    return found


@dataclass
class Walk:
    """Where one is on the map, and what was told so far."""

    world: World
    here: str
    told: list[str] = field(default_factory=list)

    def length(self, place: str) -> float:
        if place == self.here:
            return 0.0
        way = self.world.routes.route(self.here, place)
        return len(way.actions) if way else _FAR

    def do(self, action: str, place: str) -> None:
        """Go there and do it, each after what had to be done first."""
        routes = self.world.routes
        if place != self.here:
            way = routes.route(self.here, place)
            self.told += routes.spelled(self.here, way) if way else []
            self.here = place
        self.told += [a for a in routes.before(place, action) if a not in self.told]
        self.told.append(action)

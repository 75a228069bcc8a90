"""One plan for what the goal asks, as often as it asks for it, and for each thing where to look for it.

Stores: which steps of won episodes had to do with the goal's things; of each action its form and what filled
it; how often a look at a kind of place showed a kind of thing; what can first be done at a kind of place.
Retrieves: the steps that most such episodes share, with the goal's things in them and with what its words
mean by their spelling; below, for each thing, the kinds of places, the likeliest first.
Forgets: the order of the episodes and what was done in vain.
"""

import re
from collections import Counter

from metamem.designs import Experience, Memory, Query, Tools, text
from metamem.designs.thinking import phrasing, sightings, voting
from metamem.designs.thinking.association import kin
from metamem.designs.thinking.frames import Frames, fill, parse


class Finder(Memory):
    """Remembers where kinds of things are found, and which steps goals of a kind took."""

    LIKE = 0.55  # how alike a word of the goal and an action must be spelled
    DOUBT = 4.0  # how much it counts that a place shows many things
    NUMBERS = ("zero", "one", "two", "three", "four", "five")

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.ways = voting.Ways()
        self.seen = sightings.Sightings()
        self.frames = Frames()
        self.moves: Counter[str] = Counter()  # frame with one thing: how often possible at a start
        self.known: set[str] = set()  # words that actions were about
        self.said: Counter[str] = Counter()  # words of goals that are not known as things
        self.there: dict[str, Counter[str]] = {}  # kind of place: what could be done once there

    async def update(self, experience: Experience) -> None:
        self.seen.learn(experience)
        self.frames.learn(experience)
        for parsed in map(parse, experience.actions):
            if len(parsed.fillers) == 1:
                self.moves[parsed.frame] += 1
        for step in experience.steps:
            for action in step.actions:
                self.known.update(text.objects(action))
            parsed = parse(step.action)
            if parsed.frame == self._move():
                there = self.there.setdefault(text.kinds(parsed.fillers[0]), Counter())
                there[""] += 1
                there.update(
                    parse(a).frame for a in step.actions if parse(a).fillers == parsed.fillers
                )
        names = voting.names_in(experience.goal, self.known)
        self.said.update(self._about(experience.goal, names))
        if experience.reward > 0 and names:
            ends = names[-1] in self._places(experience.actions)
            self.ways.add(names, voting.useful(experience, names), [str(ends)])

    def _move(self) -> str:
        """What takes one to a place: what can be done to most things from the first."""
        return self.moves.most_common(1)[0][0] if self.moves else ""

    def _places(self, actions: tuple[str, ...]) -> dict[str, str]:
        """Each kind of place that one can go to, with the first of the kind."""
        places: dict[str, str] = {}
        for parsed in map(parse, actions):
            if parsed.frame == self._move():
                places.setdefault(text.kinds(parsed.fillers[0]), parsed.fillers[0])
        return places

    def _about(self, goal: str, names: list[str]) -> list[str]:
        return [w for w in text.content_words(goal) if w not in (*names, *self.NUMBERS)]

    def _names(self, goal: str, known: set[str]) -> list[str]:
        """The things of a goal; where too few are known, also the words that goals seldom have."""
        names = voting.names_in(goal, known)
        rare = sorted(reversed(self._about(goal, names)), key=lambda w: self.said[w])
        missing = max((len(way.names) for way in self.ways.ways), default=0) - len(names)
        return voting.names_in(goal, {*names, *rare[: max(0, missing)]})

    async def retrieve(self, query: Query) -> str:
        places = self._places(query.actions)
        names = self._names(query.goal, self.known | set(places))
        if not places or not names:
            return ""
        steps = []
        for pattern in self._unit(query.goal, names, places):
            action = re.sub(
                r"<(\d)>", lambda m: names[int(m[1])] if int(m[1]) < len(names) else "_", pattern
            )
            parsed = parse(action)
            if "_" in action:  # wherever it is: without the place
                action = action.split(" _")[0].rsplit(" ", 1)[0]
            elif parsed.fillers[-1] in places:
                place = places[parsed.fillers[-1]]
                action = fill(parsed.frame, [*parsed.fillers[:-1], place])
                steps.append(f"{fill(self._move(), [place])} with {names[0]}")
                if parsed.fillers[-1] == names[-1] and self._opens(names[-1]):
                    steps.append(fill(self._opens(names[-1]), [place]))
            steps.append(action)
        words = text.words(query.goal)
        times = max(self.NUMBERS.index(w) if w in words else 1 for w in self.NUMBERS)
        told = [phrasing.plan(steps * times)]
        for name in names:
            if name not in places:
                told.append(
                    phrasing.places(name, sorted(places, key=lambda p: (-self._chance(name, p), p)))
                )
        return "\n\n".join(filter(None, told))

    def _unit(self, goal: str, names: list[str], places: dict[str, str]) -> list[str]:
        """The steps for one thing: what is to be found first, then what else the goal asks for."""
        voted = [step.pattern for step in self.ways.vote([str(names[-1] in places)], names)]
        moves = {fill(self._move(), [f"<{i}>"]) for i in range(len(names))}
        unit = [p for p in dict.fromkeys(voted) if "<" in p and p not in moves]
        unit.sort(key=lambda p: "_" not in p)
        verbs = {
            text.first_word(f): f for f, use in self.frames.uses.items() if len(use.fillers) > 1
        }
        for word in self._about(goal, names):
            verb = kin(word, verbs, self.LIKE)
            if verb and not any(text.first_word(p) == verb for p in unit):
                where = self.frames.uses[verbs[verb]].fillers[1].most_common(1)[0][0]
                unit.insert(1, fill(verbs[verb], ["<0>", where]))
        return unit

    def _opens(self, place: str) -> str:
        """What mostly has to be done first at a place of this kind."""
        there = self.there.get(place, Counter())
        frames = (f for f, n in there.items() if f in self.frames.uses and n > there[""] / 2)
        return next((f for f in frames if f != self._move() and self.frames.uses[f].changed), "")

    def _chance(self, thing: str, place: str) -> float:
        """How likely an action at a place shows a thing, or else any thing."""
        any_thing = sum(self.seen.chance(t, place) for t in self.known) / max(1, len(self.known))
        return self.seen.chance(thing, place) + self.DOUBT * any_thing

"""The next action, word for word; asked again after every action.

Stores: for each kind of place how often it was looked at and which kinds of things it showed;
which frames of action (an action without its numbered things) show what a place holds, and what
fills them; words that describe a thing after an action on it; the steps of rewarded episodes.
Retrieves: one action: towards the likeliest place that was not looked at yet or, as soon as the thing of
the goal was seen, the next that is left to do with it.
Forgets: numbers of things, single rooms, and the order of places.
"""

import re
from collections import Counter, defaultdict

from metamem.designs import Experience, Memory, Query, Tools, Wait, text

THING = re.compile(r"\b([a-z]+) (\d+)\b")
Need = tuple[str, tuple[int, ...]]  # a frame, and which things of the goal fill it (-1: another)


def things(told: str) -> list[str]:
    return [m.group() for m in THING.finditer(told)]


def parse(action: str) -> tuple[str, list[str]]:
    """The frame of an action, and the numbered things that fill it."""
    return THING.sub("_", action), things(action)


def kind(thing: str) -> str:
    return thing.split()[0]


def fill(frame: str, *names: str) -> str:
    for name in names:
        frame = frame.replace("_", name, 1)
    return frame


class Seen:
    """What an episode has shown so far."""

    def __init__(self) -> None:
        self.at = ""  # the place where the agent is
        self.where: dict[str, str] = {}  # thing: place
        self.looked: set[str] = set()
        self.held: list[str] = []
        self.did: list[tuple[str, list[str]]] = []  # frames with what filled them


class NextStep(Memory):
    """Remembers where kinds of things were seen and which steps goals need; tells the next one."""

    PRIOR = 2.0  # looks without the thing that every kind of place starts with
    SHOWS = 0.2  # share of uses that showed something new: such a frame is a way of looking
    MOVES = 0.5  # share of uses after which other things can be done: such a frame does something
    LOST = 3  # goals with a word, none of them reached: it is not understood
    ALIKE = 0.3  # of a word and a frame's own word, by their vectors
    WINS = 2  # rewarded episodes with a word of the goal that have to agree on a step
    SHARE = 0.75  # of them at least have a step that is told
    NEARLY = 0.8  # of them at least have the same thing in its place

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.looks: Counter[str] = Counter()  # kind of place: how many were looked at
        self.seen: defaultdict[str, Counter[str]] = defaultdict(Counter)  # kind: place: looks
        self.wins: list[tuple[str, list[str]]] = []  # goal, actions
        self.words: Counter[str] = Counter()  # words of goals
        self.start: Counter[str] = Counter()  # frames possible at the start, with one thing
        self.done: Counter[str] = Counter()
        self.like: dict[str, str] = {}  # word: the frame whose own word is like it
        self.ends: Counter[str] = Counter()  # frame: episodes that were rewarded at it
        self.moved: Counter[str] = Counter()  # frame: times it changed what can be done
        self.shown: Counter[str] = Counter()  # frame: times it showed something new
        self.fills: defaultdict[str, Counter[str]] = defaultdict(Counter)  # frame: last filler
        self.called: defaultdict[str, Counter[str]] = defaultdict(Counter)  # word: frames before
        self.before: Counter[str] = Counter()  # frame: descriptions that came after it

    async def update(self, experience: Experience) -> None:
        start = [(frame, f[0]) for frame, f in map(parse, experience.actions) if len(f) == 1]
        self.start.update(frame for frame, _ in start)
        looks: dict[str, set[str]] = {}
        did: defaultdict[str, list[str]] = defaultdict(list)  # thing: frames done with it
        places = {place for _, place in start}
        seen = set(places)
        possible = set(experience.actions)
        for step in experience.steps:
            frame, fillers = parse(step.action)
            self.done[frame] += 1
            self.moved[frame] += possible != set(step.actions)
            possible = set(step.actions)
            for other, f in map(parse, step.actions):
                if f:
                    self.fills[other][kind(f[-1])] += 1
            if len(fillers) == 2:
                did[fillers[0]].append(frame)
            elif len(fillers) == 1 and fillers[0] in places:
                new = set(things(step.observation)) - seen
                self.shown[frame] += bool(new)
                looks.setdefault(fillers[0], set()).update(map(kind, new))
                seen |= new
            elif len(fillers) == 1:
                for word in text.content_words(step.observation):
                    self.called[word].update(did[fillers[0]])
                self.before.update(did[fillers[0]])
        for place, kinds in looks.items():
            self.looks[kind(place)] += 1
            for k in kinds:
                self.seen[k][kind(place)] += 1
        self.words.update(text.words(experience.goal))
        if experience.reward > 0:
            self.wins.append((experience.goal, [s.action for s in experience.steps]))
            self.ends.update(parse(s.action)[0] for s in experience.steps[-1:])

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        await self._liken(query.goal)
        slots, needs = self._slots(query.goal), self._needs(query.goal)
        start = query.start_actions or query.actions
        places = [f[0] for _, f in map(parse, start) if len(f) == 1]
        places = sorted(dict.fromkeys(places), key=lambda place: int(place.split()[1]))
        if not slots or not needs or not places:
            return "", Wait()
        plan = self._rest(query, slots, needs, places)
        return (f"Next: {plan[0]}" if plan else ""), Wait(steps=1)

    def _rest(
        self, query: Query, slots: list[str], needs: list[Need], places: list[str]
    ) -> list[str]:
        seen = self._seen(query, places, needs)
        finished = {f[0] for frame, f in seen.did if frame == needs[-1][0] and len(f) == 2}
        thing = next((t for t in seen.held if kind(t) == slots[0]), "")
        plan: list[str] = []
        at = seen.at
        if not thing:
            known = [t for t in seen.where if kind(t) == slots[0] and t not in finished]
            if not known:
                return self._look(slots[0], seen, places)
            thing = known[0]
            place = seen.where[thing]
            plan += self._go(place, at, seen)
            plan.append(fill(needs[0][0], thing, place))
            at = place
        for frame, slot in needs[1:]:
            if any(f == frame and thing in names for f, names in seen.did):
                continue
            named = slots[slot[-1]] if 0 <= slot[-1] < len(slots) else ""
            kinds = [named] if named else [k for k, _ in self.fills[frame].most_common()]
            if len(slot) == 1:  # something to be used, wherever it stands
                target = next((t for k in kinds for t in seen.where if kind(t) == k), "")
                if not target:
                    return plan + self._look(kinds[0], seen, places)
                plan += [*self._go(seen.where[target], at, seen), fill(frame, target)]
                at = seen.where[target]
                continue
            place = next((p for k in kinds for p in places if kind(p) == k), "")
            if place:
                plan += self._go(place, at, seen) if place != at else []
                plan.append(fill(frame, thing, place))
                at = place
        return plan

    def _look(self, wanted: str, seen: Seen, places: list[str]) -> list[str]:
        """The way to the likeliest place that was not looked at."""
        for k in self._likely(wanted, places):
            for place in places:
                if kind(place) == k and place not in seen.looked:
                    return self._go(place, seen.at, seen)
        return []

    def _go(self, place: str, at: str, seen: Seen) -> list[str]:
        go, *shows = self._ways(place)
        there = [] if at == place else [go]
        return there + ([] if place in seen.looked else shows)

    def _seen(self, query: Query, places: list[str], needs: list[Need]) -> Seen:
        seen = Seen()
        take = needs[0][0]
        known = set(places)
        for step in query.steps:
            frame, fillers = parse(step.action)
            told = things(step.observation)
            if not told and not step.observation.strip():
                continue
            if len(fillers) == 1 and fillers[0] in known:
                place = fillers[0]
                if place in told or frame in self.start:
                    seen.at = place
                shows = [f for f in self.shown if f != frame and self._shows(f)]
                if not any(fill(f, place) in step.actions for f in shows if not self.start[f]):
                    seen.looked.add(place)
                seen.where.update((t, place) for t in told if t not in known)
                continue
            if not fillers or fillers[0] not in told:
                continue  # nothing came of it
            seen.did.append((frame, fillers))
            if frame == take:
                seen.held.append(fillers[0])
                seen.where.pop(fillers[0], None)
            elif frame == needs[-1][0] and len(fillers) == 2:
                if fillers[0] in seen.held:
                    seen.held.remove(fillers[0])
                seen.where[fillers[0]] = fillers[1]
        return seen

    def _slots(self, goal: str) -> list[str]:
        """Words of the goal that are kinds of things; a word of no earlier goal may be one."""
        known = self.seen.keys() | self.looks.keys()
        return [w for w in text.content_words(goal) if w in known or w not in self.words]

    def _shows(self, frame: str) -> bool:
        return self.shown[frame] > self.SHOWS * self.done[frame]

    def _steps(self, goal: str, actions: list[str]) -> dict[str, tuple[float, tuple[int, ...]]]:
        """The frames that things of the goal went through, but for those that only go and look: when
        each was done first (what ended the episode: last), and which things filled it."""
        slots, steps = self._slots(goal), {}
        for number, (frame, fillers) in enumerate(map(parse, actions), 1):
            at = tuple(slots.index(kind(t)) if kind(t) in slots else -1 for t in fillers)
            last = number == len(actions)
            if max(at, default=-1) < 0 or self.start[frame] or self._shows(frame):
                continue
            does = self.ends[frame] or self.moved[frame] > self.MOVES * self.done[frame]
            if last or (frame not in steps and does):
                steps[frame] = (number / len(actions), at)
        return steps

    def _needs(self, goal: str) -> list[Need]:
        """Frames that rewarded episodes with a word of the goal share, in their order; and those that
        its words mean."""
        slots = self._slots(goal)
        words = [w for w in dict.fromkeys(text.words(goal)) if w not in slots]
        wins = [(set(text.words(g)), self._steps(g, actions)) for g, actions in self.wins]
        shared: dict[str, tuple[float, tuple[int, ...]]] = {}
        for word in words:
            alike = [steps for told, steps in wins if word in told]
            for frame in {f for steps in alike for f in steps} if len(alike) >= self.WINS else ():
                having = [steps[frame] for steps in alike if frame in steps]
                if len(having) >= self.SHARE * len(alike) and frame not in shared:
                    shared[frame] = self._usual(having)
        for frame in map(self._meant, words):
            if frame and frame not in shared:
                shared[frame] = (0.9, (0, -1))
        ordered = sorted(shared.items(), key=lambda item: item[1][0])
        return [(frame, at) for frame, (_, at) in ordered]

    def _usual(self, having: list[tuple[float, tuple[int, ...]]]) -> tuple[float, tuple[int, ...]]:
        """When it is done on average, and what fills it nearly always."""
        columns = zip(*(at for _, at in having), strict=True)
        counted = [Counter(column).most_common(1)[0] for column in columns]
        at = tuple(i if n >= self.NEARLY * len(having) else -1 for i, n in counted)
        return sum(when for when, _ in having) / len(having), at

    async def _liken(self, goal: str) -> None:
        """A word of the goal with which nothing was ever won may mean the same as a frame's own word."""
        own = {text.first_word(f): f for f in self.fills if f.count("_") == 2}
        won = {w for told, _ in self.wins for w in text.words(told)}
        for word in text.content_words(goal):
            new = self.words[word] >= self.LOST and word not in won and word not in self.like
            if not new or word in self.seen or word in self.looks or self._meant(word):
                continue
            vectors = await self.tools.embed([word, *own])
            scores = [sum(a * b for a, b in zip(vectors[0], v, strict=True)) for v in vectors[1:]]
            best = max(range(len(scores)), key=lambda at: scores[at])
            self.like[word] = [*own.values()][best] if scores[best] > self.ALIKE else ""

    def _meant(self, word: str) -> str:
        """The frame that the word names, or that came before things were called so."""
        if self.like.get(word):
            return self.like[word]
        for frame in self.fills:
            if frame.count("_") == 2 and text.first_word(frame) == word:
                return frame
        rates = {f: n * n / self.before[f] for f, n in self.called.get(word, Counter()).items()}
        return max(rates, key=lambda f: rates[f], default="")

    def _ways(self, place: str) -> list[str]:
        """Actions that come to a place and show what it holds."""
        go = max(self.start, key=lambda f: self.start[f])
        shows = [f for f in self.shown if f != go and self._shows(f) and self.fills[f][kind(place)]]
        return [fill(f, place) for f in [go, *shows]]

    def _likely(self, thing: str, places: list[str]) -> list[str]:
        """The kinds of places, those first where a look was likeliest to show the thing."""
        hits = self.seen.get(thing) or sum(self.seen.values(), Counter())
        rates = {}
        for k in dict.fromkeys(map(kind, places)):
            rates[k] = hits[k] / (self.looks[k] + self.PRIOR) / len(self._ways(k))
        return sorted(rates, key=lambda k: -rates[k])

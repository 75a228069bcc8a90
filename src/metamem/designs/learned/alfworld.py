"""One plan for the goal, and where to look for what it needs.

Stores: for each kind of place how often it was looked at and which kinds of things it showed;
which frames of action (an action without its numbered things) show what a place holds, and what
fills them; words that describe a thing after an action on it; the steps of rewarded episodes.
Retrieves: one plan: get the thing of the goal, do what words of the goal ask for, end as rewarded
episodes end; then the kinds of places where the thing is likeliest.
Forgets: numbers of things, single rooms, and the order of places.
"""

import re
from collections import Counter, defaultdict

from metamem.designs import Experience, Memory, Query, Tools, text

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


class PlanAndPlaces(Memory):
    """Remembers where kinds of things were seen and which steps goals need; tells one plan."""

    PRIOR = 2.0  # looks without the thing that every kind of place starts with
    SHOWS = 0.2  # share of uses that showed something new: such a frame is a way of looking
    WINS = 2  # rewarded episodes with a word of the goal that have to agree on a step
    SHARE = 0.5  # of all rewarded episodes have a step that is told where no word of the goal helps

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.looks: Counter[str] = Counter()  # kind of place: how many were looked at
        self.seen: defaultdict[str, Counter[str]] = defaultdict(Counter)  # kind: place: looks
        self.wins: list[tuple[str, list[str]]] = []  # goal, actions
        self.words: Counter[str] = Counter()  # words of goals
        self.start: Counter[str] = Counter()  # frames possible at the start, with one thing
        self.done: Counter[str] = Counter()
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
        for step in experience.steps:
            frame, fillers = parse(step.action)
            self.done[frame] += 1
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

    async def retrieve(self, query: Query) -> str:
        slots, needs = self._slots(query.goal), self._needs(query.goal)
        places = [f[0] for _, f in map(parse, query.actions) if len(f) == 1]
        places.sort(key=lambda place: int(place.split()[1]))
        if not slots or not needs or not places:
            return ""
        plan = [f"{text.first_word(needs[0][0])} {slots[0]}"]
        for frame, at in needs[1:]:
            names = [slots[i] if 0 <= i < len(slots) else "" for i in at]
            kinds = [names[-1]] if names[-1] else [k for k, _ in self.fills[frame].most_common()]
            if len(names) == 1:
                kinds = self._likely(names[0], places)
            place = next((p for k in kinds for p in places if kind(p) == k), "")
            if place:
                go, *opens = self._ways(place)
                plan += [f"{go} with {slots[0]}", *(opens if names[-1] else [])]
                plan.append(fill(frame, *names[:1], place))
        note = f"{slots[0]}: {', '.join(self._likely(slots[0], places))}"
        return f"{text.numbered(plan)}\n\n{note}"

    def _slots(self, goal: str) -> list[str]:
        """Words of the goal that are kinds of things; a word of no earlier goal may be one."""
        known = self.seen.keys() | self.looks.keys()
        return [w for w in text.content_words(goal) if w in known or w not in self.words]

    def _shows(self, frame: str) -> bool:
        return self.shown[frame] > self.SHOWS * self.done[frame]

    def _steps(self, goal: str, actions: list[str]) -> list[Need]:
        """The steps about things of the goal, but for those that only go and look."""
        slots, steps = self._slots(goal), []
        for frame, fillers in map(parse, actions):
            at = tuple(slots.index(kind(t)) if kind(t) in slots else -1 for t in fillers)
            if max(at, default=-1) >= 0 and not self.start[frame] and not self._shows(frame):
                steps.append((frame, at))
        return steps

    def _needs(self, goal: str) -> list[Need]:
        """Steps that all rewarded episodes with a word of the goal share; those its words mean."""
        slots = self._slots(goal)
        words = [w for w in dict.fromkeys(text.words(goal)) if w not in slots]
        wins = [(set(text.words(g)), self._steps(g, actions)) for g, actions in self.wins]
        needs: list[Need] = []
        for word in words:
            alike = [steps for told, steps in wins if word in told]
            if len(alike) >= self.WINS:
                needs += [s for s in alike[0] if all(s in steps for steps in alike)]
        if not needs:
            usual = Counter(step for _, steps in wins for step in dict.fromkeys(steps))
            needs = [s for s, n in usual.items() if n > self.SHARE * len(wins)]
        order = sorted(dict.fromkeys(needs), key=lambda s: -1 not in s[1])
        for frame in map(self._meant, words):
            if order and frame and all(frame != s[0] for s in order):
                order.insert(len(order) - 1, (frame, (0, -1)))
        return order

    def _meant(self, word: str) -> str:
        """The frame that the word names, or that came before things were called so."""
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

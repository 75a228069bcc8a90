"""A model of what actions do, and a plan from here that is made anew as things are found.

Stores: what each frame of action (an action with its names left out) does to what is possible
next: goes somewhere, opens, gets hold of, lets go; which kinds of things fill it; where each kind
of thing was seen and how often such a place was looked into; which frames episodes with a word of
the goal were won with.
Retrieves: where the next thing of the goal is not yet found, the places to look in, most
promising first; else the steps that get it, do to it what the words of the goal ask for, and
bring it where it belongs.
Forgets: single episodes.
"""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from metamem.designs import Experience, Memory, Query, Step, Tools, Wait, text
from metamem.designs.thinking.frames import Parsed, fill, parse

NAME = re.compile(r"\b([^\W\d]\w*) (\d+)\b")  # a single thing: a word and its number


def names(observation: str) -> list[str]:
    return [f"{word} {number}" for word, number in NAME.findall(observation)]


def kind(name: str) -> str:
    return name.rsplit(" ", 1)[0]


def filled(actions: Iterable[str]) -> list[Parsed]:
    return [p for p in map(parse, actions) if p.fillers]


@dataclass
class Job:
    """What a goal asks for: things, what to use with them, where to bring them, and other words."""

    things: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    home: str = ""  # kind of place to bring them to


@dataclass
class Now:
    """What is known of an episode so far."""

    at: dict[str, str] = field(default_factory=dict)  # thing: place
    held: str = ""
    place: str = ""
    shut: set[str] = field(default_factory=set)
    looked: set[str] = field(default_factory=set)
    did: set[tuple[str, str]] = field(default_factory=set)  # (frame, thing)
    ready: set[str] = field(default_factory=set)  # things that were brought or used as asked

    def nearest(self, wanted: str) -> str:
        """A thing of this kind that is still to be brought, here before elsewhere."""
        spots = [n for n in self.at if kind(n) == wanted and n not in self.ready]
        return min(spots, key=lambda n: (self.at[n] != self.place, n), default="")


class Planner(Memory):
    """Remembers what actions do and where things are, and plans from what was found so far."""

    PRIOR = 2.0  # looks at the usual rate that every kind of place starts with
    PLACES = 12  # places to look in that are told at once
    REFRESH = 8  # actions after which a search is told anew
    MANY = 9  # numbers of a kind of thing that are waited for
    WON = 3  # won episodes that tell which actions a word needs
    SURE = 0.8  # share of them that have to have the action
    RATE = 0.5  # share of the times that an action has to have an effect
    ALIKE = 0.55  # likeness in spelling of a word that was never won with and an action

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.go = self.opens = self.closes = self.gets = self.lets = ""  # frames
        self.done: Counter[str] = Counter()  # frame: times
        self.does: defaultdict[str, Counter[str]] = defaultdict(Counter)  # frame: effect: times
        self.back: defaultdict[str, Counter[str]] = defaultdict(Counter)  # frame: frame after it
        self.uses: defaultdict[str, Counter[str]] = defaultdict(Counter)  # frame: last kind
        self.kinds: set[str] = set()
        self.taken: set[str] = set()  # kinds that one can get hold of
        self.places: set[str] = set()  # kinds that one can go to
        self.closed: set[str] = set()  # kinds of places that had to be opened
        self.looks: Counter[str] = Counter()  # kind of place: single places looked into
        self.seen: defaultdict[str, Counter[str]] = defaultdict(Counter)  # kind: place: times
        self.wins: Counter[str] = Counter()  # word of a goal: won episodes
        self.won: defaultdict[str, Counter[str]] = defaultdict(Counter)  # word: frame: episodes

    async def update(self, experience: Experience) -> None:
        before = experience.actions
        for step in experience.steps:
            self._effects(step, before)
            before = step.actions
        self._roles()
        self.places.update(kind(p.fillers[0]) for p in self._of(self.go, experience.actions))
        self._sights(experience)
        words = set(self._job(experience.goal, experience.actions).words)
        if experience.reward > 0:
            self.wins.update(words)
            for word in words:
                self.won[word].update({p.frame for p in filled(s.action for s in experience.steps)})

    def _effects(self, step: Step, before: Sequence[str]) -> None:
        """What became possible by an action, and what no longer is."""
        self.kinds.update(map(kind, names(step.observation)))
        done = parse(step.action)
        if not done.fillers:
            return
        self.done[done.frame] += 1
        new = filled(set(step.actions) - set(before))
        gone = self._of(done.frame, set(before) - set(step.actions))
        does = self.does[done.frame]
        does["moves"] += any(p.frame == done.frame for p in new)
        does["fills"] += any(p.fillers[0] != done.fillers[0] for p in gone)
        does["shows"] += any(n not in done.fillers for n in names(step.observation))
        for p in new:
            self.kinds.update(map(kind, p.fillers))
            self.uses[p.frame][kind(p.fillers[-1])] += 1
            self.taken.update([kind(p.fillers[0])] if p.frame == self.gets else [])
            if p.fillers == done.fillers and p.frame != done.frame:
                self.back[done.frame][p.frame] += 1

    def _roles(self) -> None:
        """Which frame goes, opens, closes, gets and lets go, by what they were seen to do."""
        self.go = self.opens = self.closes = self.gets = self.lets = ""
        for frame, times in self.done.most_common():
            slots, does = frame.count("_"), self.does[frame]
            if slots == 1 and not self.go and does["moves"] > self.RATE * times:
                self.go = frame
                continue
            undone = (b for b in self.back[frame] if self.back[b][frame] > self.RATE * self.done[b])
            back = next(undone, "")
            # What undoes a step shows less than it, or leaves more to be done.
            more = {
                effect
                for effect in does
                if does[effect] * self.done[back] > self.does[back][effect] * times
            }
            if back and slots == 1 and not self.opens and "shows" in more:
                self.opens, self.closes = frame, back
            if back and slots == 2 and not self.gets and "fills" in more:
                self.gets, self.lets = frame, back

    def _sights(self, experience: Experience) -> None:
        """What single places held when they were first looked into."""
        looked: set[str] = set()
        found: set[tuple[str, str]] = set()
        for step in experience.steps:
            p = parse(step.action)
            if not p.fillers or kind(p.fillers[-1]) not in self.places:
                continue
            place = p.fillers[-1]
            if fill(self.opens, (place,)) in step.actions:
                self.closed.add(kind(place))
                continue
            found |= {(kind(n), place) for n in names(step.observation) if n not in p.fillers}
            looked.add(place)
        self.looks.update(map(kind, looked))
        for thing, place in found:
            self.seen[thing][kind(place)] += 1

    def _of(self, frame: str, actions: Iterable[str]) -> list[Parsed]:
        return [p for p in filled(actions) if p.frame == frame]

    def _job(self, goal: str, actions: Sequence[str]) -> Job:
        """What a goal asks for, by what is known of its words by now."""
        places = self.places | {kind(p.fillers[0]) for p in self._of(self.go, actions)}
        known = self.kinds | places
        used = {k for frame in self._single() for k in self.uses[frame]}
        content, job = text.content_words(goal), Job()
        for word in text.words(goal):
            spellings = (word, word.removesuffix("s"), word.removesuffix("es"))
            name = next((w for w in spellings if w in known), "")
            if name in places:
                job.home = name
            elif name and (name in self.taken or name not in used):
                job.things.append(name)
            elif name:
                job.tools.append(name)
            elif word in content:
                job.words.append(word)
        return job

    def _single(self) -> list[str]:
        """The frames of action about one thing that do not go, open or close."""
        plain = (self.go, self.opens, self.closes)
        return [f for f in self.uses if f.count("_") == 1 and f not in plain]

    def _use(self, name: str) -> str:
        """The frame of action that is most particular to a kind of thing."""
        frames = self._single()
        own = [f for f in frames if self.uses[f][name]]
        return min(own or frames, key=lambda f: self.uses[f].total(), default="")

    def _asked(self, words: list[str]) -> list[str]:
        """The frames of action, with something else, that these words of a goal ask for."""
        taking = (self.gets, self.lets)
        verbs = {text.first_word(f): f for f in self.uses if f.count("_") == 2 and f not in taking}
        asked: list[str] = []
        for word in words:
            wins = self.wins[word]
            found = [f for verb, f in verbs.items() if word.startswith(verb)]
            if not found and wins >= self.WON:
                found = [f for f in verbs.values() if self.won[word][f] > self.SURE * wins]
            if not found and not wins:
                found = [verbs[v] for v in difflib.get_close_matches(word, verbs, 1, self.ALIKE)]
            asked += found
        return list(dict.fromkeys(asked))

    def _now(self, query: Query, job: Job) -> Now:
        now = Now()
        for step in query.steps:
            for p in filled([step.action]):
                self._did(now, p, job)
                self._found(now, p, step)
        return now

    def _did(self, now: Now, p: Parsed, job: Job) -> None:
        """What an action changed."""
        thing, place = p.fillers[0], p.fillers[-1]
        if p.frame == self.go:
            now.place = place
        elif p.frame == self.gets:
            now.held = thing
            now.at.pop(thing, None)
            now.ready.discard(thing)
        elif p.frame == self.lets:
            now.held = ""
            now.at[thing] = place
            if kind(thing) in job.things and kind(place) == job.home:
                now.ready.add(thing)
        elif p.frame == self._use(kind(thing)) and now.held:
            now.did.add((p.frame, now.held))
            if kind(now.held) in job.things and not job.home:
                now.ready.add(now.held)
        else:
            now.did.add((p.frame, thing))

    def _found(self, now: Now, p: Parsed, step: Step) -> None:
        """What an action showed."""
        place = p.fillers[-1]
        if kind(place) in self.places or p.frame == self.go:
            if fill(self.opens, (place,)) in step.actions:
                now.shut.add(place)
            else:
                now.shut.discard(place)
                now.looked.add(place)
                now.at |= {n: place for n in names(step.observation) if n not in p.fillers}
        now.at |= {q.fillers[0]: q.fillers[1] for q in self._of(self.gets, step.actions)}

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        start = query.start_actions or query.actions
        places = [p.fillers[0] for p in self._of(self.go, start)]
        if not places or not self.gets:
            return "", Wait()
        job = self._job(query.goal, start)
        now = self._now(query, job)
        for thing in job.things:
            steps, wanted = self._plan(job, thing, now, places)
            words, patience = (), len(steps)
            if not steps:
                steps, patience = self._search(wanted, job, now, places)
                sought = (f"{wanted} {n}" for n in range(1, self.MANY + 1))
                words = tuple(name for name in sought if name not in now.ready)
            if steps:
                told = f"{thing}:\n" + text.numbered(steps)
                return told, Wait(words=words, steps=patience, apart=1)
        return "", Wait(steps=self.REFRESH)

    def _plan(self, job: Job, thing: str, now: Now, places: list[str]) -> tuple[list[str], str]:
        """Steps that bring one such thing where it belongs, and the kind to look for then."""
        asked, steps, here, mine = self._asked(job.words), [], now.place, now.held
        home = next((p for p in places if kind(p) == job.home), "")
        if not mine or kind(mine) != thing:
            mine = now.nearest(thing)
            if not mine:
                return [], thing
            steps += self._reach(now.at[mine], here, now)
            here = now.at[mine]
            steps.append(fill(self.gets, (mine, here)))
        for frame in asked:
            able = [p for p in places if self.uses[frame][kind(p)]]
            if able and (frame, mine) not in now.did:
                tool = min(able, key=lambda p: (p != here, -self.uses[frame][kind(p)]))
                steps += [] if tool == here else [fill(self.go, (tool,))]
                steps.append(fill(frame, (mine, tool)))
                here = tool
        for tool in job.tools:
            if (self._use(tool), mine) in now.did:
                continue
            name = now.nearest(tool)
            if not name:
                return steps, tool
            steps += self._reach(now.at[name], here, now)
            steps.append(fill(self._use(tool), (name,)))
            here = now.at[name]
        if home:
            steps += self._reach(home, here, now)
            steps.append(fill(self.lets, (mine, home)))
        return steps, ""

    def _reach(self, place: str, here: str, now: Now) -> list[str]:
        """Going to a place, and opening it if it is or may be closed."""
        steps = [fill(self.go, (place,))] if place != here else []
        closed = place in now.shut or (place not in now.looked and kind(place) in self.closed)
        return [*steps, fill(self.opens, (place,))] if closed else steps

    def _search(self, wanted: str, job: Job, now: Now, places: list[str]) -> tuple[list[str], int]:
        """Steps to places to look in, most promising first, and after how many to ask again."""
        seen = self.seen[wanted]
        usual = seen.total() / max(self.looks.total(), 1)
        stay = not self._asked(job.words) and wanted in job.things

        def order(place: str) -> tuple[bool, float]:
            k = kind(place)
            rate = (seen[k] + self.PRIOR * usual) / (self.looks[k] + self.PRIOR)
            return stay and k == job.home, -rate

        steps, here, patience = [], now.place, 1
        unseen = [p for p in places if p not in now.looked]
        for place in sorted(unseen, key=order)[: self.PLACES]:
            if len(steps) <= self.REFRESH:
                patience = max(len(steps), 1)
            steps += self._reach(place, here, now)
            here = place
        return steps, patience

"""Worlds learned from steps: a map with ways back, where things were, what was read, what paid.

Stores: of each episode its places, ways, what could be done where and what made it possible, and
what was read; of all episodes what each verb shows, ends, pays and brings about.
Retrieves: a plan from here: the ways to what the goal, or the text read for it, asks for, and what
to do with it; where that is unknown, the ways and things worth looking into first.
Forgets: the wording of everything but places and texts read.
"""

import re
from collections import Counter, defaultdict, deque

from metamem.designs import Experience, Memory, Query, Tools, Wait, text

JOINTS = {"from", "with", "on", "onto", "in", "into", "to", "at", "under", "inside", "using"}
ENDINGS = (("ied", "y"), ("ying", "y"), ("ies", "y"), ("ing", ""), ("ed", ""), ("s", ""))


def heading(observation):
    """The name in a decorated first line, or nothing."""
    first = observation.strip().split("\n", 1)[0].strip()
    found = re.fullmatch(r"[^\w\s]+\s*(\w.*?\w)\s*[^\w\s]+", first)
    return found.group(1).lower() if found else ""


def parse(action):
    """(verb, thing, joint, other thing)."""
    words = action.split() or [""]
    at = next((i for i, w in enumerate(words) if i and w in JOINTS), len(words))
    return words[0], " ".join(words[1:at]), " ".join(words[at : at + 1]), " ".join(words[at + 1 :])


def stem(word):
    ends = [(e, put) for e, put in ENDINGS if word.endswith(e) and len(word) > len(e) + 1]
    word = word[: -len(ends[0][0])] + ends[0][1] if ends else word
    return word[:-1] if len(word) > 3 and word[-1] in ("e", word[-2]) else word


def named(line, things):
    """The longest of these things that a line ends with."""
    return max((t for t in things if line.endswith(f" {t}")), key=len, default="")


class Atlas:
    """What one episode showed."""

    def __init__(self, goal, observation, actions, steps):
        self.goal, self.texts, self.ways, self.seen, self.now = goal, {}, {}, {}, {}
        self.first, self.cause, self.tried, self.read, self.done = {}, {}, set(), {}, []
        self.look(heading(observation), observation, actions, None)
        for step in steps:
            was, here = self.place, heading(step.observation) or self.place
            self.tried.add((was, step.action))
            self.done.append(step.action)
            lines = [" ".join(text.words(line)) for line in step.observation.split("\n")]
            if here != was:
                self.ways[was, step.action] = here
            elif not heading(step.observation) and len(lines) > 4:
                self.read[step.action] = [x for x in dict.fromkeys(lines) if 0 < len(x.split()) < 7]
            self.look(here, step.observation, step.actions, step.action if here == was else None)

    def look(self, place, observation, actions, cause):
        self.place = place
        if heading(observation) and place not in self.texts:
            body = observation.strip().split("\n", 1)[-1]
            self.texts[place] = [s for s in re.split(r"(?<=[.?!])\s+|\n+", body) if s]
        for action in actions:
            if cause and action not in self.seen.get(place, ()):
                self.cause[place, action] = cause
            self.seen.setdefault(place, {})[action] = True
            verb, thing, _, _ = parse(action)
            if not cause or parse(cause)[1] != thing:
                self.first.setdefault((verb, thing), (place, action))
        self.now[place] = set(actions)


class Worlds(Memory):
    """Remembers worlds, what was read in them, and what actions bring about."""

    ALIKE = 0.5  # share of sentences that two views of one place have in common
    SHOWS = 0.25  # new possibilities that make a verb worth trying
    DEADLY = 0.03  # share of endings that make a verb not worth trying
    REACH = 2  # unknown ways told at once
    PATIENCE = 10  # actions after which one more is told

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.atlases = []
        self.verbs = defaultdict(Counter)  # verb: how often done, moved, ended, paid
        self.shows = defaultdict(Counter)  # verb, or verb and thing: verbs made possible; "": times
        self.back = defaultdict(Counter)  # last word of a move: last word of the way back
        self.brings = defaultdict(Counter)  # stem of a word that came back: (verb, joint, thing)
        self.frames = Counter()  # (verb, joint, other thing) that could be done, by episodes
        self.things = Counter()  # (verb, thing) that could be done, by episodes

    async def update(self, experience: Experience) -> None:
        start, steps = experience.observation, experience.steps
        self.atlases.append(Atlas(experience.goal, start, experience.actions, steps))
        known, place, last, points = set(experience.actions), heading(start), ("", ""), 0.0
        for step in steps:
            verb, thing, joint, other = parse(step.action)
            here = heading(step.observation) or place
            if (step.action, place) not in known:
                fresh = [parse(a) for a in step.actions if a not in known]
                for key in (verb, (verb, thing)):
                    self.shows[key].update(["", *(f[0] for f in fresh if f[1] != thing)])
            known.update(step.actions, [(step.action, place)])
            paid, points = step.reward > points, step.reward
            self.verbs[verb].update(done=1, moved=here != place, ended=bool(step.done), paid=paid)
            if here != place:
                if last[0] == here:
                    self.back[last[1].split()[-1]][step.action.split()[-1]] += 1
                last = (place, step.action)
            elif not heading(step.observation) and step.observation.count("\n") < 3:
                words = set(text.content_words(step.observation)) - set(text.words(step.action))
                for word in sorted(words):
                    self.brings[stem(word)][verb, joint, other or thing] += 1
            place = here
        seen = {parse(a) for acts in self.atlases[-1].seen.values() for a in acts}
        self.frames.update(sorted({(v, j, o) for v, _, j, o in seen if o}))
        self.things.update(sorted({(v, t) for v, t, _, _ in seen}))

    async def retrieve(self, query: Query):
        self.getter = max(sorted(self.verbs), key=lambda v: self.verbs[v]["paid"], default="")
        if not self.getter or not self.verbs[self.getter]["paid"]:
            return ""
        self.movers = {v for v, c in self.verbs.items() if c["moved"] * 2 >= c["done"]}
        self.takeable = {t: n for (v, t), n in self.things.items() if v == self.getter}
        start, actions = query.start or query.observation, query.start_actions or query.actions
        plan = Plan(self, Atlas(query.goal, start, actions, query.steps))
        texts = [(a, x) for one in self.atlases for a, x in one.read.items()]
        told = Counter(a for a, lines in texts if any(named(x, lines) for x in lines))
        self.orders = {stem(x.split()[0]) for _, y in texts for x in y if named(x, y)}
        goal = set(text.words(query.goal))
        fitting = [a for a, _ in told.most_common() if set(parse(a)[1].split()) <= goal][:1]
        lines = [one.read[a] for a in fitting for one in plan.sources if a in one.read]
        if lines:
            named_there = {x for a, y in texts for x in (parse(a)[1], *y)}
            missing = plan.follow(lines[-1], named_there)
        elif fitting:
            missing = [] if plan.do(fitting[0]) else fitting
        else:
            missing = plan.obey(query.goal)
        if missing:
            plan.explore()
        nouns = " ".join([w for w in text.content_words(query.goal) if w not in self.verbs][-3:])
        blocks = [f"{nouns}:\n{text.numbered(b)}" for b in (plan.steps, missing) if b]
        return "\n\n".join(blocks), Wait(steps=max(len(plan.steps), 1))

    def gain(self, action):
        """How many things to take and ways to go an action may show."""
        verb, thing, _, _ = parse(action)
        if verb not in self.verbs:  # never tried: worth it where nothing can be spoiled
            return 0.0 if thing in self.takeable else self.SHOWS
        count, wanted = self.verbs[verb], {self.getter, *self.movers}
        mean = sum(self.shows[verb][w] for w in wanted) / self.shows[verb][""]
        if verb == self.getter or count["ended"] > self.DEADLY * count["done"] or mean < self.SHOWS:
            return 0.0
        single = self.shows.get((verb, thing), Counter()) if verb not in self.movers else Counter()
        return (sum(single[w] for w in wanted) + 2 * mean) / (single[""] + 2)

    def world(self, atlas):
        """Episodes in the same world: no shared place differs, and enough is the same."""
        found = []
        for one in self.atlases:
            pairs = [(atlas.texts[p], one.texts[p]) for p in atlas.texts if p in one.texts]
            likes = [len({*a} & {*b}) / len({*a} | {*b}) for a, b in pairs if a[:1] == b[:1]]
            least = self.ALIKE if atlas.goal == one.goal else (1 + self.ALIKE) / 2
            if pairs and len(likes) == len(pairs) and sum(likes) >= least * len(likes):
                found.append(one)
        return found


class Plan:
    """Steps from here, written down while they are thought of."""

    def __init__(self, memory, atlas):
        self.memory, self.atlas, self.getter = memory, atlas, memory.getter
        self.sources = [*memory.world(atlas), atlas]
        self.steps, self.place, self.ways = [], atlas.place, defaultdict(dict)
        for one in self.sources:
            for (place, action), there in one.ways.items():
                opener = self.ways[place].get(action, (there, None))[1]
                self.ways[place][action] = (there, one.cause.get((place, action), opener))
        for place, known in [(p, dict(w)) for p, w in self.ways.items()]:
            for action, (there, opener) in known.items():
                for back, _ in memory.back[action.split()[-1]].most_common(1):
                    way = f"{action.rsplit(' ', 1)[0].replace(place, there)} {back}"
                    self.ways[there].setdefault(way, (place, opener))

    def to(self, goal):
        """The actions that lead to a place, or None."""
        routes, waiting, now = {self.place: []}, deque([self.place]), self.atlas.now
        walked = {(p, t) for (p, _), t in self.atlas.ways.items()}
        while waiting and goal not in routes:
            place = waiting.popleft()
            for action, (there, opener) in sorted(self.ways[place].items()):
                if there not in routes:
                    free = action in now.get(place, ()) or {(place, there), (there, place)} & walked
                    shut = opener and not free and opener not in self.steps
                    routes[there] = [*routes[place], *([opener] if shut else []), action]
                    waiting.append(there)
        return routes.get(goal)

    def walk(self, place, *actions):
        way = self.to(place)
        if way is None:
            return False
        self.steps, self.place = [*self.steps, *way, *actions], place
        return True

    def where(self, verb, thing):
        """(place, actions) of doing this to that, as far as known."""
        here = [
            (p, [a])
            for p, acts in self.atlas.now.items()
            for a in sorted(acts)
            if parse(a)[:2] == (verb, thing)
        ]
        if here:
            return here[0]
        for one in reversed(self.sources):
            if (verb, thing) in one.first:
                place, action = one.first[verb, thing]
                cause = one.cause.get((place, action))
                closed = cause and cause in self.atlas.now.get(place, [cause])
                return place, [cause, action] if closed and cause not in self.steps else [action]
        return "", []

    def do(self, action):
        place, actions = self.where(*parse(action)[:2])
        return bool(actions) and self.walk(place, *actions)

    def held(self, thing):
        now = [parse(a)[:2] for actions in self.atlas.now.values() for a in actions]
        key, done = (self.getter, thing), [parse(a)[:2] for a in self.atlas.done]
        return key in done and key not in now

    def gather(self, things):
        """Takes what is known, the nearest first; returns what is not."""
        left = [t for t in dict.fromkeys(things) if not self.held(t)]
        while left:
            ways = [(self.to(place), t) for t in left for place in [self.where(self.getter, t)[0]]]
            near = min(((len(way), t) for way, t in ways if way is not None), default=None)
            if not near or not self.do(f"{self.getter} {near[1]}"):
                break
            left.remove(near[1])
        return left

    def spot(self, thing):
        """The place where something can be done to or with a thing."""
        spots = [
            p
            for one in reversed(self.sources)
            for p, actions in one.seen.items()
            if any(thing in parse(a)[1::2] for a in actions)
        ]
        return spots[0] if spots else None

    def meant(self, verb, item):
        """(action, other thing) for what a direction says."""
        m, now = self.memory, [parse(a) for acts in self.atlas.now.values() for a in acts]
        seen = Counter(sorted((v, j, o) for v, _, j, o in now if o)) + m.frames
        known = [f for f, _ in seen.most_common() if f[0] == verb]
        if verb not in {w for _, t in m.things for w in t.split()}:
            brings = [f for f, _ in m.brings[stem(verb)].most_common()]
            usual = Counter(f[:2] for word in sorted(m.orders) for f in m.brings[word])
            fit = [f for f in sorted(m.frames) if f[2] in [b[2] for b in brings[:1]]]
            fit = sorted(fit, key=lambda f: (-usual[f[:2]], f[0] not in self.atlas.goal.lower()))
            known += [f for f in brings if f[1]] + [f for f in fit if f[0] != self.getter]
        for do, joint, tool in known[:1]:
            return f"{do} {item} {joint} {tool}", tool
        return f"{verb} {item}", ""

    def follow(self, lines, read):
        """Gathers and does what was read; returns what is to be done once it is found."""
        m, takeable = self.memory, self.memory.takeable
        items = [x for x in lines if x in takeable or any(named(y, [x]) for y in lines)]
        jobs = [(i, *self.meant(x.split()[0], i)) for x in lines if (i := named(x, items))]
        tool = max(sorted({*takeable} - read), key=lambda t: takeable[t], default="")
        joint = Counter(parse(a)[2] for _, a, other in jobs if other).most_common(1)
        if tool and joint:  # a direction that nothing is known of needs the usual tool
            jobs = [(i, a, o) if o else (i, f"{a} {joint[0][0]} {tool}", tool) for i, a, o in jobs]
        done = [{*a.split()} for a in self.atlas.done]
        jobs = [job for job in jobs if not any({*job[1].split()} <= d for d in done)]
        tools = [other or tool for _, _, other in jobs if (other or tool) in takeable]
        missing = self.gather([*items, *tools])
        if self.steps and not all(other for _, _, other in jobs):
            return [f"{self.getter} {t}" for t in missing]  # what it can be used for will be seen
        for item, action, other in jobs:
            if item not in missing and other not in missing:
                place = self.spot(other) if other and other not in takeable else self.place
                if place is None or not self.walk(place, action):
                    missing.append(other)
        after = max((i for i, x in enumerate(lines) if named(x, items)), default=len(lines))
        ends = [x for i, x in enumerate(lines) if i > after or parse(x)[:2] in m.things]
        for line in ends if not missing else ():
            places = Counter(p for one in m.atlases for p, a in one.seen.items() if line in a)
            known = [p for p, _ in places.most_common() if self.to(p) is not None]
            self.walk(known[0] if known else self.place, line)
            last = max(sorted(m.verbs), key=lambda v: m.verbs[v]["ended"] / m.verbs[v]["done"])
            self.steps += [f"{last} {parse(line)[1]}"] if line == ends[-1] else []
        return [f"{self.getter} {t}" for t in missing]

    def obey(self, goal):
        """Does what the clauses of a goal say; returns what is to be done once it is found."""
        m, words = self.memory, text.words(goal)
        goals = {one.goal for one in m.atlases}
        usual = Counter(w for g in goals for w in set(text.words(g)))
        rare = [w for w in text.content_words(goal) if usual[w] * 2 <= len(goals)]
        things = sorted(t for _, t in m.things if t and set(t.split()) <= set(words))
        wanted = max(things, key=len, default=" ".join(w for w in rare if w not in m.verbs))
        for clause in re.split(r"[,.;]|\band\b|\bthen\b", goal.lower()):
            told = [w for w in text.words(clause) if w not in ("the", "a", "an")]
            verb, thing, joint, other = parse(" ".join(told))
            thing = thing if (verb, thing) in m.things else wanted
            action = " ".join(filter(None, (verb, thing, joint, other)))
            if verb not in m.verbs or action in self.atlas.done or self.do(action):
                continue
            if verb == self.getter or self.gather([thing]):
                return [action]
            if not self.walk(self.spot(other), action):
                return [action]
        return [] if self.steps else [f"{self.getter} {wanted}"]

    def explore(self):
        """Adds the ways to what shows most for the steps it takes."""
        m, found, spare = self.memory, [], []
        tried = {pair for one in self.sources for pair in one.tried}
        tried |= {(place, action) for place in self.ways for action in self.ways[place]}
        seen = {(p, a) for one in self.sources for p in one.seen for a in one.seen[p]}
        for place, action in sorted(seen - tried):
            way, gain = self.to(place), m.gain(action)
            if way is not None and action in self.atlas.now.get(place, [action]):
                found += [((len(way) + 1) / gain, place, action)] if gain else []
                spare += [(len(way), place, action)] if parse(action)[0] == self.getter else []
        reach = m.REACH + len(self.atlas.done) // m.PATIENCE
        for _, place, action in sorted(found) or sorted(spare)[:1]:
            if reach and action not in self.steps:
                self.walk(place, action)
                back = m.back[action.split()[-1]].most_common(1)
                if parse(action)[0] in m.movers:
                    reach = reach - 1 if back else 0
                    self.steps += [f"{parse(action)[0]} {back[0][0]}"] if reach else []

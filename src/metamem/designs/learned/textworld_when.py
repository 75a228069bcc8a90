"""What kinds of actions do, which moves lead back, what things are for and what is always there.

Stores: of each verb where it led, what it showed, paid and ended; which manner of moving led back; words
of answers to each verb and thing; things that episodes of such a goal always had; where actions were possible.
Retrieves: a plan for this world, which it knows from this episode alone: the way to what the goal, or the text
read for it, asks for, and what to do with it; where that is unknown, what to open or the nearest untried way.
Forgets: places, and the maps of earlier worlds.
"""

from collections import Counter, defaultdict, deque
from os.path import commonprefix

from metamem.designs import Experience, Memory, Query, Tools, Wait, text
from metamem.designs.thinking import phrasing
from metamem.designs.thinking.frames import parse
from metamem.designs.thinking.routes import head


def trail(observation, actions, steps):
    """Each step with the place and what was possible before it, and the place after it."""
    place = head(observation)
    mark = place.split()[:1]
    for step in steps:
        after = head(step.observation)
        after = after if after.split()[:1] == mark else place
        yield place, actions, step, after
        place, actions = after, step.actions


def manner(action, place):
    """A move without the names of the place that it starts from."""
    return " ".join(w for w in text.words(action) if w not in text.words(place))


def things_of(action):
    """What an action is about; a name with `of` in it is one."""
    return [x.replace("-of-", " of ") for x in parse(action.replace(" of ", "-of-")).fillers]


def thing(action):
    """What an action is about first."""
    return " ".join(things_of(action)[:1]).lower()


def within(part, whole):
    """Whether a text names a thing by its whole name."""
    return bool(part) and f" {' '.join(text.words(part))} " in f" {' '.join(text.words(whole))} "


def stem(word, words):
    """How much of a word begins one of the others."""
    return max((len(commonprefix([word, w])) / len(word) for w in words), default=0.0)


class Scout(Memory):
    """Remembers what kinds of actions do, which moves lead back, and what things are for."""

    MOVES = 0.5  # of the uses of a verb that led elsewhere, for it to be a move
    OPENS = 0.2  # of the uses of a verb that showed something else to do, for it to open things
    ALWAYS = 0.8  # of the episodes of such a goal that had a thing, for it to be a tool
    STEM = 0.6  # of a word that begins another, for both to mean the same

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.uses = defaultdict(Counter)  # verb: what came of it
        self.turns = defaultdict(Counter)  # manner of moving: what led back
        self.said = defaultdict(Counter)  # verb or thing: words of answers
        self.spots = defaultdict(Counter)  # action: places
        self.uttered = set()  # frames with the last thing in them
        self.had = defaultdict(Counter)  # goal: things that could be had
        self.played = Counter()  # goal: episodes
        self.ends = defaultdict(Counter)  # goal: verbs that ended episodes
        self.readable = set()  # things that told what to do

    async def update(self, e: Experience) -> None:
        seen, paid, last = set(e.actions), 0.0, None
        for place, _, step, after in trail(e.observation, e.actions, e.steps):
            verb, names = text.first_word(step.action), set(text.objects(step.action))
            use = self.uses[verb]
            use["done"] += 1
            if after != place:
                use["move"] += 1
                how = manner(step.action, place)
                if last and last[0] == after:
                    self.turns[last[1]][how] += 1
                last = (place, how)
            else:
                use["open"] += any(
                    not names & set(text.objects(a)) for a in set(step.actions) - seen
                )
                known = set(text.words(" ".join([step.action, *step.actions])))
                for key in (verb, *things_of(step.action)):
                    self.said[key].update(
                        w for w in text.content_words(step.observation) if w not in known
                    )
                if head(step.observation) != place and self.orders([step.observation])[0]:
                    self.readable.add(thing(step.action))
            use["paid"] += step.reward > paid
            paid = step.reward
            seen.update(step.actions)
            for a in step.actions:
                self.spots[a][after] += 1
            if step.done:
                self.ends[e.goal][verb] += 1
        for a in seen:
            about = things_of(a)
            if len(about) == 2:
                self.uttered.add((parse(a.replace(" of ", "-of-")).frame, about[1]))
        self.played[e.goal] += 1
        self.had[e.goal].update(
            {thing(a) for a in seen if self.uses[text.first_word(a)]["paid"]} - {""}
        )

    def is_move(self, action):
        use = self.uses[text.first_word(action)]
        return use["move"] > self.MOVES * use["done"]

    def is_open(self, action):
        use = self.uses[text.first_word(action)]
        return not use["paid"] and use["open"] > self.OPENS * use["done"]

    def back(self, how):
        return next((b for b, _ in self.turns[how].most_common(1)), "")

    def orders(self, read):
        """Of the newest text that tells what to do: the things that it names, and its lines."""
        known = {t for had in self.had.values() for t in had}
        for observation in reversed(read):
            lines = [" ".join(text.words(x)) for x in observation.splitlines() if x.strip()]
            things = [x for x in lines if x in known or any(o.endswith(" " + x) for o in lines)]
            told = [
                x
                for x in lines
                if x not in things and (x in self.spots or any(x.endswith(" " + t) for t in things))
            ]
            if things and told:
                return things, told
        return [], []

    def spell(self, line, can, here, goal, tools):
        """The action that a line asks for, and the place for it: none known, or any."""
        words = text.content_words(line) or line.split()
        for place in [here, *sorted(can)]:
            for a in sorted(can[place], key=len):
                if set(words) <= set(text.words(a)):
                    return a, place
        if line in self.spots:
            return line, next((p for p, _ in self.spots[line].most_common() if p in can), "")
        best = (0.0, "", "")
        for frame, tool in sorted(self.uttered):
            verb, fit = text.first_word(frame), stem(words[0], self.said.get(tool, ()))
            if fit >= self.STEM:
                fit += stem(words[0], self.said.get(verb, ())) + (verb in text.words(goal))
                best = max(best, (fit, frame, tool))
        if not best[0]:
            return " with ".join([" ".join(words), *tools[:1]]), ""
        _, frame, tool = best
        action = frame.replace("_", " ".join(words[1:]), 1).replace("_", tool, 1)
        return action, next((p for p in sorted(can) if any(within(tool, a) for a in can[p])), None)

    def reach(self, start, go):
        """Each place that is known, with the way there."""
        ways, queue = {start: []}, deque([start])
        while queue:
            place = queue.popleft()
            for move, to in sorted(go[place].items()):
                if to not in ways:
                    ways[to] = ways[place] + [move]
                    queue.append(to)
        return ways

    async def retrieve(self, q: Query):
        if not self.played:
            return ""
        start, first = q.start or q.observation, q.start_actions or q.actions
        here, paid = head(start), 0.0
        can, go = {here: first}, defaultdict(dict)  # what can be done at places; where moves lead
        tried, read, got, done = set(), [], set(), []
        for place, _, step, here in trail(start, first, q.steps):
            tried.add((place, step.action))
            if here != place:
                go[place][step.action] = here
            can[here] = step.actions
            if head(step.observation) != here:
                read.append(step.observation)
            if self.uses[text.first_word(step.action)]["paid"]:
                got.add(thing(step.action))
            if step.reward > paid or thing(step.action):
                done.append(step.action)
            paid = step.reward
        for place, moves in list(go.items()):
            for move, to in list(moves.items()):
                for a in can[to]:
                    if self.is_move(a) and manner(a, to) == self.back(manner(move, place)):
                        go[to].setdefault(a, place)

        things, orders = self.orders(read)
        near = max(
            sorted(self.played),
            key=lambda g: text.overlap(text.content_words(g), text.content_words(q.goal)),
        )
        tools = [
            t
            for t, n in sorted(self.had[near].items())
            if n >= self.ALWAYS * self.played[near] and not within(t, q.goal)
        ]
        offered = {
            thing(a) for acts in can.values() for a in acts if self.uses[text.first_word(a)]["paid"]
        }
        if things:
            wanted = {t for t in things + tools if t not in got or t in offered}
        else:
            wanted = {t for t in offered if within(t, q.goal) and t not in self.readable}
        spelled = [self.spell(x, can, here, q.goal, tools) for x in orders]
        missing = not things or not wanted <= offered or any(place is None for _, place in spelled)
        plan, taken, reading = [], set(), False
        while True:
            options = []
            for p, way in self.reach(here, go).items():
                for a in can[p]:
                    kind = 0
                    if (p, a) in taken:
                        continue
                    if self.uses[text.first_word(a)]["paid"]:
                        kind = 2 * (thing(a) in wanted)
                    elif not things and thing(a) in self.readable and within(thing(a), q.goal):
                        kind = 1
                    elif missing and self.is_open(a) and (p, a) not in tried:
                        kind = 3
                    elif missing and self.is_move(a) and a not in go[p]:
                        kind = 4
                    if kind:
                        options.append((len(way), kind, p, a, way + [a]))
            if not options:
                break
            _, kind, p, a, way = min(options)
            if reading and (kind, p) != (3, here):
                break
            here = p
            plan += way
            reading |= kind == 1
            taken.add((here, a))
            wanted.discard(thing(a))
            if kind == 4:
                break
        if not missing and not wanted:
            for line, (a, place) in zip(orders, spelled):
                if not any(
                    a == d or set(text.content_words(line)) <= set(text.words(d)) for d in done
                ):
                    plan += self.reach(here, go).get(place, []) + [a]
                    here = place or here
            last = [v for v, _ in self.ends[near].most_common(1)]
            plan.append(" ".join(last + text.content_words(orders[-1])[1:]))
        about = " ".join(text.content_words(q.goal)[:3])
        sought = wanted - offered if things else {t for t in self.readable if within(t, q.goal)}
        return phrasing.plan(plan, about), Wait(
            steps=len(plan), words=tuple(sorted(sought)), new_actions=not plan
        )

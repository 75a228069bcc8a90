"""What moves do on a map of things, learned from steps, and a plan searched in that model.

Stores: for every action the direction word that it adds to; what came of entering things, by what
is said of them (moved over, pushed, stopped, won); how wide maps are and where unseen edges lie
beside what is seen; along which directions quoted words in a line make a statement that holds.
Retrieves: the plan that a bounded best-first search in that model finds, as numbered steps.
Forgets: the episodes themselves.
"""

import re
from collections import Counter, defaultdict
from itertools import product

from metamem.designs import Experience, Memory, Query, Tools
from metamem.designs.thinking import phrasing
from metamem.designs.thinking.search import search

AXES = (1 + 0j, 1j)


def along(place: complex, axis: complex) -> int:
    return int((place * axis.conjugate()).real)


def far(p: complex, q: complex) -> float:
    return abs(p.real - q.real) + abs(p.imag - q.imag)


def word(name: str) -> str:
    """The word that a thing bears, where its name quotes one."""
    quoted = re.search(r"[`'\"](.+)[`'\"]", name)
    return quoted.group(1) if quoted else ""


def span(at, axis: complex) -> tuple[int, int]:
    places = [along(p, axis) for p in (0j, *at)]
    return min(places), max(places)


class MapPlanner(Memory):
    """Remembers what entering, pushing and spelling do, and tells the plan that a search finds."""

    NODES = 2000  # states that a search expands at most

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.grew: dict[str, Counter] = defaultdict(Counter)  # action: offsets that it adds to
        self.entered: dict[str, Counter] = defaultdict(Counter)  # trait: what came of it
        self.sizes: dict[complex, list] = {v: [] for v in AXES}  # axis: cells between edges
        self.beside: dict[complex, Counter] = defaultdict(Counter)  # direction: cells not seen
        self.spelled: Counter = Counter()  # direction: statements that stand so
        self.links: set[str] = set()  # middle words of statements
        self.traits: Counter = Counter()  # last words of statements: scenes with them
        self.scenes = 0

    # reading

    def offsets(self, observation: str, words) -> list[tuple[str, dict[str, int]]]:
        """Lines up to their first number, with the number before each of the words."""
        lines = []
        for line in observation.splitlines():
            name, *rest = re.split(r"(\d+)", line)
            pairs = zip(rest[::2], rest[1::2])
            away = {w: int(n) for n, after in pairs for w in after.split() if w in words}
            lines.append((name.strip(), away))
        return lines

    def vectors(self) -> dict[str, complex]:
        """Directions: an action and the word whose offsets it makes greater are opposite."""
        found: dict[str, complex] = {}
        for action, grew in self.grew.items():
            other = max(grew, key=lambda w: grew[w], default="")
            if grew[other] > 0 and not {action, other} & found.keys():
                found[action] = AXES[len(found) > 0]
                found[other] = -found[action]
        return found

    def scene(self, observation: str, vectors) -> tuple[set, dict[complex, str]]:
        """Statements that hold, and what lies where."""
        lines = self.offsets(observation, vectors)
        at = {sum(n * vectors[w] for w, n in away.items()): name for name, away in lines if away}
        words = set(map(word, at.values()))
        facts = {tuple(name.split()) for name, away in lines if not away}
        return {f for f in facts if len(f) == 3 and words.issuperset(f)}, at

    def said(self, name: str, facts) -> list[str]:
        """Traits of a thing; what bears a word has the trait of a quotation mark."""
        return ["`"] if word(name) else sorted(f[2] for f in facts if f[0] == name) or [""]

    def mostly(self, what: str, trait: str) -> bool:
        """Whether entering things with the trait mostly ended so; some pushes fail."""
        ended = self.entered[trait]
        failed = ended["stopped"] if what == "pushed" else 0
        return 2 * ended[what] > sum(ended.values()) - failed

    # learning

    async def update(self, experience: Experience) -> None:
        observation, words = experience.observation, sorted(experience.actions)
        for step in experience.steps:
            for _, away in self.offsets(observation, words):
                self.grew[step.action].subtract(away)
            for _, away in self.offsets(step.observation, words):
                self.grew[step.action].update(away)
            observation = step.observation
        vectors = self.vectors()
        if len(vectors) < 4:
            return
        first = facts, at = self.scene(experience.observation, vectors)
        here, edges, observation = 0j, {}, experience.observation
        for step in experience.steps:
            self.read(facts, at)
            after = self.scene(step.observation, vectors)
            ahead = v = vectors.get(step.action, 0)
            if step.observation != observation:
                here += v
                pushed = word(at.get(v, "")) and after[1].get(v) == at[v]
                what = "won" if step.reward > 0 else "pushed" if pushed else "over"
            else:
                what = "stopped"
                while v and ahead in at and self.mostly("pushed", self.said(at[ahead], facts)[0]):
                    ahead += v
                if ahead not in at:
                    edges[v] = here + ahead
            for trait in self.said(at[ahead], facts) if ahead in at else ():
                self.entered[trait][what] += 1
            (facts, at), observation = after, step.observation
        for axis in AXES:
            for v in {axis, -axis} & edges.keys():
                self.beside[v][along(edges[v], v) - span(first[1], v)[1] - 1] += 1
            if {axis, -axis} <= edges.keys():
                self.sizes[axis].append(along(edges[axis] - edges[-axis], axis) - 1)

    def read(self, facts, at) -> None:
        self.scenes += 1
        self.traits.update({f[2] for f in facts})
        self.links.update(f[1] for f in facts)
        words = {p: word(name) for p, name in at.items()}
        for p in at:
            for v in (1, -1, 1j, -1j):
                self.spelled[v] += (words.get(p - v), words[p], words.get(p + v)) in facts

    # planning

    async def retrieve(self, query: Query) -> str:
        vectors = self.vectors()
        if len(vectors) < 4:
            return ""
        level = Level(self, *self.scene(query.observation, vectors), vectors)
        start, done = (0j, level.start), lambda state: state is None
        found = search(start, level.moves, done, level.estimate, nodes=self.NODES)
        return phrasing.plan(found.actions) if found else ""

    def cells(self, at, axis: complex) -> range:
        """The map along an axis: what is seen, and the room beside it."""
        low, high = span(at, axis)
        size = min((s for s in self.sizes[axis] if s > high - low), default=high - low + 1)
        room = size - (high - low + 1)
        below, above = self.beside[-axis], self.beside[axis]
        low -= max(range(room + 1), key=lambda k: below[k] + above[room - k])
        return range(low, low + size)


class Level:
    """One map, as the memory understands it."""

    def __init__(self, memory: MapPlanner, facts, at, vectors) -> None:
        self.memory, self.vectors = memory, vectors
        self.rows = [memory.cells(at, axis) for axis in AXES]
        self.inside = {complex(x, y) for x in self.rows[0] for y in self.rows[1]}
        self.start = tuple(p for p in at if word(at[p]))
        self.words = [word(at[p]) for p in self.start]
        self.things = {n: [p for p in at if at[p] == n] for n in at.values() if not word(n)}
        self.kept = {f for f in facts if memory.traits[f[2]] == memory.scenes}
        self.known: dict = {}
        numbered = list(enumerate(self.words))
        self.lines = [v for v, n in memory.spelled.items() if n]
        self.links = [i for i, w in numbered if w in memory.links]
        about = [i for i, w in numbered if w in self.things]
        prizes = [i for i, w in numbered if memory.mostly("won", w)]
        self.ways = list(product(about, self.links, prizes, self.lines))

    def holds(self, blocks) -> tuple:
        """With words there: whether all is kept; cells that stop; that win; efforts to win."""
        if blocks not in self.known:
            at, mostly = dict(zip(blocks, self.words)), self.memory.mostly
            middles = [(blocks[i], v) for i in self.links for v in self.lines]
            spelled = {(at.get(p - v), at[p], at.get(p + v)) for p, v in middles}
            traits = [(p, f[2]) for f in spelled if f[2] for p in self.things.get(f[0], ())]
            stops = {p for p, trait in traits if mostly("stopped", trait)}
            wins = {p for p, trait in traits if mostly("won", trait)}
            efforts = [e for way in self.ways for e in self.effort(blocks, *way)]
            self.known[blocks] = self.kept <= spelled, stops, wins, [(0, wins)] if wins else efforts
        return self.known[blocks]

    def effort(self, blocks, a, m, b, v):
        """What it takes at least to spell a statement and use it, and what has to be pushed."""
        parts = blocks[a], blocks[m], blocks[b]
        meet = parts[0] + v, parts[1], parts[2] - v  # one cell when the statement stands
        goal = 0j
        for axis, row in zip(AXES, self.rows):
            places = [along(p, axis) for p in meet]
            edge = row[0], row[-1]  # nothing is pushed away from an edge
            fixed = {n for n, p in zip(places, parts) if along(p, axis) in edge}
            if len(fixed) > 1:
                return
            goal += axis * (fixed.pop() if fixed else sorted(places)[1])
        pushes = sum(far(p, goal) for p in meet)
        after = min(far(goal, p) for p in self.things[self.words[a]])
        yield pushes - 1 + max(0, after - 3), [p for p, q in zip(parts, meet) if q != goal]

    def moves(self, state):
        """What can be done, the state after it (nothing more to do: None), and how sure it is."""
        me, blocks = state
        _, stops, wins, _ = self.holds(blocks)
        for action, v in self.vectors.items():
            to, chain = me + v, []
            while (end := to + v * len(chain)) in blocks:
                chain.append(end)
            if not {to, end} <= self.inside or to in stops or end in stops:
                continue
            moved = tuple(p + v if p in chain else p for p in blocks) if chain else blocks
            kept, _, _, efforts = self.holds(moved)
            if to in wins:
                yield action, None, 1.0
            elif kept and efforts:
                yield action, (to, moved), 1.0

    def estimate(self, state) -> float:
        """What it takes at least from there: the easiest effort, and the way to where it begins."""
        efforts = self.holds(state[1])[3] if state else []
        return min((n + min(far(state[0], p) for p in to) for n, to in efforts), default=0)

"""What things do, learned from all steps; what words side by side bring about; how far rooms reach.

Stores: where actions move one; what things of a role (what is said of them, or their kind of name)
did when they were met: let one in, stopped one, were pushed, won; what spelled facts say; how far
rooms reached around each thing.
Retrieves: the plan that a search in this model finds.
"""

from collections import Counter
from heapq import heappop, heappush
from itertools import product

from metamem.designs import Experience, Memory, Query, Tools
from metamem.designs.thinking import phrasing, scenes


def plus(a, b):
    return a[0] + b[0], a[1] + b[1]


def minus(a, b):
    return a[0] - b[0], a[1] - b[1]


def parts(fact):
    """What a line is about, and what it says of it."""
    return tuple(fact.partition(" ")[::2])


def box(cells):
    across, down = zip(*cells)
    return (min(across), min(down)), (max(across), max(down))


def size(held):
    return sum(minus(held[1], held[0]))


def roles(name, facts):
    """What is said of a thing; of a word, and where nothing is said, its kind of name."""
    if word := scenes.quoted(name):
        return [name.replace(word, "")]
    return [said for about, said in map(parts, facts) if about == name] or [""]


class Manners(Memory):
    """Remembers what things of each role do, and which words make which facts."""

    NODES = 1500  # nodes of all searches for a plan
    BOXES = 3  # sizes of rooms that are tried
    READING = ((1, 0), (0, 1))  # ways in which words may be read

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.shifts: dict[str, Counter] = {}  # action: how it moved one
        self.met: dict[str, Counter] = {}  # role: what came of meeting it
        self.told: Counter[str] = Counter()  # what spelled facts say: in how many observations
        self.proved: Counter = Counter()  # ways of reading: how many facts were spelled so
        self.rooms: dict[str, Counter] = {}  # thing: how far rooms reached around it
        self.longest = 0  # actions of the longest episode

    def vector(self, action):
        best = self.shifts.get(action, Counter()).most_common(1)
        return best[0][0] if best else None

    def does(self, role):
        """What things of this role do when they are met."""
        met = self.met.get(role, Counter())
        if met["pushed"]:
            return "pushed"
        if met["stops"] > met["entered"]:
            return "stops"
        return "wins" if 2 * met["won"] > met["entered"] else ""

    async def update(self, experience: Experience) -> None:
        texts = [experience.observation, *(step.observation for step in experience.steps)]
        seen = [scenes.read(text) for text in texts]
        ended = [False, *(step.done for step in experience.steps)]
        self.longest = max(self.longest, len(experience.steps))
        for scene, done in zip(seen, ended):
            if scene and not done:
                words = {cell: word for cell, n in scene.things if (word := scenes.quoted(n))}
                known = set(words.values())
                facts = {fact for fact in scene.facts if set(fact.split()) <= known}
                self.told.update({parts(fact)[1] for fact in facts})
                for cell, way, fact in product(words, self.READING, facts):
                    line = fact.split()
                    cells = [(cell[0] + k * way[0], cell[1] + k * way[1]) for k in range(len(line))]
                    self.proved[way] += [words.get(c) for c in cells] == line
        moved = []
        for scene, then, step in zip(seen, seen[1:], experience.steps):
            shift = None
            if scene and then:
                gaps = Counter(
                    minus(a, b) for a, n in scene.things for b, m in then.things if n == m
                )
                shift = max(sorted(gaps), key=gaps.get, default=None)
            if shift and shift != (0, 0):
                self.shifts.setdefault(step.action, Counter())[shift] += 1
            moved.append(shift)
        here, reach = (0, 0), [(0, 0)]
        for scene, then, step, shift in zip(seen, seen[1:], experience.steps, moved):
            vector = self.vector(step.action)
            if not scene or not vector:
                continue
            beyond = plus(vector, vector)
            for name in scene.names(vector):
                came = "entered"
                if shift == (0, 0):
                    came = "stops"
                elif then and name in then.names(vector) and name not in scene.names(beyond):
                    came = "pushed"
                for role in roles(name, scene.facts):
                    met = self.met.setdefault(role, Counter())
                    met[came] += 1
                    met["won"] += step.reward > 0
            here = plus(here, shift or (0, 0))
            reach.append(here)
        if seen[0]:
            low, high = box(reach + [cell for cell, _ in seen[0].things])
            for cell, name in seen[0].things:
                self.rooms.setdefault(name, Counter())[minus(low, cell), minus(high, cell)] += 1

    def rooms_for(self, scene, seen):
        """Boxes that rooms mostly had around such things and that hold all that is seen."""
        votes = Counter({seen: 0})
        for cell, name in scene.things:
            for (a, b), count in self.rooms.get(name, {}).items():
                held = plus(a, cell), plus(b, cell)
                if box([*seen, *held]) == held:
                    votes[held] += count
        return sorted((held for held, _ in votes.most_common(self.BOXES)), key=size)

    async def retrieve(self, query: Query) -> str:
        scene = scenes.read(query.observation)
        vectors = [(a, v) for a in query.actions if (v := self.vector(a))]
        if not scene or not vectors or not self.told:
            return ""
        seen = box([(0, 0), *(cell for cell, _ in scene.things)])
        boxes = self.rooms_for(scene, seen)
        more = minus(boxes[-1][0], (1, 1)), plus(boxes[-1][1], (1, 1))
        proved = tuple(way for way in self.READING if self.proved[way])
        trust = [(held, proved, False) for held in (seen, *boxes)]
        trust += [(held, self.READING, False) for held in boxes]
        trust += [(boxes[-1], self.READING, True), (more, self.READING, True)]
        nodes = self.NODES
        for held, ways, bold in dict.fromkeys(trust):
            game = Game(self, scene, held, ways, vectors, bold)
            way, looked = game.search(nodes, self.longest)
            nodes -= looked
            self.tools.log(f"{held} {ways} {bold}: {looked} nodes, {way}")
            if way:
                return phrasing.plan(way)
        return ""


class Game:
    """Where things are, what actions make of that, and the search for a win. Cells are numbers."""

    def __init__(self, memory, scene, room, ways, vectors, bold):
        self.memory, self.bold = memory, bold  # bold: what was never met is no bar
        (west, north), (east, south) = room
        self.wide = east - west + 3
        self.inside = {
            self.number((x, y))
            for x in range(1, east - west + 2)
            for y in range(1, south - north + 2)
        }
        self.vectors = [(action, self.number(vector)) for action, vector in vectors]
        self.ways = [self.number(way) for way in ways]
        self.told = {*memory.told, *(parts(fact)[1] for fact in scene.facts)}
        self.own = max(memory.told, key=memory.told.get)  # what is always said of someone
        self.wins = [said for said in memory.told if memory.does(said) == "wins"]
        mine = sorted(about for about, said in map(parts, scene.facts) if said == self.own)
        shown = {name for _, name in scene.things}
        me = next((name for name in mine if name not in shown), mine[0] if mine else "")
        things = [(scene.at, me), *sorted(scene.things)]
        self.names = [name for _, name in things]
        self.words = [(i, w) for i, n in enumerate(self.names) if (w := scenes.quoted(n))]
        self.start = tuple(self.number(minus(cell, (west - 1, north - 1))) for cell, _ in things)
        self.kept = set(scene.facts) - self.facts(self.start)
        self.known, self.found = {}, {}

    def number(self, cell):
        return cell[0] + cell[1] * self.wide

    def far(self, a, b):
        return abs(a % self.wide - b % self.wide) + abs(a // self.wide - b // self.wide)

    def facts(self, at):
        words = {at[i]: word for i, word in self.words}
        found = set()
        for said, way in product(self.told, self.ways):
            line = list(enumerate(said.split(), 1))
            for cell, word in words.items():
                if all(words.get(cell + way * k) == part for k, part in line):
                    found.add(f"{word} {said}")
        return found

    def manner(self, at):
        """What moves, is pushed, stops and wins while words stand so, and how to make more win."""
        key = tuple(at[i] for i, _ in self.words)
        if key not in self.known:
            facts = self.kept | self.facts(at)
            does = {kind: [] for kind in ("own", "pushed", "stops", "wins", "")}
            for i, name in enumerate(self.names):
                for role in roles(name, facts):
                    strange = not self.bold and role not in self.memory.met
                    kind = "stops" if strange else self.memory.does(role)
                    does["own" if role == self.own else kind].append(i)
            does["to win"] = [way for said in self.wins for way in self.makings(at, said, does)]
            does["to own"] = list(self.makings(at, self.own, does))
            self.known[key] = does
        return self.known[key]

    def makings(self, at, said, does):
        """Ways to spell this of a thing: pushes, where to begin and to end, and the things."""
        for name in sorted(set(self.names)):
            things = [i for i, n in enumerate(self.names) if n == name and i not in does["own"]]
            slots = [
                [at[i] for i, word in self.words if word == part] for part in [name, *said.split()]
            ]
            if things:
                for line in self.lines(tuple(map(tuple, slots))):
                    yield *line, things

    def lines(self, slots):
        """Ways to bring words from such cells into one line, one of them staying where it is."""
        if slots in self.found:
            return self.found[slots]
        self.found[slots] = lines = []
        for cells, way in product(product(*slots), self.ways):
            for k, cell in enumerate(cells):
                wanted = [cell + (j - k) * way for j in range(len(cells))]
                gaps, stands = set(), []
                for old, new in zip(cells, wanted):
                    across = new % self.wide - old % self.wide
                    down = new // self.wide - old // self.wide
                    gaps.add((across, down))
                    for gap, one in ((across, 1), (down, self.wide)):
                        if gap:
                            stands.append(old - one if gap > 0 else old + one)
                pushes = sum(abs(x) + abs(y) + 2 * bool(x and y) for x, y in gaps)
                if pushes and self.inside.issuperset(stands + wanted):
                    ends = [new for old, new in zip(cells, wanted) if new != old]
                    lines.append((pushes, stands, ends))
        return lines

    def after(self, at, vector):
        """Where things are after a move, and whether it won."""
        does = self.manner(at)
        cells = {}
        for i, cell in enumerate(at):
            cells.setdefault(cell, []).append(i)
        shoved, won = set(), False
        for mover in does["own"]:
            chain, cell = [mover], at[mover]
            while True:
                cell += vector
                there = cells.get(cell, ())
                if cell not in self.inside or any(i in does["stops"] for i in there):
                    break
                pushed = [i for i in there if i in does["pushed"]]
                if not pushed:
                    shoved.update(chain)
                    won |= any(i in does["wins"] for i in cells.get(at[mover] + vector, ()))
                    break
                chain += pushed
        return tuple(c + vector if i in shoved else c for i, c in enumerate(at)), won

    def left(self, at):
        """About how many actions a win is away."""
        does = self.manner(at)
        best = 99
        for mover in does["own"]:
            here = at[mover]
            for win in does["wins"]:
                best = min(best, self.far(here, at[win]))
            for pushes, stands, ends, things in does["to win"]:
                walk = min(self.far(here, stand) for stand in stands)
                last = min(self.far(end, at[i]) for end in ends for i in things)
                best = min(best, pushes + walk + max(last - 1, 0))
            for pushes, stands, ends, things in does["to own"]:
                walk = min(self.far(here, stand) for stand in stands)
                last = min(
                    (self.far(at[i], at[w]) for w in does["wins"] for i in things), default=9
                )
                best = min(best, pushes + walk + last)
        return best

    def search(self, nodes, longest):
        """A shortest way to a win, as far as so many nodes tell; how many were looked at."""
        heap, done, count = [(0, 0, 0, self.start, ())], set(), 0
        while heap and len(done) < nodes:
            *_, at, way = heappop(heap)
            if at in done:
                continue
            done.add(at)
            for action, vector in self.vectors:
                then, won = self.after(at, vector)
                if won:
                    return (*way, action), len(done)
                if then not in done:
                    left = self.left(then)
                    if len(way) + 1 + left <= longest:
                        count += 1
                        heappush(heap, (len(way) + 1 + left, left, count, then, (*way, action)))
        return (), len(done)

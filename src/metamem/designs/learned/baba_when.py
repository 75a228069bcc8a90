"""A model of a world of statements about things, and a plan in it that is made anew while acting.

Stores: how far things lie (which action words are opposite, in which order lines are read), what
statements are made of, what moving onto a thing did given what is said of it (went on, pushed it,
was held up, was rewarded), how large maps are and which words lie at their edges.
Retrieves: the shortest way found from here to what is rewarded, as numbered actions; pushing words
so that a statement comes about or ends is part of the search.
Forgets: the episodes themselves.
"""

import re
from collections import Counter

from metamem.designs import Experience, Memory, Query, Tools, Wait
from metamem.designs.thinking import phrasing
from metamem.designs.thinking.search import search

WORD = "`"  # stands for any thing that is itself a word

Cell = tuple[int, int]
Thing = tuple[str, Cell]


def moved(cell: Cell, by: Cell) -> Cell:
    return cell[0] + by[0], cell[1] + by[1]


def lines_of(observation: str, actions: tuple[str, ...]) -> tuple[list, list]:
    """Statements (three words) and things (label, how far in which directions)."""
    statements, things = [], []
    for line in observation.splitlines():
        name, *rest = re.split(r"(\d+)", line.strip())
        if not rest and len(name.split()) == 3 and not name.endswith(":"):
            statements.append(name.split())
        pairs = zip(rest[::2], rest[1::2])
        way = {w: int(n) for n, after in pairs for w in after.split() if w in actions}
        if way:
            quoted = re.search(r"[`'\"](.+?)[`'\"]", name)
            things.append((WORD + quoted[1] if quoted else name.strip(), way))
    return statements, things


class StatementWorld(Memory):
    """Remembers what statements about things make them do, and plans with it."""

    NODES = 2000  # states that a search looks at
    HASTE = 1.6  # weight of the estimate: more finds a way sooner, less a shorter one
    EVERY = 4  # actions after which a plan is made anew

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.together: Counter[str] = Counter()  # direction, or two of them: in one line
        self.order: Counter[str] = Counter()  # direction: lines that follow lie that way
        self.nouns: set[str] = set()
        self.middles: set[str] = set()
        self.said: Counter[str] = Counter()  # last word of a statement: observations with it
        self.did: dict[str, Counter[str]] = {}  # what is said of a thing: what moving there did
        self.sizes: set[Cell] = set()
        self.gaps: dict[str, list[int]] = {}  # word: most cells to the edges, near ones first
        self.longest = 0

    # --- reading

    def directions(self, actions: tuple[str, ...]) -> dict[str, Cell]:
        """The action words that are directions, with their steps, in reading order."""
        names = [a for a in actions if self.together[a]]
        if len(names) != 4:
            return {}
        first, *others = names
        other = min(others, key=lambda n: self.together[" ".join(sorted((first, n)))])
        vectors = {}
        for step, pair in (
            ((1, 0), (first, other)),
            ((0, 1), [n for n in others if n != other]),
        ):
            ahead, back = sorted(pair, key=lambda n: -self.order[n])
            vectors |= {ahead: step, back: (-step[0], -step[1])}
        return vectors

    def scene(
        self, observation: str, actions: tuple[str, ...], vectors: dict[str, Cell]
    ) -> tuple[list, list[Thing]]:
        """Statements, and things with their cells as seen from here."""
        statements, things = lines_of(observation, actions)
        placed = []
        for label, way in things:
            cells = [(n * vectors[d][0], n * vectors[d][1]) for d, n in way.items() if d in vectors]
            placed.append((label, (sum(c[0] for c in cells), sum(c[1] for c in cells))))
        return statements, placed

    # --- learning

    async def update(self, experience: Experience) -> None:
        actions, steps = experience.actions, experience.steps
        self.longest = max(self.longest, len(steps))
        for observation in (experience.observation, *(s.observation for s in steps)):
            statements, things = lines_of(observation, actions)
            self.nouns |= {words[0] for words in statements}
            self.middles |= {words[1] for words in statements}
            self.said.update({words[2] for words in statements})
            self._learn_order([way for _, way in things])
        vectors = self.directions(actions)
        if not vectors:
            return
        statements, things = first = self.scene(experience.observation, actions, vectors)
        self.nouns |= {label for label, _ in things if label[0] != WORD}
        here, cells = (0, 0), [(0, 0), *(cell for _, cell in things)]
        for step in steps:
            after = self.scene(step.observation, actions, vectors)
            vector = vectors.get(step.action)
            if vector and after[1]:
                went = self._went(things, after[1], vector)
                self._learn_step(statements, things, after[1], vector, went, step)
                here = moved(here, vector) if went else here
            if after[1]:
                statements, things = after
                cells += [here, *(moved(cell, here) for _, cell in things)]
        low, high = corners(cells)
        self.sizes.add((high[0] - low[0] + 1, high[1] - low[1] + 1))
        labels = Counter(label for label, _ in first[1])
        for label, (x, y) in first[1]:
            if label[0] == WORD and labels[label] == 1:
                gaps = [x - low[0], y - low[1], high[0] - x, high[1] - y]
                self.gaps[label] = list(map(max, gaps, self.gaps.get(label, gaps)))

    def _learn_order(self, ways: list[dict[str, int]]) -> None:
        for way in ways:
            self.together.update(way)
            self.together.update([" ".join(sorted(way))] if len(way) == 2 else [])
        for a, b in zip(ways, ways[1:]):
            changed = {d: b.get(d, 0) - a.get(d, 0) for d in {*a, *b}}
            changed = {d: n for d, n in changed.items() if n}
            if len(changed) == 1:
                for d, n in changed.items():
                    self.order[d] += 1 if n > 0 else -1

    def _went(self, before: list[Thing], after: list[Thing], vector: Cell) -> bool:
        """Whether more of what is seen is where it was if one took the step than if one did not."""
        known = set(before)
        return sum((label, moved(c, vector)) in known for label, c in after) > len(
            known.intersection(after)
        )

    def _learn_step(self, statements, before, after, vector, went, step) -> None:
        beyond = moved(vector, vector)
        for label in [label for label, cell in before if cell == vector]:
            said = [w[2] for w in statements if w[0] == label] or [""]
            pushed = went and (label, vector) in after and (label, beyond) not in before
            for kind in [WORD] if label[0] == WORD else said:
                did = self.did.setdefault(kind, Counter())
                did["pushed" if pushed else "entered" if went else "held"] += 1
                did["won"] += bool(step.done and went and not pushed and step.reward > 0)

    def mostly(self, what: str) -> set[str]:
        """What is said of things that mostly did this."""
        found = set()
        for kind, did in self.did.items():
            other = {
                "pushed": did["entered"],
                "held": did["entered"] + did["pushed"],
                "won": did["entered"] + did["pushed"] - did["won"],
            }
            if did[what] > other[what]:
                found.add(kind)
        return found & self.said.keys() | (found & {WORD})

    def bounds(self, things: list[Thing]) -> tuple[Cell, Cell]:
        """The first and last cell of the map: as seen, wider where maps were and words say so."""
        low, high = corners([(0, 0), *(cell for _, cell in things)])
        seen = high[0] - low[0] + 1, high[1] - low[1] + 1
        fits = [s for s in self.sizes if s[0] >= seen[0] and s[1] >= seen[1] and self._whole(s)]
        size = min(fits, key=lambda s: (s[0] * s[1], s), default=seen)
        low, high = list(low), list(high)
        for axis in (0, 1):
            for label, cell in things:
                before, after = self.gaps.get(label, [0] * 4)[axis::2]
                if bool(before) != bool(after):  # it lay at an edge, at one alone
                    if after:
                        high[axis] = max(high[axis], cell[axis] + size[axis] - 1)
                    else:
                        low[axis] = min(low[axis], cell[axis] - size[axis] + 1)
                    break
        return tuple(low), tuple(high)

    def _whole(self, size: Cell) -> bool:
        """Whether no map was seen that is as wide or as high, and larger."""
        return not any(
            t != size
            and t[0] >= size[0]
            and t[1] >= size[1]
            and (t[0] == size[0] or t[1] == size[1])
            for t in self.sizes
        )

    # --- telling

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        actions, wait = query.start_actions or query.actions, Wait(steps=self.EVERY, stuck=1)
        vectors = self.directions(actions)
        if not vectors or not self.said:
            return "", wait
        level = Level(self, *self.scene(query.observation, actions, vectors), vectors)
        if level.fate(level.start):
            return "", wait
        found = search(
            level.start,
            level.moves,
            lambda state: level.fate(state) > 0,
            lambda state: self.HASTE * level.estimate(state),
            nodes=self.NODES,
            longest=max(0, self.longest - len(query.steps)),
        )
        return phrasing.plan(found.actions) if found else "", wait


def corners(cells: list[Cell]) -> tuple[Cell, Cell]:
    xs, ys = [c[0] for c in cells], [c[1] for c in cells]
    return (min(xs), min(ys)), (max(xs), max(ys))


class Level:
    """One map as the memory understands it; a state is the cell of each thing, words first."""

    FAR = 1000  # steps to what cannot be reached
    CROWD = 3  # things that hold one up, from which on they are no aim

    def __init__(self, memory: StatementWorld, statements, things, vectors) -> None:
        self.nouns, self.middles = memory.nouns, memory.middles
        self.mover = max(sorted(memory.said), key=lambda p: memory.said[p])
        self.wins, self.holds, self.pushes = map(memory.mostly, ("won", "held", "pushed"))
        self.low, self.high = memory.bounds(things)
        self.width = self.high[0] - self.low[0] + 3  # with an edge on both sides
        things = sorted(things, key=lambda t: t[0][0] != WORD)
        things += [(w[0], (0, 0)) for w in statements if w[2] == self.mover][:1]
        self.names = [label.lstrip(WORD) for label, _ in things]
        self.words = sum(label[0] == WORD for label, _ in things)
        self.start = tuple(self._number(cell) for _, cell in things)
        self.steps = [(name, v[0] + v[1] * self.width) for name, v in vectors.items()]
        rows = range(self.low[1], self.high[1] + 1)
        columns = range(self.low[0], self.high[0] + 1)
        self.inside = {self._number((x, y)) for x in columns for y in rows}
        self.read: dict[tuple, tuple] = {}
        self.aims: dict[tuple, list] = {}

    def _number(self, cell: Cell) -> int:
        return cell[0] - self.low[0] + 1 + (cell[1] - self.low[1] + 1) * self.width

    def far(self, a: int, b: int) -> int:
        return abs(a % self.width - b % self.width) + abs(a // self.width - b // self.width)

    def says(self, state: tuple) -> tuple[dict[str, set[str]], list[int], list[int]]:
        """What each noun is said to be, which things then move, and which are rewarded."""
        places = state[: self.words]
        if places not in self.read:
            at, said = dict(zip(places, self.names)), {}
            for cell, name in at.items():
                for d in (1, self.width) if name in self.nouns - self.middles else ():
                    last = at.get(cell + 2 * d)
                    if at.get(cell + d) in self.middles and last and last not in self.middles:
                        said.setdefault(name, set()).add(last)
            kinds = {i: said.get(self.names[i], set()) for i in range(self.words, len(state))}
            mine = [i for i in kinds if self.mover in kinds[i]]
            self.read[places] = said, mine, [i for i in kinds if kinds[i] & self.wins]
        return self.read[places]

    def fate(self, state: tuple) -> int:
        """1 for a rewarded state, -1 where nothing moves any more."""
        _, mine, wins = self.says(state)
        here = {state[i] for i in mine}
        return 1 if any(state[i] in here for i in wins) else 0 if mine else -1

    def moves(self, state: tuple):
        for name, move in self.steps:
            after = self._step(state, move)
            if after != state and self.fate(after) >= 0:
                yield name, after, 1.0

    def _step(self, state: tuple, move: int) -> tuple:
        said, mine, _ = self.says(state)
        new = list(state)
        for i in sorted(mine, key=lambda i: -state[i] if move > 0 else state[i]):
            chain, cell, free = [i], new[i] + move, True
            while free and cell in self.inside:
                there = [j for j, place in enumerate(new) if place == cell]
                kinds = {j: said.get(self.names[j], set()) for j in there}
                more = [j for j in there if j < self.words or kinds[j] & self.pushes]
                others = [j for j in there if j not in more and j not in mine]
                free = not any(kinds[j] & self.holds for j in others)
                if free and not more:
                    for j in chain:
                        new[j] += move
                    break
                chain += more
                cell += move
        return tuple(new)

    # --- estimating

    def estimate(self, state: tuple) -> int:
        """What it takes at least, by the easiest way to be rewarded."""
        best = self.FAR
        for here in (state[i] for i in self.says(state)[1]):
            for cost, blocks, places in self._ways(state):
                if cost >= best:
                    break
                if blocks:
                    cost += min(self.far(here, b) for b in blocks) - 1
                for place in places:
                    walk = min(self.far(b, place) for b in blocks or [here])
                    best = min(best, cost + (max(0, walk - 1) if blocks else walk))
        return best

    def _ways(self, state: tuple) -> list[tuple[int, list[int], list[int]]]:
        """Ways to be rewarded, the easiest first: pushes needed, words to push, then to reach."""
        if state in self.aims:
            return self.aims[state]
        said, mine, _ = self.says(state)
        spots: dict[str, list[int]] = {}
        for i in range(self.words, len(state)):
            if i not in mine:
                spots.setdefault(self.names[i], []).append(state[i])
        words = list(zip(self.names, state[: self.words]))
        middles = [c for name, c in words if name in self.middles]
        ends = [c for name, c in words if name in self.wins]
        found = []
        for name, places in spots.items():
            traits = said.get(name, set())
            if traits & self.wins:
                found.append((0, [], places))
            elif not traits & self.holds or len(places) <= self.CROWD:
                for a in (c for other, c in words if other == name):
                    for cells in ((a, b, c) for b in middles for c in ends):
                        costs = [self._pushes(cells, axis) for axis in (0, 1)]
                        found += [(cost, [*cells], places) for cost in costs if cost is not None]
        self.aims[state] = sorted(found, key=lambda way: way[0])
        return self.aims[state]

    def _pushes(self, cells: tuple[int, int, int], along: int) -> int | None:
        """The fewest pushes that put three words in a row, if the edges allow it."""
        cost = 0
        for axis, end in ((0, self.width - 2), (1, self.high[1] - self.low[1] + 1)):
            places = [c // self.width if axis else c % self.width for c in cells]
            goals = [place - k * (axis == along) for k, place in enumerate(places)]
            fixed = {g for g, place in zip(goals, places) if place in (1, end)}
            if len(fixed) > 1:
                return None
            at = fixed.pop() if fixed else min(goals)
            cost += max(0, max(goals) - at) + max(0, at - min(goals))
        return cost

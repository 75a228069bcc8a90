"""Ways on the drawn map, and what to do where they end.

Stores: which sign on the map is one's own, which action moves it how far, how often each drawn sign
was entered, held one up or ended an episode badly; which sign stood where a word was told to be;
what was done in won episodes that mattered for winning, by goal; where goals lay.
Retrieves: one way: the moves to the thing that the goal names, past what kills with what is at hand,
then the steps that won the nearest goal with the words of this one put in.
Forgets: single places.
"""

import itertools
import math
import re
import statistics
from collections import Counter

from metamem.designs import Experience, Memory, Query, Tools, text
from metamem.designs.thinking.search import search

ARTICLE = re.compile(r"^(?:an?|the|some|\d+)\s+(?=\S)")
COORDINATE = re.compile(r"\b[a-z]=(-?\d+)")

Cell = tuple[int, int]


def sections(observation: str) -> dict[str, list[str]]:
    """The lines below each heading, `word:`."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in observation.split("\n"):
        head = re.match(r"([a-z]+):(?: (.*))?$", line)
        if head:
            name = head[1]
            found[name] = [head[2]] if head[2] else []
        else:
            found[name].append(line)
    return found


def place_of(observation: str) -> Cell | None:
    numbers = COORDINATE.findall(observation)
    return (int(numbers[0]), int(numbers[1])) if len(numbers) >= 2 else None


def first_words(observation: str) -> list[str]:
    return text.words(observation.split("\n")[0])


class MapWays(Memory):
    """Remembers how signs on a map behave and what wins at the end of a way."""

    HELD = 0.3  # how much a step in vain counts, beside one that was not even possible
    DEATH = 200.0  # cost of a step that surely ends badly
    LIKE = 0.5  # least likeness of a goal whose steps are taken over
    BAD = 0.3  # chance to die from which a step needs something else first
    REACH = 7  # cells from which a thing is used on what is in the way
    COMMON = 4  # signs drawn most often, which no thing seen stands for
    NAMES = 8  # texts that a word must follow to be one of distance, not of a name
    RARE = 0.2  # share of episodes below which something is a hint
    VERBS = 6  # actions that are tried with an unknown thing
    SPREAD = 0.25  # radians that a told direction may be off
    PATH = 150  # longest way told
    NODES = 4000  # places looked at in one search

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.marks: Counter = Counter()  # (section, sign): times it alone changed its place
        self.shifts: dict[str, Counter] = {}  # action: how the place changed
        self.signs: dict[str, Counter] = {}  # sign: what came of going there
        self.drawn: Counter = Counter()  # sign: cells on maps
        self.meant: dict[str, Counter] = {}  # word of a sighting: sign that stood there
        self.won: list[tuple[str, list[str]]] = []  # goal, steps that mattered
        self.met: Counter = Counter()  # word of a sighting: episodes
        self.offered: Counter = Counter()  # action possible at the start: episodes
        self.episodes = 0
        self.tails: dict[str, set] = {}  # word before a direction: texts before it
        self.brought: Counter = Counter()  # what became possible by getting something
        self.longest = 0
        self.ends: list[tuple] = []  # goal, first place, place of what its last part names

    # --- reading

    def _moves(self) -> dict[str, Cell]:
        best: dict[Cell, tuple[int, str]] = {}
        for action, shifts in self.shifts.items():
            shift, n = shifts.most_common(1)[0]
            if max(abs(shift[0]), abs(shift[1])) == 1 and n > 0.7 * sum(shifts.values()):
                best[shift] = max(best.get(shift, (0, "")), (n, action))
        return {action: shift for shift, (_, action) in best.items()}

    def _asked(self, observation: str, actions: tuple, plain: set) -> bool:
        """Whether a question waits: it stands first, and nothing usual can be done."""
        first = next((x for x in sections(observation).values() if x), [])
        return "?" in " ".join(first) and not plain & set(actions)

    def _cells(self, observation: str) -> dict[Cell, str]:
        """The map as place -> sign, in the coordinates that are told."""
        place = place_of(observation)
        if not self.marks or place is None:
            return {}
        (name, mark), _ = self.marks.most_common(1)[0]
        lines = sections(observation).get(name, [])
        at = [(line.index(mark), y) for y, line in enumerate(lines) if mark in line]
        if not at:
            return {}
        dx, dy = place[0] - at[0][0], place[1] - at[0][1]
        return {
            (x + dx, y + dy): sign
            for y, line in enumerate(lines)
            for x, sign in enumerate(line)
            if sign != " " and (x, y) != at[0]
        }

    def _sightings(self, observation: str, moves: dict) -> list[tuple[str, list]]:
        """Lines that end in directions: their text, and the directions as shifts."""
        found = []
        for line in (x for lines in sections(observation).values() for x in lines):
            first, *parts = [p.strip() for p in line.split(",")]
            head, _, last = first.rpartition(" ")
            spoken = [way.split("-") for way in (last, *parts)]
            units = {m: (x / math.hypot(x, y), y / math.hypot(x, y)) for m, (x, y) in moves.items()}
            if all(p in moves for way in spoken for p in way):
                ways = [[units[p] for p in way] for way in spoken]
                found.append((head, [tuple(map(sum, zip(*way))) for way in ways]))
        return found

    def _toward(self, place: Cell, way: tuple, cells: dict) -> list[Cell]:
        """Cells in a direction."""
        found = []
        angle = math.atan2(way[1], way[0])
        for cell in cells:
            off = math.atan2(cell[1] - place[1], cell[0] - place[0]) - angle
            if abs((off + math.pi) % (2 * math.pi) - math.pi) <= self.SPREAD:
                found.append(cell)
        return found

    def _name(self, head: str) -> str:
        """What is seen, without the words of distance after it."""
        name = head.split()
        while name and len(self.tails.get(name[-1], ())) >= self.NAMES:
            name.pop()
        return " ".join(name)

    # --- learning

    async def update(self, experience: Experience) -> None:
        steps = experience.steps
        self.longest = max(self.longest, len(steps))
        moves = self._moves()
        before, possible = experience.observation, experience.actions
        plain, known = set(possible) - set(moves), set(possible)
        cells = self._cells(before)
        tried: set = set()
        for n, step in enumerate(steps):
            self._learn_mark(before, step.observation)
            asked = self._asked(before, possible, plain)
            asks = self._asked(step.observation, step.actions, plain)
            here, there = place_of(before), place_of(step.observation)
            if here and there and here != there and not asked:
                shift = (there[0] - here[0], there[1] - here[1])
                self.shifts.setdefault(step.action, Counter())[shift] += 1
            if step.action in moves and here and not asked:
                target = self._next(here, moves[step.action])
                died = step.done and step.reward <= 0 and n + 1 < self.longest
                came = "enter" if there == target else "stay" if there == here else ""
                if step.done:
                    came = "enter" if step.reward > 0 else "death" if died else ""
                self._learn_sign(cells.get(target, " "), came)
            if not asked and not asks and here == there and step.action not in moves:
                self.brought.update(sorted(set(step.actions) - known - set(moves)))
            for action in moves if there and not asks and not step.done else ():
                if action not in step.actions and (there, action) not in tried:
                    tried.add((there, action))
                    self._learn_sign(cells.get(self._next(there, moves[action]), " "), "shut")
            known |= set(step.actions)
            fresh = self._cells(step.observation)
            self.drawn.update(fresh.values())
            self._learn_meaning(step.observation, fresh, moves)
            cells.update(fresh)
            before, possible = step.observation, step.actions
        if experience.reward > 0:
            self.won.append((experience.goal, self._mattered(experience, moves)))
        self._learn_end(experience, cells)
        self.episodes += 1
        self.offered.update(set(experience.actions))
        looks = {experience.observation, before}
        said = {w for o in looks for head, _ in self._sightings(o, moves) for w in text.words(head)}
        self.met.update(said)

    def _next(self, at: Cell, shift: Cell) -> Cell:
        return at[0] + shift[0], at[1] + shift[1]

    def _learn_sign(self, sign: str, came: str) -> None:
        self.signs.setdefault(sign, Counter()).update([came] if came else [])

    def _learn_mark(self, before: str, after: str) -> None:
        old, new = sections(before), sections(after)
        for name in old:
            if len(old[name]) < 2 or len(new.get(name, ())) < 2:
                continue
            a, b = "\n".join(old[name]), "\n".join(new[name])
            for sign in sorted(set(a) & set(b)):
                single = a.count(sign) == b.count(sign) == 1
                if single and not sign.isalnum() and not sign.isspace():
                    self.marks[name, sign] += a.index(sign) != b.index(sign)

    def _learn_meaning(self, observation: str, cells: dict, moves: dict) -> None:
        """Which sign stands for a word: the only uncommon one in a direction that was told."""
        place = place_of(observation)
        common = {sign for sign, _ in self.drawn.most_common(self.COMMON)}
        for head, ways in self._sightings(observation, moves) if place else ():
            words = text.words(head)
            for _ in range(2):
                head, _, last = head.rpartition(" ")
                self.tails.setdefault(last, set()).add(head)
            for way in ways:
                near = [c for c in self._toward(place, way, cells) if cells[c] not in common]
                for word in words if len(near) == 1 else ():
                    self.meant.setdefault(word, Counter())[cells[near[0]]] += 1

    def _learn_end(self, experience: Experience, cells: dict) -> None:
        """Where the sign was that the last words of the goal mean."""
        start = place_of(experience.observation)
        words = [w for w in text.content_words(experience.goal) if w in self.meant]
        if words and start:
            sign = self.meant[words[-1]].most_common(1)[0][0]
            found = [c for c in cells if cells[c] == sign]
            if len(found) == 1 and found[0] != start:
                self.ends.append((experience.goal, start, found[0]))

    def _mattered(self, experience: Experience, moves: dict) -> list[str]:
        """The last step, what first made it possible, and what brought the things that it names."""
        steps = experience.steps
        could = [experience.actions, *(s.actions for s in steps)]
        seen = [experience.observation, *(s.observation for s in steps)]
        plain = set(experience.actions) - set(moves)
        asked = [self._asked(o, a, plain) for o, a in zip(seen, could)]
        walked = [
            (s.action in moves and not asked[n])
            or (not s.done and place_of(seen[n]) != place_of(seen[n + 1]))
            for n, s in enumerate(steps)
        ]
        chain: set[int] = set()
        wanted = [len(steps) - 1]
        while wanted:
            n = wanted.pop()
            if n < 0 or n in chain or walked[n]:
                continue
            chain.add(n)
            action = steps[n].action
            if asked[n]:
                wanted.append(n - 1)
            else:
                first = next(k for k in range(n + 1) if action in could[k] or k == n)
                if first and not asked[first - 1]:
                    wanted.append(first - 1)
            names = set(text.content_words(action)[1:])
            brought = (k for k in range(n) if not walked[k])
            brought = (k for k in brought if names <= set(first_words(steps[k].observation)))
            wanted += [k for k in [next(brought, -1)] if names]
        return list(dict.fromkeys(steps[n].action for n in sorted(chain)))

    # --- telling

    async def retrieve(self, query: Query) -> str:
        moves, place = self._moves(), place_of(query.observation)
        if not moves or place is None:
            return ""
        cells = self._cells(query.observation)
        things = self._things(query, place, cells, moves)
        named = [t for t in things if t[0]]
        loose = [t for t in things if ARTICLE.match(t[2]) and t[1] < self.RARE * self.episodes]
        ending = self._ending(query.goal)
        *before, last = re.split(r",| and ", query.goal)
        words = set(text.content_words(last))
        ends = bool(before and words & set(self.meant))
        if ends:  # what is only named before does not count
            named = [t for t in named if words & set(text.words(t[2]))]
        if not ending and (named or ends):
            cell = named[0][3] if named else self._expected(query.goal, place)
            way = self._walk(place, cell, cells, moves)
            deadly = next(
                (n for n, (at, a) in enumerate(way) if self._deadly(at, moves[a], cells)), -1
            )
            told = [action for _, action in way]
            if deadly >= 0:
                told = self._past(told, deadly, things, place, cell, cells, moves, query)
        elif named or loose:  # the goal is to do something with a thing
            _, _, name, cell = (named or loose)[0]
            way = self._walk(place, cell, cells, moves)
            if not named:  # it may lie under what is seen
                name = self._parts(query.goal)[1] or name
            told = [a for _, a in way] + self._using(ending, ARTICLE.sub("", name), query)
        else:
            told = ending
        return text.numbered(told[: self.PATH])

    def _things(self, query: Query, place: Cell, cells: dict, moves: dict) -> list[tuple]:
        """What is seen: how many words it shares with the goal, how often such was met, name, cell."""
        goal = {w.rstrip("s") for w in text.words(query.goal)}
        found = []

        def add(name: str, cell) -> None:
            said = text.content_words(name)
            shared = [w for w in said if w.rstrip("s") in goal]
            found.append(
                (
                    len(shared),
                    min((self.met[w] for w in said), default=0),
                    name,
                    cell(shared or said),
                )
            )

        for head, ways in self._sightings(query.observation, moves):
            near = [c for way in ways for c in self._toward(place, way, cells)]
            name = self._name(head)
            if near and name:
                add(name, lambda words: max(near, key=lambda c: self._fit(words, c, place, cells)))
        told = "; ".join(x for y in sections(query.observation).values() for x in y).split("; ")
        for part in told:  # not told where: under the mark
            spoken = part.rpartition(" ")[2].split("-")
            if ARTICLE.match(part) and " - " not in part and not all(x in moves for x in spoken):
                add(part, lambda words: place)
        return sorted(found, key=lambda t: (-t[0], t[1]))

    def _fit(self, words: list[str], cell: Cell, place: Cell, cells: dict) -> tuple:
        """How well a sign there goes with words, then how near it is."""
        meant = [self.meant.get(w, Counter()) for w in words]
        fit = sum((m[cells[cell]] + 0.1) / (1 + m.total()) for m in meant)
        away = max(abs(place[0] - cell[0]), abs(place[1] - cell[1]))
        return fit / (1 + self.drawn[cells[cell]]), -away

    def _expected(self, goal: str, place: Cell) -> Cell:
        """Where the end was in the most alike episodes, from their beginning; else across the middle."""
        words = text.content_words(goal)
        shifts = [
            (b[0] - a[0], b[1] - a[1])
            for g, a, b in self.ends
            if text.overlap(text.content_words(g), words) >= self.LIKE
        ]
        if shifts:
            x, y = (int(statistics.median(part)) for part in zip(*shifts))
            return place[0] + x, place[1] + y
        sums = [(a[0] + b[0], a[1] + b[1]) for _, a, b in self.ends] or [
            (2 * place[0], 2 * place[1])
        ]
        x, y = (int(statistics.median(part)) for part in zip(*sums))
        return x - place[0], y - place[1]

    def _ending(self, goal: str) -> list[str]:
        """The steps that won the nearest goal, or goals of this form with the words of this one."""
        words = text.content_words(goal)
        best = max(
            (text.overlap(text.content_words(g), words), -len(steps), steps)
            for g, steps in [("", []), *((g, steps) for g, steps in self.won if steps)]
        )
        if best[0] >= self.LIKE:
            return best[2]
        verb, noun = self._parts(goal)
        shapes: Counter = Counter()
        for g, steps in self.won:
            does, what = self._parts(g)
            if does in steps:
                shapes[tuple("\n" if x == does else x.replace(what, "\t") for x in steps)] += 1
        if not verb or not shapes:
            return []
        shape = max(shapes, key=lambda x: (shapes[x], len(x)))
        return [verb if x == "\n" else x.replace("\t", noun) for x in shape]

    def _parts(self, goal: str) -> tuple[str, str]:
        """What is to be done, and with what: around an article, where the goal is that short."""
        m = re.match(r"(\w+(?: \w+)?) (?:the|an?) (\w+)\W*$", goal.lower())
        return (m[1], m[2]) if m else ("", "")

    def _using(self, ending: list[str], name: str, query: Query) -> list[str]:
        """What won done with the thing, or else all that it may make possible."""
        last = ending[-1].split() if ending else []
        if len(last) == 1:
            return ending
        if last and last[-1].rstrip("s") == name.split()[-1].rstrip("s"):
            return [*ending[:-1], f"{last[0]} {name}"]
        return self._taking() + self._trying(name, query)

    def _naming(self) -> list[list[str]]:
        """Won steps that ended with naming a thing."""
        return [steps for _, steps in self.won if len(steps) > 2 and " " in steps[-1]]

    def _taking(self) -> list[str]:
        """The action that most often began such steps."""
        return [a for a, _ in Counter(steps[0] for steps in self._naming()).most_common(1)]

    def _choice(self, name: str) -> str:
        """How a thing is named in answer to a question."""
        found = Counter(steps[-1].split()[0] for steps in self._naming()).most_common(1)
        return " ".join([*(word for word, _ in found), name])

    def _trying(self, name: str, query: Query) -> list[str]:
        """All that such a thing may be good for."""
        verbs = (verb for verb, _ in self.brought.most_common() if verb not in query.actions)
        new = itertools.islice(verbs, self.VERBS)
        return [a for verb in new for a in (verb, self._choice(name))]

    def _past(self, way, n, things, place, cell, cells, moves, query) -> list[str]:
        """The way past what kills: with what is held, or else with what lies there."""
        held = re.search(r" - (?:an? )?(.*?)\.?$", query.observation.split("\n")[0])
        rare = [a for a in query.actions if self.offered[a] < self.RARE * self.episodes]
        hints = sorted((a for a in rare if a not in moves), key=lambda a: self.offered[a])
        if held and hints:
            tries = [hints[0], self._choice(held[1]), way[n]]  # it may have to be aimed
            early = max(0, n - self.REACH)
            return way[:early] + tries + way[early:]
        for _, _, name, spot in sorted(things, key=lambda t: t[1]):
            to = self._walk(place, spot, cells, moves)
            deadly = any(self._deadly(at, moves[a], cells) for at, a in to)
            if ARTICLE.match(name) and spot != cell and (to or spot == place) and not deadly:
                take = [a for _, a in to] + self._taking()
                back = [a for _, a in self._walk(spot, cell, cells, moves)]
                return take + self._trying(ARTICLE.sub("", name), query) + back
        return way[:n]

    # --- ways

    def _odds(self, sign: str) -> tuple[float, float]:
        """How likely one gets there, and how likely that ends badly."""
        came = self.signs.get(sign, Counter())
        went, held = came["enter"] + came["death"], self.HELD * came["stay"] + came["shut"]
        return (went + 1) / (went + held + 2), came["death"] / (went + held + 1)

    def _deadly(self, at: Cell, shift: Cell, cells: dict) -> bool:
        sign = cells.get(self._next(at, shift), " ")
        return sign != " " and self._odds(sign)[1] > self.BAD

    def _walk(self, start: Cell, goal: Cell, cells: dict, moves: dict) -> list[tuple[Cell, str]]:
        """The surest way: each place, and the move from there."""
        xs, ys = zip(*cells, start, goal)

        def steps(at: Cell):
            for action, shift in moves.items():
                to = self._next(at, shift)
                go, bad = self._odds(cells.get(to, " "))
                price = 1 / go**2 + self.DEATH * bad if to != goal else 1.0
                if min(xs) <= to[0] <= max(xs) and min(ys) <= to[1] <= max(ys):
                    yield action, to, math.exp(-min(price, self.DEATH) / 2)

        found = search(start, steps, lambda at: at == goal, nodes=self.NODES).actions
        shifts = [moves[action] for action in found]
        return list(zip(itertools.accumulate([start, *shifts], self._next), found))

"""A drawn map read by what moves, blocks, kills and wins; things taken and used; ways told from here.

Stores: which drawn mark is the agent (it moves as the told numbers do), what each action moves it by,
how often each mark let it pass, killed or won, what takes a thing, which verbs ended wins.
Retrieves: a way from here: to what wins, to a thing that the goal names and what to do with it, to the
edge of the unknown, or to what bars the way; answers to questions. Asked again while acting.
Forgets: single episodes and their places, but for where goals lay from the start.
"""

import heapq
import re
from collections import Counter

from metamem.designs import Experience, Memory, Query, Tools, Wait, text

SMALL = {
    "the",
    "a",
    "an",
    "and",
    "of",
    "to",
    "in",
    "it",
    "at",
    "you",
    "is",
    "with",
    "what",
    "all",
    "into",
    "from",
}
AROUND = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def stems(s):
    return {
        w[:-1] if len(w) > 3 and w.endswith("s") else w for w in text.words(s) if w not in SMALL
    }


def add(a, b):
    return (a[0] + b[0], a[1] + b[1])


def apart(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


def questions(steps):
    """For each observation whether it asks: a question mark, and the verb that led there is gone."""
    asks, verb = [False], ""
    for step in steps:
        verb = verb if asks[-1] else step.action
        asks.append("?" in step.observation and verb not in step.actions)
    return asks


class Scene:
    """One observation: named values, headed sections, told numbers, the drawing around the agent."""

    def __init__(self, observation):
        self.lines, self.sections, self.cells, rows = observation.split("\n"), {}, {}, []
        self.named = dict(re.findall(r"^([A-Za-z]\w*): (.+)", observation, re.M))
        for line in self.lines:
            if re.fullmatch(r"[A-Za-z]\w*:", line):
                rows = self.sections.setdefault(line, [])
            else:
                rows.append(line)
        numbers = re.findall(r"\b[a-z]=(-?\d+)", observation)
        self.at = (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else None

    def singles(self):
        """Where marks stand that are drawn once under a heading."""
        for head, rows in self.sections.items():
            counts = Counter("".join(rows))
            for y, row in enumerate(rows):
                for x, mark in enumerate(row):
                    if counts[mark] == 1 and not mark.isalnum():
                        yield (head, mark), (x, y)

    def draw(self, head, mark):
        rows = self.sections.get(head, [])
        place = next(((row.find(mark), y) for y, row in enumerate(rows) if mark in row), None)
        if self.at and place:
            ox, oy = self.at[0] - place[0], self.at[1] - place[1]
            self.cells = {
                (ox + x, oy + y): c
                for y, row in enumerate(rows)
                for x, c in enumerate(row)
                if c != " "
            }
        return self


class MapMemory(Memory):
    """Remembers what the marks of a drawn map do, and how things are taken and used."""

    DEADLY = 0.25  # share of entries that killed, from which a mark is kept from
    BLOCKED = 0.15  # share of tries that moved, below which a mark blocks
    REACH = 5  # cells from which a thing is used on what bars the way
    ASK = 8  # actions between two questions while exploring
    FILL = 6  # actions told on into the dark
    EARLY = 16  # actions during which it is asked again after each edge
    USES = 3  # times a thing is used on what bars the way
    AWAY, TOWARD = (
        0.4,
        0.4,
    )  # how much edges far from the start, or near where goals lay, are preferred

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.selves, self.shifts, self.starts, self.episodes = Counter(), {}, Counter(), 0
        self.tried, self.moved, self.killed, self.won = Counter(), Counter(), Counter(), Counter()
        self.takes, self.spots, self.vain, self.directs, self.deaths = (Counter() for _ in range(5))
        self.asked, self.offered, self.answers, self.used = (Counter() for _ in range(4))
        self.winners, self.finals, self.places = {}, {}, {}

    # ---- learning

    async def update(self, experience: Experience) -> None:
        steps, goal = experience.steps, " ".join(sorted(stems(experience.goal)))
        scenes = [Scene(experience.observation)] + [Scene(s.observation) for s in steps]
        self.episodes += 1
        self.starts.update(experience.actions)
        for before, after, step in zip(scenes, scenes[1:], steps):
            if before.at and after.at and before.at != after.at:
                shift = (after.at[0] - before.at[0], after.at[1] - before.at[1])
                self.shifts.setdefault(step.action, Counter())[shift] += 1
                old = dict(before.singles())
                for key, place in after.singles():
                    if key in old:
                        self.selves[key] += 1 if add(old[key], shift) == place else -1
        moves, asks, verb = self._moves(), questions(steps), ""
        for scene in scenes:
            scene.draw(*self._self())
        for i, step in enumerate(steps):
            before, after = scenes[i], scenes[i + 1]
            possible = steps[i - 1].actions if i else experience.actions
            won = step.done and experience.reward > 0
            dead = step.done and not won and after.at is None
            if asks[i + 1]:
                self.asked[""] += 1
                self.offered.update(step.actions)
            if asks[i]:
                self.answers[text.first_word(step.action)] += won
            elif step.action in moves:
                self._learn_move(before, after, step.action, possible, moves, dead)
                if won and before.cells:
                    mark = before.cells.get(add(before.at, moves[step.action]), " ")
                    self.won[mark] += 1
                    self.winners.setdefault(goal, Counter())[mark] += 1
            else:
                verb = step.action
                self.used[verb] += 1
                self.deaths[verb] += dead
                self.directs[verb] += asks[i + 1] and sum(a in moves for a in step.actions) > 2
                self._learn_take(before, after, verb)
            if won and verb:
                self.finals.setdefault(goal, Counter())[
                    verb, step.action not in moves or asks[i]
                ] += 1
        wins = {m for counts in self.winners.values() for m in counts}
        goals = [c for s in scenes for c, m in s.cells.items() if m in wins]
        if goals and scenes[0].at:
            self.places.setdefault(goal, []).append(
                (goals[0][0] - scenes[0].at[0], goals[0][1] - scenes[0].at[1])
            )

    def _learn_move(self, before, after, action, possible, moves, dead):
        if not before.cells:
            return
        for other, shift in moves.items():
            if other == action or other not in possible:
                mark = before.cells.get(add(before.at, shift), " ")
                self.tried[mark, 0 not in shift] += 1
                if other == action:
                    self.moved[mark, 0 not in shift] += after.at != before.at
                    self.killed[mark] += dead

    def _learn_take(self, before, after, verb):
        """What was told of the place is gone, and ends a new line of a list: it was taken."""
        for name, value in before.named.items():
            if name not in after.named and any(
                ln.endswith(" " + value) and ln not in before.lines for ln in after.lines[1:]
            ):
                self.takes[verb] += 1
                self.spots[name] += 1
                return
        if self.takes[verb]:
            self.vain.update(before.named[n] for n in self.spots if n in before.named)

    def _self(self):
        return max(self.selves, key=lambda k: (self.selves[k], k), default=("", ""))

    def _moves(self):
        """Actions that move by one, the shortest name for each shift."""
        found = {}
        for action in sorted(self.shifts, key=lambda a: (-len(a), a)):
            shift, count = max(self.shifts[action].items(), key=lambda item: (item[1], item[0]))
            if apart(shift, (0, 0)) == 1 and count >= 0.6 * sum(self.shifts[action].values()):
                found[shift] = action
        return {action: shift for shift, action in found.items()}

    # ---- telling

    async def retrieve(self, query: Query):
        self.query, self.moves = query, self._moves()
        scenes = [Scene(query.start or query.observation)] + [
            Scene(s.observation) for s in query.steps
        ]
        self.scenes, self.here = [s.draw(*self._self()) for s in scenes], scenes[-1]
        if not self.moves or not query.actions or not self.here.cells:
            return ""
        self.goal, self.start = stems(query.goal), self.scenes[0].at
        self.names = {shift: action for action, shift in sorted(self.moves.items())}
        self.asks, self.other = questions(query.steps), []
        first = query.start_actions or query.actions
        self.runs = {}
        for action, counts in sorted(self.shifts.items()):
            signs = {tuple((v > 0) - (v < 0) for v in shift) for shift in counts}
            if (
                len(signs) == 1
                and len(counts) > 1
                and any(a.split()[0] == action.split()[0] for a in first)
            ):
                self.runs[signs.pop()] = action
        self._history()
        xs, ys = zip(*self.here.cells)
        self.box = (min(xs) - 1, max(xs) + 1, min(ys) - 1, max(ys) + 1)
        steps, wait = ([self._answer()], Wait(steps=1)) if self.asks[-1] else self._plan()
        return "\n\n".join(
            text.numbered(way) for way in [steps] + self.other
        ) if steps else "", wait

    def _history(self):
        """What happened in this episode: places, bumps, what was done, got and gained."""
        query, verb = self.query, ""
        self.bumps, self.hit, self.done, self.gained, self.chains = (
            set(),
            set(),
            Counter(),
            set(),
            {},
        )
        self.visited = {s.at for s in self.scenes if s.at}
        first = query.start_actions or query.actions
        for i, step in enumerate(query.steps):
            before, after = self.scenes[i], self.scenes[i + 1]
            if self.asks[i]:
                self.chains[verb].append(step.action)
                continue
            verb = step.action
            self.chains[verb] = []
            if verb in self.moves and before.at and after.at == before.at:
                self.bumps.add((before.at, self.moves[verb]))
                self.hit.add(add(before.at, self.moves[verb]))
            elif verb not in self.moves:
                self.done.update([verb, (verb, before.at)])
                self.bumps = {b for b in self.bumps if b[0] != before.at}
                if self.takes[verb]:
                    self.gained |= set(step.actions) - set(
                        query.steps[i - 1].actions if i else first
                    )
        told = "\n".join(s.lines[0] for s in self.scenes)
        self.taken = [ln for ln in self.here.lines if re.match(r"\S - .+", ln) and ln in told]
        if any(ln in self.scenes[0].lines for ln in self.taken):
            self.gained |= {a for a in first if self.starts[a] < 0.3 * self.episodes}
        self.gained = {a for a in self.gained if a not in self.shifts and not self.takes[a]}
        self.crossing = any(
            self.done[a]
            >= (self.USES if any(c in self.moves for c in self.chains.get(a, [])) else 1)
            for a in self.gained
        )
        shown = set(self.here.cells.values())
        for scene in self.scenes[
            -30:-1
        ]:  # what kills and goes about is still there when out of sight
            for cell, mark in scene.cells.items():
                if (
                    mark.isalpha()
                    and mark not in shown
                    and self._deadly(mark)
                    and apart(cell, self.here.at) > 2
                ):
                    self.here.cells[cell] = mark

    # ---- the map

    def _rate(self, mark, diagonal=False):
        tried, moved = (
            c[mark, diagonal] + 0.5 * c[mark, not diagonal] for c in (self.tried, self.moved)
        )
        return (moved + 0.5) / (tried + 1.0)

    def _deadly(self, mark):
        entered = self.moved[mark, True] + self.moved[mark, False]
        return self.killed[mark] > 0 and self.killed[mark] >= self.DEADLY * entered

    def _cost(self, cell, shift, mode):
        """The cost of a step; mode 0: over what is known, 1: also the unknown, 2: also what bars the way."""
        target = add(cell, shift)
        mark, bump = self.here.cells.get(target), (cell, shift) in self.bumps
        if (
            cell == self.here.at
            and not self.asks[-1]
            and self.names[shift] not in self.query.actions
        ):
            return None
        if mark is None:
            return (
                None
                if mode == 0 or bump or any(add(target, a) in self.visited for a in AROUND)
                else 3.0
            )
        if self._deadly(mark):
            return 1.5 if self.crossing else 25.0 if mode == 2 else None
        rate = self._rate(mark, 0 not in shift)
        if rate < self.BLOCKED or bump and not mark.isalpha():
            return 25.0 if mode == 2 and 0 in shift else None
        return 1 / rate + 4.0 * bump

    def _flood(self, start, mode, stop=None):
        dist, back, heap = {start: 0.0}, {}, [(0.0, start)]
        while heap:
            d, cell = heapq.heappop(heap)
            if cell == stop:
                break
            for shift in self.names if d <= dist[cell] else ():
                target, cost = add(cell, shift), self._cost(cell, shift, mode)
                inside = (
                    self.box[0] <= target[0] <= self.box[1]
                    and self.box[2] <= target[1] <= self.box[3]
                )
                if cost is not None and inside and d + cost < dist.get(target, 1e9):
                    dist[target], back[target] = d + cost, (cell, shift)
                    heapq.heappush(heap, (d + cost, target))
        return dist, back

    def _way(self, back, target):
        way = []
        while target in back:
            target, shift = back[target]
            way.append((target, shift))
        return way[::-1]

    def _go(self, way, often=1):
        steps = max(1, min(len(way), max(3, len(way) // often + 1)))
        told = self._spell(way)
        steps = min(steps, len(told))
        return told, Wait(steps=steps, stuck=3, apart=min(3, steps))

    def _spell(self, way):
        """A way in words; straight runs up to what stops them in one action, where there is one for it."""
        told, run = [], 0
        for i, (cell, shift) in enumerate(way):
            told.append(self.names[shift])
            run = run + 1 if i and way[i - 1][1] == shift else 1
            end, last = add(cell, shift), i + 1 == len(way) or way[i + 1][1] != shift
            mark = self.here.cells.get(add(end, shift))
            if (
                last
                and run > 1
                and shift in self.runs
                and (mark is None or self._rate(mark) < self.BLOCKED and not self._deadly(mark))
            ):
                told[-run:] = [self.runs[shift]]
        return told

    def _said(self):
        """Lines that say where: (their words, cells of rare marks that lie in the told directions)."""
        here, marks = self.here, Counter(self.here.cells.values())
        rare = [
            c
            for c, m in here.cells.items()
            if c != here.at and (marks[m] <= 4 and self._rate(m) >= self.BLOCKED or m in self.won)
        ]
        for line in here.lines:
            cells = []
            for token in re.split(r"[ ,]+", line):
                parts = [self.moves.get(p) for p in token.split("-")]
                if all(parts):
                    units = [
                        (x / (x * x + y * y) ** 0.5, y / (x * x + y * y) ** 0.5) for x, y in parts
                    ]
                    vx, vy = sum(u[0] for u in units), sum(u[1] for u in units)
                    fits = []
                    for c in rare:
                        x, y = c[0] - here.at[0], c[1] - here.at[1]
                        cos = (x * vx + y * vy) / (
                            (x * x + y * y) * (vx * vx + vy * vy) + 1e-9
                        ) ** 0.5
                        fits += [(-round(cos, 2), apart(c, here.at), c)] if cos > 0.93 else []
                    cells += [c for _, _, c in sorted(fits)[:1]]
            if cells:
                yield stems(line), cells

    # ---- the plan

    def _plan(self):
        here, query = self.here, self.query
        verbs = [a for a in query.actions if a not in self.shifts]
        fresh = sorted(
            (a for a in verbs if a in self.gained), key=lambda a: (self.done[a], self.starts[a], a)
        )
        taker = next((a for a, _ in self.takes.most_common() if a in query.actions), "")
        target, wins = self._target()
        back = {}
        for mode in (0, 1):
            back = (
                back if target in back or target is None else self._flood(here.at, mode, target)[1]
            )
        place = next((here.named[n] for n in self.spots if n in here.named), "")
        near = bool(self.goal & stems(place))
        place = place if near or self.vain[place] < 2 else ""
        final = self._final(verbs)
        got = any(self.goal & stems(ln) for ln in self.taken)
        if final and (got or near or target is None) and self.done[final, here.at] < 3:
            return [final], Wait(steps=1)
        if (
            taker
            and place
            and not self.done[taker, here.at]
            and (not wins or near or target is not None and target not in back)
        ):
            return [taker], Wait(steps=1)
        if fresh and self.taken and not wins and self.done[fresh[0]] < 4:
            return self._use(fresh[0])
        if target in back:
            return self._go(self._way(back, target), 3 if wins else 1)
        dist, back = self._flood(here.at, 0)
        things = [
            c
            for said, cells in self._said()
            for c in cells
            if said & self.goal or not wins or target is not None
        ]
        things = [(dist[c], c) for c in things if c in back and self._takable(c)]
        if things:
            return self._go(self._way(back, min(things)[1]))
        tour, leg = self._explore(dist, back) if target is None else ([], 0)
        if tour:
            steps = (
                max(3, leg)
                if len(query.steps) < self.EARLY
                else self.ASK
                if len(query.steps) < 40
                else 10
            )
            steps = min(len(tour), steps)
            return tour, Wait(steps=steps, stuck=3, apart=min(4, steps))
        return self._force(target or self._shut(), fresh, verbs)

    def _target(self):
        """Where to go, and whether going there won for goals like this one: a winning mark, or what the goal names."""
        alike = [
            c for g, c in self.winners.items() if text.overlap(sorted(self.goal), g.split()) >= 0.2
        ]
        wins = {
            m
            for c in alike
            for m in c
            if self.won[m] >= 0.3 * (self.moved[m, True] + self.moved[m, False])
        }
        cells = [(0, apart(c, self.here.at), c) for c, m in self.here.cells.items() if m in wins]
        if not wins:
            for said, places in self._said():
                shared = len(said & self.goal)
                cells += [
                    (-shared, apart(c, self.here.at), c)
                    for c in places
                    if shared and c != self.start and not self._deadly(self.here.cells[c])
                ]
        return min(cells)[2] if cells else None, bool(wins)

    def _takable(self, cell):
        mark = self.here.cells[cell]
        rate = self._rate(mark) >= (0.55 if mark.isalpha() else 0.45)
        return (
            rate
            and cell not in self.visited | self.hit
            and not self._deadly(mark)
            and mark not in self.won
        )

    def _final(self, verbs):
        """What can be done now that ended wins of this goal, or that the goal names."""
        known = self.finals.get(" ".join(sorted(self.goal)), {})
        named = [a for a in verbs if stems(a) and stems(a) <= self.goal]
        return max(
            sorted(a for a in verbs if known.get((a, True))) + named[:1],
            key=lambda a: known.get((a, True), 0),
            default="",
        )

    def _explore(self, dist, back):
        """A tour of edges of the unknown: near ones, those far from the start or toward where goals lay, first."""
        cells, known, tour, key = (
            self.here.cells,
            set(self.visited),
            [],
            " ".join(sorted(self.goal)),
        )
        places = [
            add(self.start, p)
            for g, ps in self.places.items()
            if text.overlap(g.split(), key.split()) >= 0.6
            for p in ps
        ]
        dark = max(apart(c, self.start) for c in self.scenes[0].cells) < 4
        leg = 0
        while len(tour) < self.ASK + 2:
            edges = []
            for c in dist:
                fresh = (
                    [add(c, a) for a in AROUND if 0 in a and add(c, a) not in cells]
                    if c not in known
                    else []
                )
                new = sum(not any(add(f, a) in known for a in AROUND) for f in fresh)
                if new:
                    bias = (
                        self.TOWARD * sum(apart(c, p) for p in places) / len(places)
                        if places
                        else -self.AWAY * sum(abs(v - w) for v, w in zip(c, self.start))
                    )
                    edges.append((dist[c] - new + bias, c))
            if not edges:
                break
            way = self._way(back, min(edges)[1])
            tour += self._spell(way)
            leg, end, (x, y) = leg or len(tour), min(edges)[1], way[-1][1]
            if dark:  # on into the dark; where that cannot be, nearly so
                near = sorted(
                    self.names,
                    key=lambda s: (
                        abs(s[0] - x) + abs(s[1] - y),
                        -apart(add(end, s), self.start),
                        s,
                    ),
                )
                self.other = [[self.names[s]] * self.FILL for s in near[1:5]]
                return tour + tour[-1:] * (self.FILL - len(tour)), max(leg, self.FILL)
            if tour[-1] in self.runs.values():  # after a run, round the corner
                turns = [
                    self.runs[s]
                    for s in sorted(self.runs)
                    if s[0] * x + s[1] * y == 0 and self._cost(end, s, 1)
                ]
                self.other = [[run] for run in turns[1:]]
                return tour + turns[:1], len(tour) + 1
            known |= {c for c, _ in way} | {end}
            dist, back = self._flood(end, 0)
        return tour, leg

    def _shut(self):
        """The nearest rare mark that did not let pass."""
        marks, here = Counter(self.here.cells.values()), self.here.at
        shut = [
            c
            for c, m in self.here.cells.items()
            if marks[m] <= 2
            and c != here
            and self._rate(m) < 0.6
            and m not in self.won
            and not m.isalpha()
        ]
        return min(shut, key=lambda c: (abs(c[0] - here[0]) + abs(c[1] - here[1]), c), default=None)

    def _force(self, target, fresh, verbs):
        """Go to what bars the way and do there what came with a thing, or what asks for a direction."""
        way = self._way(self._flood(self.here.at, 2, target)[1], target) if target else []
        if not way:
            return [], Wait(steps=self.ASK)
        cut = next(
            (i for i, (cell, shift) in enumerate(way) if self._cost(cell, shift, 1) is None),
            len(way) - 1,
        )
        use = [a for a in fresh if self.done[a] < self.USES] if self.taken else []
        stop = cut
        while use and stop > 0 and way[stop - 1][1] == way[cut][1] and cut - stop < self.REACH - 1:
            stop -= 1
        if stop:
            steps, wait = self._go(way[:stop])
            bar = add(*way[cut])
            mark = self.here.cells.get(bar, "")
            if mark.isalpha():  # it may come nearer: ask sooner, the more so if it has moved
                still = all(s.cells.get(bar, mark) == mark for s in self.scenes)
                wait = Wait(
                    steps=max(3, (cut - self.REACH) // 2)
                    if still
                    else max(1, (cut - self.REACH) // 3)
                )
            return steps, wait
        move, at = self.names[way[0][1]], self.here.at
        if use:
            return self._use(use[0], move)
        known = self.finals.get(" ".join(sorted(self.goal)), {})
        helped = [a for a in verbs if known.get((a, False)) and self.done[a, at] < 2]
        other = [a for a in verbs if self.directs[a] and self.deaths[a] < 0.1 * self.used[a]]
        if helped:
            return [helped[0], move, move, move], Wait(steps=4)
        if other:
            return [
                min(other, key=lambda a: (self.done[a, at] // 6, -self.directs[a], a)),
                move,
            ] * 6, Wait(steps=12)
        return [self.names[s] for _, s in way], Wait(steps=3)

    def _use(self, verb, move=""):
        """The verb, with the answers that were given after it before in this episode."""
        chain = self.chains.get(verb, [])
        if any(a in self.moves for a in chain) and not move:
            chain = []
        return [verb] + [move if a in self.moves else a for a in chain], Wait(
            steps=1 + len(chain), question=not chain
        )

    # ---- questions

    def _answer(self):
        actions, tried = self.query.actions, Counter(s.action for s in self.query.steps)
        if sum(a in self.moves for a in actions) > 2:
            return self._aim([a for a in actions if a in self.moves])
        got = stems(" ".join(ln[3:] for ln in self.taken))
        verb = next(
            s.action for s, asked in zip(self.query.steps[::-1], self.asks[-2::-1]) if not asked
        )
        bad = self.deaths[verb] > 0.1 * self.used[verb] and not self._final([verb])

        def merit(a):
            said = stems(" ".join(a.split()[1:]))
            escape = self.offered[a] > 0.5 * self.asked[""]
            fit = 2 * len(said & self.goal) + len(said & got) / (1 + len(said))
            return (escape != bad, -fit, -self.answers[text.first_word(a)], tried[a], a)

        return min(actions, key=merit)

    def _aim(self, ways):
        """The direction of the way to what wins, of what the goal names, or of what is shut."""
        here, (target, wins) = self.here.at, self._target()
        named = [
            (-len(said & self.goal), c)
            for said, cells in self._said()
            for c in cells
            if said & self.goal
        ]
        target = target or (min(named)[1] if named and not wins else self._shut())
        if target is None:
            return ways[0]
        way = self._way(self._flood(here, 2, target)[1], target) if wins else []
        sign = way[0][1] if way else tuple((t > h) - (t < h) for t, h in zip(target, here))
        return self.names[sign] if self.names.get(sign) in ways else ways[0]

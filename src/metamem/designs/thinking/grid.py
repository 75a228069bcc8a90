"""A model of moving among things: where actions lead, and what blocks, is pushed, wins or kills.

What a thing does is learned for its *role*: the facts that name it, with its name left out, so
that `wall is solid` tells of `tree is solid` too; without such facts its kind of name. Facts that
are spelled by quoted things side by side are told anew when such things are pushed, if that held
in what was seen.

    >>> model = GridModel()
    >>> for gap in (3, 2, 1):
    ...     before = f"exit {gap} steps to the right"
    ...     after = f"exit {gap - 1} steps to the right" if gap > 1 else "The end"
    ...     model.learn_step(before, "go", after, float(gap == 1), gap == 1)
    >>> model.plan("exit 5 steps to the right").actions
    ('go', 'go', 'go', 'go', 'go')
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from metamem.core.types import Experience
from metamem.designs.thinking import scenes
from metamem.designs.thinking.pushing import Space, Things
from metamem.designs.thinking.scenes import Cell, Scene
from metamem.designs.thinking.search import Found, search

Role = tuple[str, ...]
_STEADY = 0.8  # of the times that an action moved one, it moved one so
_SPELLED = 0.9  # of what could be spelled was so, and the other way round
_PRIOR = 0.5  # times that something else happened, added to those seen
_READ: tuple[Cell, ...] = ((1, 0), (0, 1))  # to the right, and down
_LONGEST = 4  # words of a fact that is spelled


@dataclass
class GridModel:
    """Learns from steps; plans from an observation."""

    marks: Counter[str] = field(default_factory=Counter)  # signs on maps that moved alone
    shifts: dict[str, Counter[Cell]] = field(default_factory=dict)
    outcomes: dict[Role, Counter[str]] = field(default_factory=dict)
    places: list[Counter[str]] = field(default_factory=list)  # of words in facts that are spelled
    spelled: Counter[bool] = field(default_factory=Counter)
    pending: list[tuple[Scene, str, Scene | None, float, bool]] = field(default_factory=list)

    # --- learning ---------------------------------------------------------------------------

    def learn(self, experience: Experience) -> None:
        seen, had = experience.observation, 0.0
        for step in experience.steps:
            self.learn_step(seen, step.action, step.observation, step.reward - had, step.done)
            seen, had = step.observation, step.reward

    def learn_step(
        self, seen: str, action: str, then: str, reward: float = 0.0, done: bool = False
    ) -> None:
        """One step: what was read before and after it, and what it brought."""
        self._watch_marks(seen, then)
        before, after = scenes.read(seen, self.mark), scenes.read(then, self.mark)
        if before is None:
            return
        self._watch_spelling(before)
        if after is not None and seen != then:
            shift = _shift(before, after)
            if shift not in (None, (0, 0)):
                self.shifts.setdefault(action, Counter())[shift] += 1
        self.pending.append((before, action, after if seen != then else before, reward, done))
        if self.vector(action) is not None:
            for past in self.pending:
                self._judge(*past)
            self.pending.clear()
        elif len(self.pending) > 200:
            del self.pending[:100]

    @property
    def mark(self) -> str:
        """The sign for oneself on maps."""
        return self.marks.most_common(1)[0][0] if self.marks else ""

    def vector(self, action: str) -> Cell | None:
        """Where an action moves one, where it is always the same."""
        found = self.shifts.get(action)
        if not found:
            return None
        (shift, count), total = found.most_common(1)[0], found.total()
        return shift if count >= _STEADY * total else None

    def vectors(self) -> list[tuple[str, Cell]]:
        """The actions that move one, and where."""
        return [(a, v) for a in sorted(self.shifts) if (v := self.vector(a)) is not None]

    def _watch_marks(self, seen: str, then: str) -> None:
        one, two = scenes.drawing(seen), scenes.drawing(then)
        if not one or len(one) != len(two) or one == two:
            return
        signs, later = Counter("".join(one)), Counter("".join(two))
        for sign in sorted(signs):
            if signs[sign] == later[sign] == 1 and _find(one, sign) != _find(two, sign):
                self.marks[sign] += 1

    def _judge(
        self, before: Scene, action: str, after: Scene | None, reward: float, done: bool
    ) -> None:
        way = self.vector(action)
        if way is None:
            return
        target = _add(before.at, way)
        names = before.names(target)
        roles = [role for name in names or [""] for role in _roles(name, before.facts)]
        if reward > 0 or done:
            self._count(roles, "win" if reward > 0 else "death")
            return
        if after is None:
            return
        if before == after:
            beyond = _add(target, way)
            free = not before.names(beyond) and _inside(beyond, _box(before))
            if before.drawn or free:  # else what is behind may be what stopped it
                self._count(roles, "block")
            return
        moved = _shift(before, after)
        if moved != way:
            return
        base = _add(before.at, way) if not before.drawn else (0, 0)
        for name in names:
            where = (way[0] + target[0] - base[0], way[1] + target[1] - base[1])
            pushed = name in after.names(where) and name not in before.names(_add(target, way))
            self._count(_roles(name, before.facts), "push" if pushed else "pass")
        if not names:
            self._count(roles, "pass")

    def _count(self, roles: Iterable[Role], outcome: str) -> None:
        for role in roles:
            self.outcomes.setdefault(role, Counter())[outcome] += 1

    def _watch_spelling(self, scene: Scene) -> None:
        words = {cell: word for cell, name in scene.things if (word := scenes.quoted(name))}
        if not words:
            return
        read = set(_side_by_side(words))
        for fact in scene.facts:
            parts = fact.split()
            if set(parts) <= set(words.values()):
                self.spelled[fact in read] += 1
                for place, word in enumerate(parts):
                    while len(self.places) <= place:
                        self.places.append(Counter())
                    self.places[place][word] += 1

    # --- predicting -------------------------------------------------------------------------

    def chance(self, name: str, facts: frozenset[str], outcome: str) -> float:
        """How often things of this role did that: by the closest role that was seen."""
        for role in _roles(name, facts):
            seen = self.outcomes.get(role)
            if seen:
                return seen[outcome] / (seen.total() + _PRIOR)
        return 0.5 if outcome == "pass" else 0.0

    def facts_of(self, facts: frozenset[str], things: Things) -> frozenset[str]:
        """The facts after things have been pushed."""
        if self.spelled[True] < _SPELLED * max(5, self.spelled.total()):
            return facts
        words = {cell: word for cell, name in things if (word := scenes.quoted(name))}
        told = {" ".join(line) for line in self._told(words)}
        known = set(words.values())
        return frozenset(fact for fact in facts if not set(fact.split()) <= known) | told

    def _told(self, words: dict[Cell, str]) -> Iterable[list[str]]:
        """Words side by side, each in a place of a fact where it was seen."""
        if not self.places:
            return
        first, *others = self.places
        for (x, y), word in words.items():
            if word not in first:
                continue
            for dx, dy in _READ:
                line, cell = [word], (x + dx, y + dy)
                for place in others:
                    after = words.get(cell)
                    if after is None or after not in place:
                        break
                    line.append(after)
                    cell = (cell[0] + dx, cell[1] + dy)
                else:
                    yield line

    def plan(self, observation: str, nodes: int = 2000, margin: int = 0) -> Found:
        """The way to what wins, by the model; margin is how far beyond what is seen one may go."""
        scene = scenes.read(observation, self.mark)
        if scene is None:
            return Found()
        low, high = _box(scene)
        box = ((low[0] - margin, low[1] - margin), (high[0] + margin, high[1] + margin))
        space = Space(self, scene, self.vectors(), box)
        return search(space.start, space.moves, space.won, space.left, nodes=nodes)


# --- small geometry -------------------------------------------------------------------------


def _add(one: Cell, two: Cell) -> Cell:
    return (one[0] + two[0], one[1] + two[1])


def _box(scene: Scene) -> tuple[Cell, Cell]:
    cells = [scene.at, *(cell for cell, _ in scene.things)]
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    return (min(xs), min(ys)), (max(xs), max(ys))


def _inside(cell: Cell, box: tuple[Cell, Cell]) -> bool:
    (left, top), (right, bottom) = box
    return left <= cell[0] <= right and top <= cell[1] <= bottom


def _find(rows: list[str], sign: str) -> Cell:
    return next((row.index(sign), y) for y, row in enumerate(rows) if sign in row)


@lru_cache(maxsize=512)
def _shift(before: Scene, after: Scene) -> Cell | None:
    """How far one moved: on a map by the mark, else by what most things moved the other way."""
    if before.drawn:
        return (after.at[0] - before.at[0], after.at[1] - before.at[1])
    once = Counter(name for _, name in before.things)
    later = Counter(name for _, name in after.things)
    then = {name: cell for cell, name in after.things}
    votes = Counter(
        (cell[0] - then[name][0], cell[1] - then[name][1])
        for cell, name in sorted(before.things)
        if once[name] == later[name] == 1
    )
    return votes.most_common(1)[0][0] if votes else None


def _roles(name: str, facts: frozenset[str]) -> list[Role]:
    """What a thing may be known by, closest first."""
    if not name:
        return [("nothing",)]
    told = sorted(
        " ".join("_" if word == name else word for word in fact.split())
        for fact in facts
        if name in fact.split()
    )
    if told:
        return [("facts", *told), *(("fact", one) for one in told)]
    word = scenes.quoted(name)
    kind = name.replace(word, "_") if word else name
    return [("name", kind)] if word else [("name", kind), ("plain",)]


def _side_by_side(words: dict[Cell, str]) -> Iterable[str]:
    """Two to four words that stand side by side, from left to right or from top to bottom."""
    for (x, y), word in words.items():
        for dx, dy in _READ:
            line = word
            for n in range(1, _LONGEST):
                after = words.get((x + n * dx, y + n * dy))
                if after is None:
                    break
                line = f"{line} {after}"
                yield line

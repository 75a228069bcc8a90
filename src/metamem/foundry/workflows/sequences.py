"""Sequences of items that many sessions have in one order, others standing between them or not."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from metamem.foundry.workflows.chance import at_least, dealt, in_order, places, tail

GAP = 4  # others that may stand between two steps
LONGEST = 12
LEVEL = 0.001  # how probable it may be that chance alone gives one of all that is reported
OFTEN = 3  # times that one session counts at most: what somebody does in a row proves little
_MOST = 3_000  # sequences of one length looked at further, those furthest from chance first
_PLACES = 50_000  # of all of them together
_ORDERLY = 2  # sessions with two items in their order for each that has them in the other alone

Pattern = tuple[int, ...]
Ends = dict[int, list[int]]  # by span, where a pattern's last item stands


@dataclass(frozen=True, slots=True)
class Line:
    """A span as numbers of shapes."""

    session: str
    items: tuple[int, ...]


class Lines:
    """All spans, and which of them hold an item."""

    def __init__(self, lines: Sequence[Line], least: int) -> None:
        self.lines = lines
        self._counts = Counter(item for line in lines for item in line.items)
        self._total = self._counts.total()
        self._lengths = Counter(len(line.items) for line in lines)
        self._known_ways: dict[int, int] = {}
        self._holding: dict[int, set[int]] = defaultdict(set)
        self._follows: dict[tuple[int, int], set[str]] = defaultdict(set)
        for at, line in enumerate(lines):
            for item in line.items:
                self._holding[item].add(at)
            for place, item in enumerate(line.items):
                for after in line.items[place + 1 : place + 2 + GAP]:
                    self._follows[item, after].add(line.session)
        self.frequent = frozenset(i for i, times in self._counts.items() if times >= least)

    def sessions(self, spans: Iterable[int]) -> int:
        return len({self.lines[at].session for at in spans})

    def holding(self, pattern: Pattern) -> set[int]:
        """Spans that hold all items of a pattern, in whatever order."""
        sets = sorted((self._holding.get(item, set()) for item in set(pattern)), key=len)
        return set.intersection(*sets)

    def expected(self, pattern: Pattern) -> float:
        """How many places chance would give."""
        chance = dealt(pattern, self._counts, self._total)
        if not chance:
            return 0.0
        return chance * self._ways(len(pattern))

    def _ways(self, steps: int) -> int:
        """Places that so many steps could have."""
        if steps not in self._known_ways:
            lengths = self._lengths.items()
            self._known_ways[steps] = sum(n * places(length, steps, GAP) for length, n in lengths)
        return self._known_ways[steps]

    def stands_out(self, pattern: Pattern, times: int, sessions: int) -> bool:
        """Whether so many places are more than chance gives, however many sequences are looked at, and
        the order is a habit."""
        steps = len(pattern)
        # Half of it for each of the two ways, and of that for each length.
        level = LEVEL * 2.0**-steps / len(self.frequent) ** steps
        return self._is_orderly(pattern) and (
            tail(self.expected(pattern), times) <= level
            or at_least(sessions, self._in_order(pattern)) <= level
        )

    def _in_order(self, pattern: Pattern) -> list[float]:
        """For every session that could hold it, how probable it is that a random order does."""
        by_session: dict[str, float] = {}
        for at in sorted(self.holding(pattern)):
            line = self.lines[at]
            chance = in_order(pattern, Counter(line.items), len(line.items), GAP)
            if chance > 0:
                by_session[line.session] = min(1.0, by_session.get(line.session, 0.0) + chance)
        return list(by_session.values())

    def _is_orderly(self, pattern: Pattern) -> bool:
        for first, second in itertools.pairwise(pattern):
            having = self._follows[first, second]
            if len(having) < _ORDERLY * len(self._follows[second, first] - having):
                return False
        return True


def grown(lines: Lines, least: int) -> dict[Pattern, frozenset[int]]:
    """Sequences of 2 to 12 items that at least so many sessions have, more often than by chance, with
    the spans that hold them."""
    begun: dict[Pattern, Ends] = defaultdict(dict)
    for number, line in enumerate(lines.lines):
        for at, item in enumerate(line.items):
            begun[(item,)].setdefault(number, []).append(at)
    current = {p: ends for p, ends in begun.items() if lines.sessions(ends) >= least}
    frequent = {pattern[0] for pattern in current}
    found: dict[Pattern, frozenset[int]] = {}
    for _ in range(LONGEST - 1):
        longer: list[tuple[float, Pattern, Ends]] = []
        for pattern, ends in current.items():
            for item, after in _extensions(lines, ends, frequent).items():
                # The same twice in a row is one step, or a loop.
                if item == pattern[-1] or lines.sessions(after) < least:
                    continue
                extended = (*pattern, item)
                mean, times = lines.expected(extended), sum(map(len, after.values()))
                if times > mean + math.sqrt(mean):
                    longer.append(((times - mean) / math.sqrt(mean + 1), extended, after))
        longer.sort(key=lambda one: (-one[0], one[1]))
        current = _bounded(longer)
        found.update((pattern, frozenset(ends)) for pattern, ends in current.items())
        if not current:
            break
    return found


def _bounded(longer: Sequence[tuple[float, Pattern, Ends]]) -> dict[Pattern, Ends]:
    """The first of them, as many as can be looked at further."""
    kept: dict[Pattern, Ends] = {}
    places = 0
    for _, pattern, ends in longer[:_MOST]:
        places += sum(map(len, ends.values()))
        if kept and places > _PLACES:
            break
        kept[pattern] = ends
    return kept


def _extensions(lines: Lines, ends: Ends, frequent: set[int]) -> dict[int, Ends]:
    after: dict[int, Ends] = defaultdict(dict)
    for span, last in ends.items():
        items = lines.lines[span].items
        reached = sorted(
            {at for end in last for at in range(end + 1, min(len(items), end + 2 + GAP))}
        )
        for at in reached:
            if items[at] in frequent:
                after[items[at]].setdefault(span, []).append(at)
    return after


def place(
    items: Sequence[int], pattern: Pattern, taken: set[int], start: int = 0
) -> list[int] | None:
    """The first place of a pattern among items that are not taken, neighbours as near as may be. What
    is taken stands between no two steps."""
    dead: set[tuple[int, int]] = set()

    def rest(step: int, after: int) -> list[int] | None:
        if step == len(pattern):
            return []
        for at in range(after + 1, min(len(items), after + 2 + GAP)):
            if at in taken:
                break
            if items[at] == pattern[step] and (step, at) not in dead:
                found = rest(step + 1, at)
                if found is not None:
                    return [at, *found]
                dead.add((step, at))
        return None

    for first in range(start, len(items)):
        if items[first] == pattern[0] and first not in taken:
            found = rest(1, first)
            if found is not None:
                return [first, *found]
    return None

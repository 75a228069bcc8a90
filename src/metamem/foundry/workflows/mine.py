"""From a scope's traces to its workflows: what agents repeat, though names and values differ.

Sequences of shapes that many sessions have in one order, more often than chance would give, are taken one
after the other, those that explain most first; a use belongs to one workflow, and so does what stands between. A sequence in which several
chores are mixed is parted where their values say so. The order of the traces makes no difference, and the
same traces give the same workflows with the same ids.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from metamem.foundry.words import Trace, Workflow
from metamem.foundry.workflows.draft import LEAST, drafted
from metamem.foundry.workflows.parting import parted
from metamem.foundry.workflows.placing import Board, Place
from metamem.foundry.workflows.sequences import Line, Lines, Pattern, grown
from metamem.foundry.workflows.spans import spans

_TRIES = 2_000  # sequences that are looked at closely, so that there is an end to it
_CORE = 0.6  # of a sequence's items at least are never left out


def mine(traces: Iterable[Trace], least: int = LEAST) -> list[Workflow]:
    """The workflows of these traces, each with its occurrences; most sessions first."""
    mining = _Mining(traces, least)
    found = mining.workflows()
    return sorted(found, key=lambda w: (-len({o.session for o in w.occurrences}), w.id))


class _Mining:
    def __init__(self, traces: Iterable[Trace], least: int) -> None:
        ordered = sorted(traces, key=lambda trace: (trace.session, trace.host))
        cut = [span for trace in ordered for span in spans(trace) if span.items]
        keys = sorted({item.key for span in cut for item in span.items})
        number = {key: at for at, key in enumerate(keys)}
        rows = [tuple(number[item.key] for item in span.items) for span in cut]
        self.least = least
        self.board = Board(cut, rows)
        self.lines = Lines([Line(s.session, row) for s, row in zip(cut, rows, strict=True)], least)
        self.patterns = grown(self.lines, least)

    def workflows(self) -> list[Workflow]:
        found: list[Workflow] = []
        queue = [(-self._worth(pattern), pattern) for pattern in self.patterns]
        queue = [entry for entry in queue if entry[0] < 0]
        heapq.heapify(queue)
        tries = 0
        while queue and tries < _TRIES:
            worth, pattern = heapq.heappop(queue)
            now = -self._worth(pattern)
            if now > worth:  # others have taken some of its places: its turn may come later
                if now < 0:
                    heapq.heappush(queue, (now, pattern))
                continue
            tries += 1
            core = self._core(pattern)
            places = self.board.places(self._spans(core), core)
            for group in self._groups(places):
                workflow = self._drawn(group)
                if workflow is not None:
                    found.append(workflow)
        return found

    def _drawn(self, places: Sequence[Place]) -> Workflow | None:
        items = self.board.with_extras(places)
        located = [self.board.located(one, its) for one, its in zip(places, items, strict=True)]
        workflow = drafted(located, self.least)
        if workflow is not None:
            for one, its in zip(places, items, strict=True):
                self.board.take(one, its)
        return workflow

    def _worth(self, pattern: Pattern) -> int:
        """How many uses it explains where no other does; nothing where chance may do so."""
        if len(pattern) < 2:
            return 0
        times = self._times(pattern)
        if len(times) < self.least:
            return 0
        if not self.lines.stands_out(pattern, times.total(), len(times)):
            return 0
        return (len(pattern) - 1) * times.total()

    def _times(self, pattern: Pattern) -> Counter[str]:
        return self.board.times(self._spans(pattern), pattern)

    def _spans(self, pattern: Pattern) -> Iterable[int]:
        known = self.patterns.get(pattern)
        return self.lines.holding(pattern) if known is None else known

    def _core(self, pattern: Pattern) -> Pattern:
        """The pattern without the items that some leave out."""
        shortest = max(2, math.ceil(_CORE * len(pattern)))
        while len(pattern) > shortest:
            having = set(self._times(pattern))
            options = []
            for at in range(len(pattern)):
                without = _collapsed((*pattern[:at], *pattern[at + 1 :]))
                more = len(set(self._times(without)) - having)
                enough = max(2, 0.05 * len(having)) <= more <= len(having)
                if enough and len(without) >= shortest and self._worth(without):
                    options.append((-more, without))
            if not options:
                break
            pattern = min(options)[1]
        return pattern

    def _groups(self, places: Sequence[Place]) -> list[list[Place]]:
        """Places of one workflow each, those with enough sessions."""
        located = [self.board.located(one, self.board.items(one)) for one in places]
        return [[places[at] for at in part] for part in parted(located, self.least)]


def _collapsed(pattern: Pattern) -> Pattern:
    """Without repetitions in a row: those are one step, or a loop."""
    return tuple(item for at, item in enumerate(pattern) if at == 0 or item != pattern[at - 1])

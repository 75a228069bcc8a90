"""Steps after which the next call keeps failing: more often than what else was done in the same sessions.

A session counts once for a step. How likely a failure after it would be anyway is taken from the other calls
of that session, so that a session in which much failed proves little. The evidence is a wager that may be
looked at as often as one likes: by chance it ever grows by 1/p with probability p at most. The wager is that
failures are more likely by some factor; several factors share the stake.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from metamem.evaluation.statistics.binomial import binomial_lower_bound
from metamem.foundry.lessons.sessions import Done

LEVEL = 0.01  # how probable it may be that chance alone gives one of all that are told
FEWEST = 5  # sessions with the step
_ODDS = (2.0, 4.0, 8.0, 16.0)  # by which a failure may be more likely
_OTHERS = 4.0  # calls that the scope's share of failures stands for in a session of few


@dataclass(frozen=True, slots=True)
class Habit:
    """A step, in how many sessions something failed right after it, and in how many it would anyway."""

    step: str
    failed: int
    sessions: tuple[str, ...]
    expected: float

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share of sessions, 95 %."""
        n = len(self.sessions)
        low = binomial_lower_bound(self.failed, n, 0.025)
        return low, 1.0 - binomial_lower_bound(n - self.failed, n, 0.025)


def habits(done: Sequence[Done]) -> list[Habit]:
    """The habits in what was done, the strongest evidence first."""
    known = [call for call in done if call.next_failed is not None]
    if not known:
        return []
    overall = sum(bool(call.next_failed) for call in known) / len(known)
    total = Counter(call.session for call in known)
    failed = Counter(call.session for call in known if call.next_failed)
    by_step: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for call in known:
        by_step[call.step][call.session].append(bool(call.next_failed))
    tested = {step: own for step, own in by_step.items() if len(own) >= FEWEST}
    found = []
    for step, own in tested.items():
        rows = []
        for session, outcomes in own.items():
            others = total[session] - len(outcomes)
            failures = failed[session] - sum(outcomes)
            share = (failures + _OTHERS * overall) / (others + _OTHERS)
            rows.append((any(outcomes), 1.0 - (1.0 - share) ** len(outcomes)))
        wager = _wager(rows)
        if wager >= len(tested) / LEVEL:
            met, expected = sum(x for x, _ in rows), sum(p for _, p in rows)
            found.append((wager, Habit(step, met, tuple(sorted(own)), expected)))
    return [habit for _, habit in sorted(found, key=lambda one: (-one[0], one[1].step))]


def _wager(rows: Sequence[tuple[bool, float]]) -> float:
    """What a stake of 1 has become."""
    total = 0.0
    for odds in _ODDS:
        log = 0.0
        for met, chance in rows:
            p = min(max(chance, 1e-6), 1.0 - 1e-6)
            more = odds * p / (1.0 - p + odds * p)
            log += math.log(more / p) if met else math.log((1.0 - more) / (1.0 - p))
        total += math.exp(min(log, 700.0))
    return total / len(_ODDS)

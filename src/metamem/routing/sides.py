"""Two settings side by side: tasks dealt between a change and what was there before it, and their outcomes.

Both sides learn from all outcomes, so they differ by what they do with the same knowledge. Pairs are made
within each router, in the order in which outcomes came: the first of one side and the first of the other,
then the second of each, and so on. So what is known of the first pairs stays as it is, whoever looks when.
"""

import json
from collections import defaultdict, deque
from dataclasses import dataclass
from functools import lru_cache

from metamem.routing.settings import Settings
from metamem.routing.words import Outcome
from metamem.store.engine import Execute


@dataclass(frozen=True, slots=True)
class Side:
    """How many tasks one side decided, and of how many it is known what came of them."""

    decisions: int = 0
    outcomes: int = 0

    @property
    def known(self) -> float:
        return self.outcomes / self.decisions if self.decisions else 0.0


@dataclass(frozen=True, slots=True)
class Sides:
    before: Side
    now: Side
    pairs: int  # of outcomes, one of each side


def sides(execute: Execute, watch: str) -> Sides:
    """How far it is, counted alone."""
    rows = execute(
        "SELECT d.scope, d.router, d.held_back, COUNT(*), COUNT(o.seq) FROM route_decisions d"
        " LEFT JOIN route_outcomes o ON o.decision = d.id WHERE d.watched = ?"
        " GROUP BY d.scope, d.router, d.held_back",
        (watch,),
    )
    known: dict[tuple[int, str], dict[bool, int]] = defaultdict(dict)
    counted = {True: Side(), False: Side()}
    for scope, router, held_back, decisions, outcomes in rows:
        side = counted[bool(held_back)]
        counted[bool(held_back)] = Side(side.decisions + decisions, side.outcomes + outcomes)
        known[scope, router][bool(held_back)] = outcomes
    pairs = sum(min(each.get(True, 0), each.get(False, 0)) for each in known.values())
    return Sides(counted[True], counted[False], pairs)


def paired(execute: Execute, watch: str, most: int) -> list[tuple[float, float]]:
    """What tasks were worth before and now, in pairs: each at the weights that its caller named."""
    rows = execute(
        "SELECT d.scope, d.router, d.held_back, d.settings, o.success, o.cost, o.latency"
        " FROM route_decisions d JOIN route_outcomes o ON o.decision = d.id"
        " WHERE d.watched = ? ORDER BY o.seq",
        (watch,),
    )
    waiting: dict[tuple[int, str, bool], deque[float]] = defaultdict(deque)
    found: list[tuple[float, float]] = []
    for scope, router, held_back, settings, *came in rows:
        own = bool(held_back)
        worth = _settings(settings).worth(Outcome(*came))
        others = waiting[scope, router, not own]
        if not others:
            waiting[scope, router, own].append(worth)
            continue
        other = others.popleft()
        found.append((worth, other) if own else (other, worth))
        if len(found) == most:
            break
    return found


@lru_cache(maxsize=256)
def _settings(text: str) -> Settings:
    return Settings.of(json.loads(text))

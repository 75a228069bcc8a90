"""Two settings side by side: tasks dealt between a change and what was there before it, and their outcomes.

Both sides learn from all outcomes, so they differ by what they do with the same knowledge. Pairs are made
within each router, in the order in which outcomes came, of neighbours: one of a side and the next, where that
is of the other side. What is in between, of the same side, is left out: so which of a pair is whose was
decided by chance alone, for each pair anew, also where tasks get harder or routers better with time. What is
known of the first pairs stays as it is, whoever looks when.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from metamem.routing.settings import Settings
from metamem.routing.words import Outcome
from metamem.store.engine import Execute

# The index of what was watched is one of a part of the rows, which SQLite sees by these very words alone.
_WATCHED = "d.watched = ? AND d.watched <> ''"
T = TypeVar("T")
Came = tuple[tuple[int, str], bool, T]  # of which router, of which side (before: true), and what


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
    counted = {True: Side(), False: Side()}
    for held_back, decisions, outcomes in execute(
        "SELECT d.held_back, COUNT(*), COUNT(o.seq) FROM route_decisions d"
        f" LEFT JOIN route_outcomes o ON o.decision = d.id WHERE {_WATCHED} GROUP BY d.held_back",
        (watch,),
    ):
        counted[bool(held_back)] = Side(decisions, outcomes)
    return Sides(counted[True], counted[False], count_pairs(execute, watch))


def count_pairs(execute: Execute, watch: str) -> int:
    """How many `paired` finds, at most."""
    rows = execute(
        "SELECT d.scope, d.router, d.held_back FROM route_decisions d"
        f" JOIN route_outcomes o ON o.decision = d.id WHERE {_WATCHED} ORDER BY o.seq",
        (watch,),
    )
    came = (((scope, router), bool(held_back), None) for scope, router, held_back in rows)
    return sum(1 for _ in _neighbours(came))


def paired(execute: Execute, watch: str, most: int) -> list[tuple[float, float]]:
    """What tasks were worth before and now, in pairs: each at the weights that its caller named."""
    rows = execute(
        "SELECT d.scope, d.router, d.held_back, d.settings, o.success, o.cost, o.latency"
        " FROM route_decisions d JOIN route_outcomes o ON o.decision = d.id"
        f" WHERE {_WATCHED} ORDER BY o.seq",
        (watch,),
    )
    came = (
        ((scope, router), bool(held_back), _settings(settings).worth(Outcome(*told)))
        for scope, router, held_back, settings, *told in rows
    )
    return list(islice(_neighbours(came), most))


def _neighbours(came: Iterable[Came[T]]) -> Iterator[tuple[T, T]]:
    """Before and now, of neighbours."""
    newest: dict[tuple[int, str], tuple[bool, T]] = {}
    for router, before, what in came:
        last = newest.pop(router, None)
        if last is None or last[0] == before:
            newest[router] = before, what
        else:
            yield (what, last[1]) if before else (last[1], what)


@lru_cache(maxsize=256)
def _settings(text: str) -> Settings:
    return Settings.of(json.loads(text))

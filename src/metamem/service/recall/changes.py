"""What happened in a scope since a moment, as far as an index must know it.

Every event that changes a fact which is there already counts the scope's generation up by one, and
so does whatever changes facts without an event. So an index that finds as many events as the count
has grown knows all that happened.
"""

import json
from dataclasses import dataclass

from metamem.store.engine import Execute

CHANGING = ("moved", "changed")  # kinds of events
MOST = 500  # events that are followed one by one


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a scope's history has come."""

    generation: int
    seq: int  # of its last event
    last: int  # the number of its newest active fact


def moment_of(execute: Execute, scope: int) -> Moment:
    ((generation, seq, last),) = execute(
        "SELECT generation, (SELECT MAX(seq) FROM events WHERE scope = scopes.number),"
        " (SELECT MAX(number) FROM facts WHERE scope = scopes.number AND lifecycle = 'active')"
        " FROM scopes WHERE number = ?",
        (scope,),
    )
    return Moment(generation, seq or 0, last or 0)


def changed_facts(execute: Execute, scope: int, before: Moment, now: Moment) -> list[int] | None:
    """The numbers of facts that were changed between two moments; None where that is not known."""
    counted = now.generation - before.generation
    if not 0 < counted <= MOST:
        return None
    rows = execute(
        "SELECT b.body FROM events e LEFT JOIN event_bodies b ON b.seq = e.seq"
        f" WHERE e.scope = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ({_marks(CHANGING)})",
        (scope, before.seq, now.seq, *CHANGING),
    )
    if len(rows) != counted or any(body is None for (body,) in rows):
        return None
    ids = sorted({json.loads(body)["fact"] for (body,) in rows})
    found = execute(
        f"SELECT number FROM facts WHERE scope = ? AND id IN ({_marks(ids)})", (scope, *ids)
    )
    return [number for (number,) in found] if len(found) == len(ids) else None


def _marks(values: tuple[str, ...] | list[str]) -> str:
    return ", ".join("?" * len(values))

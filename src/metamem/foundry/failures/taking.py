"""From the log into the stores: sessions that changed are read, linked, and their moments settled.

`standing` says how the loop does: what could have been suggested, what was, and a warning where it is open.
"""

from dataclasses import dataclass

from metamem.foundry.failures.effect import open_sessions, settle
from metamem.foundry.failures.store import keep
from metamem.foundry.traces import Traces, cursor
from metamem.service.database import Database
from metamem.service.writing.leases import Lease
from metamem.store.engine import Execute

JOB = "failures"
MISSED = 10  # chances without a suggestion that are worth a warning


@dataclass(frozen=True, slots=True)
class Taken:
    """What one look at the log brought."""

    cursor: int  # where the next look begins
    sessions: int = 0
    occurrences: int = 0  # new, or newly resolved
    settled: int = 0  # moments whose outcome became known


@dataclass(frozen=True, slots=True)
class Standing:
    """How suggestions of a scope do as a whole."""

    chances: int  # failures for which something had worked in an earlier session
    missed: int  # of them, those at which nobody asked
    moments: int  # that chance was drawn for
    shown: int
    withheld: int
    settled: int
    late: int = 0  # drawn to be shown, and never handed on in time
    warning: str = ""


def take_in(database: Database, scope: int, after: int = 0, *, now: int) -> Taken:
    """Take in what changed after an event, and look again at sessions that have open moments. The same
    twice changes nothing."""
    traces = Traces(database)
    changed = traces.changed(scope, after)
    with database.reading() as execute:
        waiting = open_sessions(execute, scope)
    sessions = list(dict.fromkeys([*(each.session for each in changed), *waiting]))
    occurrences = settled = 0
    for session in sessions:
        trace = traces.trace(scope, session)
        if trace is None:
            continue
        with database.writing() as execute:
            if not execute(
                "SELECT 1 FROM calls WHERE scope = ? AND session = ? LIMIT 1", (scope, session)
            ):
                continue  # erased since it was read: nothing of it may come back
            occurrences += keep(execute, scope, trace)
            settled += settle(execute, scope, trace, now)
    return Taken(cursor(changed, after), len(sessions), occurrences, settled)


def keep_up(database: Database, scope: int, *, now: int) -> Taken:
    """Take in what came since the last time, one process at a time. `Busy` where another is at it."""
    lease = Lease(database, JOB, scope)
    before = lease.take()
    try:
        taken = take_in(database, scope, before, now=now)
        with database.writing() as execute:
            lease.move(execute, taken.cursor, taken.occurrences + taken.settled)
    finally:
        lease.give_back()
    return taken


def standing(execute: Execute, scope: int) -> Standing:
    ((chances, missed),) = execute(
        "SELECT COUNT(*), COALESCE(SUM(NOT EXISTS (SELECT 1 FROM suggestion_moments m"
        " WHERE m.scope = o.scope AND m.session = o.session AND m.signature = o.signature)), 0)"
        " FROM failure_occurrences o WHERE o.scope = ? AND EXISTS (SELECT 1 FROM failure_occurrences p"
        " WHERE p.scope = o.scope AND p.signature = o.signature AND p.told <> ''"
        " AND p.session <> o.session AND p.at < o.at)",
        (scope,),
    )
    ((moments, shown, withheld, late, settled),) = execute(
        "SELECT COUNT(*), COALESCE(SUM(times > 0), 0), COALESCE(SUM(withheld), 0),"
        " COALESCE(SUM(withheld = 0 AND times = 0), 0), COUNT(outcome)"
        " FROM suggestion_moments WHERE scope = ? AND place <> 'prompt'",
        (scope,),
    )
    warning = ""
    if not shown and missed >= MISSED:
        warning = (
            f"{missed} failures came for which something had worked before, and nothing was ever"
            " suggested: are the hooks installed?"
        )
    elif not shown and withheld >= MISSED:
        warning = f"all of {withheld} suggestions were withheld: is the share right?"
    elif shown >= MISSED and not settled:
        warning = f"{shown} suggestions were shown and no outcome is known: are sessions read in?"
    return Standing(chances, missed, moments, shown, withheld, settled, late, warning)

"""From the log to lessons: sessions that changed are kept, and lessons drawn of all of them.

`standing` says how the loop does, with a warning where it is open.
"""

from dataclasses import dataclass

from metamem.foundry.lessons import sessions, store
from metamem.foundry.lessons.conditions import conditions
from metamem.foundry.lessons.drawing import drawn
from metamem.foundry.traces import Traces, cursor
from metamem.service.database import Database
from metamem.store.engine import Execute

MANY = 20  # sessions without any sign of their end, or any lesson, that are worth a warning


@dataclass(frozen=True, slots=True)
class Taken:
    """What one look at the log brought."""

    cursor: int  # where the next look begins
    sessions: int = 0
    lessons: int = 0
    fresh: int = 0  # lessons that were not there before


@dataclass(frozen=True, slots=True)
class Standing:
    """How lessons of a scope do as a whole."""

    sessions: int
    reliable: int  # of which it is known how they ended
    patterns: int
    insights: int
    successes: int
    archived: int
    warning: str = ""


def take_in(database: Database, scope: int, after: int = 0, *, now: int) -> Taken:
    """Keep what changed after an event, and draw lessons of all that is kept. Failures and workflows are
    to be taken in before, since patterns and insights are drawn of them. The same twice changes nothing."""
    traces = Traces(database)
    changed = traces.changed(scope, after)
    for each in changed:
        trace = traces.trace(scope, each.session)
        if trace is None:
            continue
        with database.writing() as execute:
            if execute(
                "SELECT 1 FROM calls WHERE scope = ? AND session = ? LIMIT 1", (scope, each.session)
            ):  # else it was erased since it was read: nothing of it may come back
                sessions.keep(execute, scope, trace)
    compared = conditions(database, scope, lambda session: traces.trace(scope, session))
    with database.writing() as execute:
        found = drawn(execute, scope, compared)
        fresh = store.keep(execute, scope, found, now)
    return Taken(cursor(changed, after), len(changed), len(found), fresh)


def standing(execute: Execute, scope: int) -> Standing:
    known = sessions.ended(execute, scope)
    reliable = sum(one.success is not None for one in known)
    counts = dict(
        execute(
            "SELECT kind, COUNT(*) FROM lessons WHERE scope = ? AND archived = 0 GROUP BY kind",
            (scope,),
        )
    )
    ((away,),) = execute("SELECT COUNT(*) FROM lessons WHERE scope = ? AND archived = 1", (scope,))
    warning = ""
    if len(known) >= MANY and not reliable:
        warning = (
            f"of none of {len(known)} sessions is it known for sure how they ended (tests, a commit, a correction):"
            " nothing can be a success"
        )
    elif len(known) >= MANY and not counts and not away:
        warning = (
            f"{len(known)} sessions were read and no lesson was drawn: is the job run to its end?"
        )
    return Standing(
        len(known),
        reliable,
        counts.get("pattern", 0),
        counts.get("insight", 0),
        counts.get("success", 0),
        away,
        warning,
    )

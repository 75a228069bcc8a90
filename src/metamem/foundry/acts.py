"""What Foundry did, in order, and how far it has read. Whatever reports do say they say of this.

Every function runs inside a block of a database, that of what was done where possible: then both are there,
or neither.
"""

from dataclasses import dataclass
from typing import Literal

from metamem.store.engine import Execute
from metamem.store.sql.base import insert

# What is done to a tool, comes of looking, or keeps the stores in order.
What = Literal[
    "took in",
    "mined",
    "judged",
    "promoted",
    "refused",
    "deployed",
    "withdrawn",
    "disabled",
    "archived",
    "merged",
    "oversaw",
    "failed",  # a look that did not come to its end
]
LOOKED = "overseer"  # the cursor that holds when it was looked last, to the end
MINED_AT = "mined at"  # when workflows were mined last
TRIED = "overseer tried"  # when that was begun last
READ = "failures"  # the newest event that a look has read
CAME = "came of"  # the newest event that there was when something last came of a look


@dataclass(frozen=True, slots=True)
class Did:
    """One thing that was done."""

    number: int
    what: str
    subject: str  # an id: of a tool, a workflow; empty where it is about the scope
    why: str
    at: int


def note(execute: Execute, scope: int, what: What, subject: str, why: str, at: int) -> None:
    insert(
        execute,
        "foundry_acts",
        {"scope": scope, "what": what, "subject": subject, "why": why, "at": at},
    )


def acts(execute: Execute, scope: int, *, after: int = 0, since: int = 0) -> list[Did]:
    """What was done after an act of that number, and not before that time; the oldest first."""
    rows = execute(
        "SELECT number, what, subject, why, at FROM foundry_acts"
        " WHERE scope = ? AND number > ? AND at >= ? ORDER BY number",
        (scope, after, since),
    )
    return [Did(*row) for row in rows]


def cursor_of(execute: Execute, scope: int, job: str) -> int:
    """The number of the last event that a job has seen; 0 at the beginning."""
    rows = execute("SELECT event FROM foundry_cursors WHERE scope = ? AND job = ?", (scope, job))
    return int(rows[0][0]) if rows else 0


def failing(execute: Execute, scope: int) -> Did | None:
    """The last look, where it did not come to its end."""
    rows = execute(
        "SELECT number, what, subject, why, at FROM foundry_acts WHERE scope = ? AND what = 'failed'"
        " ORDER BY number DESC LIMIT 1",
        (scope,),
    )
    last = Did(*rows[0]) if rows else None
    return last if last is not None and last.at >= cursor_of(execute, scope, LOOKED) else None


def count_up_to(execute: Execute, scope: int, job: str, total: int) -> int:
    """How much more there is than a job has told, and that it is told now. What was erased is no more."""
    before = cursor_of(execute, scope, job)
    if total != before:
        execute(
            "INSERT INTO foundry_cursors (scope, job, event) VALUES (?, ?, ?)"
            " ON CONFLICT (scope, job) DO UPDATE SET event = excluded.event",
            (scope, job, total),
        )
    return max(0, total - before)


def set_cursor(execute: Execute, scope: int, job: str, event: int) -> None:
    """Never back: another process may have been further."""
    execute(
        "INSERT INTO foundry_cursors (scope, job, event) VALUES (?, ?, ?)"
        " ON CONFLICT (scope, job) DO UPDATE SET event = excluded.event"
        " WHERE excluded.event > foundry_cursors.event",
        (scope, job, event),
    )

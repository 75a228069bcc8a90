"""What is kept of a session to draw lessons from: how it ended, and the calls that did something.

Every function runs inside a block of a database. A session may be read again, also when it has grown: what
was kept of it is replaced.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from metamem.foundry.failures.intent import Came, came
from metamem.foundry.failures.telling import is_tellable, shown
from metamem.foundry.words import Trace, Use
from metamem.foundry.workflows.shape import shape, summary
from metamem.service.writing.clean import one_line
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert

RELIABLE = 0.6  # how sure an outcome must be to prove anything: tests, a commit, a correction
_GOAL = 200  # characters of what was asked for


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended."""

    session: str
    goal: str
    success: bool | None  # None where that is not reliable
    by: str
    confidence: float
    at: int


@dataclass(frozen=True, slots=True)
class Done:
    """A call that worked and did more than look."""

    session: str
    step: str  # what it was, without its values
    text: str
    next_failed: bool | None


def keep(execute: Execute, scope: int, trace: Trace) -> None:
    """Keep what a trace holds in place of what was kept of it before."""
    for table in ("lesson_sessions", "lesson_calls"):
        execute(f"DELETE FROM {table} WHERE scope = ? AND session = ?", (scope, trace.session))
    ended = trace.outcome
    row: dict[str, Value] = {
        "scope": scope,
        "session": trace.session,
        "goal": one_line(next(iter(trace.prompts.values()), ""), _GOAL),
        "success": None if ended.success is None else int(ended.success),
        "ended_by": ended.by,
        "confidence": ended.confidence,
        "at": _at(trace),
    }
    insert(execute, "lesson_sessions", row)
    for position, (use, after) in enumerate(_done(trace)):
        told = "" if use.redacted else shown(use)
        insert(execute, "lesson_calls", {
            "scope": scope, "session": trace.session, "use_id": use.id, "position": position,
            "step": one_line(summary(use.tool, use.arguments), 80),
            "text": told if is_tellable(told) else "",
            "next_failed": None if after is None else int(after == "failed"),
        })  # fmt: skip


def ended(execute: Execute, scope: int) -> list[Ended]:
    """The sessions of a scope, the oldest first."""
    rows = execute(
        "SELECT session, goal, success, ended_by, confidence, at FROM lesson_sessions"
        " WHERE scope = ? ORDER BY at, session",
        (scope,),
    )
    return [
        Ended(
            session, goal, bool(won) if won is not None and sure >= RELIABLE else None, by, sure, at
        )
        for session, goal, won, by, sure, at in rows
    ]


def calls(execute: Execute, scope: int) -> list[Done]:
    """What was done in the sessions of a scope, in its order."""
    rows = execute(
        "SELECT session, step, text, next_failed FROM lesson_calls WHERE scope = ?"
        " ORDER BY session, position",
        (scope,),
    )
    return [
        Done(session, step, text, None if failed is None else bool(failed))
        for session, step, text, failed in rows
    ]


def _done(trace: Trace) -> Iterator[tuple[Use, Came | None]]:
    """Uses that worked and did something, with what came of the next one of the same agent."""
    by_agent: dict[str, list[Use]] = {}
    for use in trace.uses:
        by_agent.setdefault(use.agent, []).append(use)
    after: dict[str, Came | None] = {}
    for uses in by_agent.values():
        for at, use in enumerate(uses):
            later = (o for o in uses[at + 1 :] if not (use.group and o.group == use.group))
            outcome = next((came(other) for other in later), None)
            after[use.id] = outcome if outcome in ("worked", "failed") else None
    for use in trace.uses:
        if came(use) == "worked" and not shape(use).looks:
            yield use, after[use.id]


def _at(trace: Trace) -> int:
    times = [use.at for use in trace.uses if use.at is not None]
    return max(times, default=trace.ended_at or trace.started_at or 0)

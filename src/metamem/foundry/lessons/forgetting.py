"""What was made of calls that are no longer in the log goes with them, in every scope.

It runs inside the transaction of an erasure, after calls were taken out. A lesson that others taught as well
goes too, and comes back in their words when lessons are next drawn.
"""

from collections.abc import Mapping

from metamem.foundry.lessons.tables import LESSONS
from metamem.store.engine import Execute
from metamem.store.schema import VERSION_TABLE


def forget(execute: Execute) -> Mapping[str, int]:
    """How many lessons went. Nothing where the tables were never made."""
    if not execute(f"SELECT 1 FROM {VERSION_TABLE} WHERE component = ?", (LESSONS.name,)):
        return {"lessons": 0}
    lost = execute(
        "SELECT scope, session FROM lesson_calls WHERE NOT EXISTS (SELECT 1 FROM calls c"
        " WHERE c.scope = lesson_calls.scope AND c.session = lesson_calls.session"
        " AND c.id = lesson_calls.use_id) UNION SELECT scope, session FROM lesson_sessions"
        " WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.scope = lesson_sessions.scope"
        " AND c.session = lesson_sessions.session) UNION SELECT scope, session FROM lesson_sources"
        " WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.scope = lesson_sources.scope"
        " AND c.session = lesson_sources.session)"
    )
    gone = set()
    for scope, session in sorted(set(lost)):
        for (lesson,) in execute(
            "SELECT lesson FROM lesson_sources WHERE scope = ? AND session = ?", (scope, session)
        ):
            gone.add((scope, lesson))
        for table in ("lesson_calls", "lesson_sessions"):
            execute(f"DELETE FROM {table} WHERE scope = ? AND session = ?", (scope, session))
    for scope, lesson in sorted(gone):
        execute("DELETE FROM lessons WHERE scope = ? AND id = ?", (scope, lesson))
        execute("DELETE FROM lesson_sources WHERE scope = ? AND lesson = ?", (scope, lesson))
    return {"lessons": len(gone)}

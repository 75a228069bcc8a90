"""Lessons of a scope, as they were last drawn: to be told in a report, and to begin a session with.

Every function runs inside a block of a database; whoever calls must have asked before whether the scope may
be read. At most 1,000 of a scope are active, the rest is archived and can be restored.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from metamem.core.errors import UsageError
from metamem.foundry.failures.relevance import Goals
from metamem.foundry.failures.store import goal_terms
from metamem.foundry.lessons.drawing import Drawn, evidence_json
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert

ACTIVE = 1_000  # lessons of a scope; the rest is archived
Kind = Literal["pattern", "insight", "success"]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson as it stands in the store."""

    id: str
    kind: Kind
    text: str
    evidence: Mapping[str, Any]
    worth: float
    sessions: int
    first_at: int
    last_at: int
    archived: bool


def keep(execute: Execute, scope: int, drawn: Iterable[Drawn], now: int) -> int:
    """Put what was drawn in place of what was drawn before; how many are new."""
    before = {
        identifier: (sessions, first)
        for identifier, sessions, first in execute(
            "SELECT id, sessions, first_at FROM lessons WHERE scope = ?", (scope,)
        )
    }
    archived = {
        i for (i,) in execute("SELECT id FROM lessons WHERE scope = ? AND archived = 1", (scope,))
    }
    restored = dict(execute("SELECT id, restored_at FROM lessons WHERE scope = ?", (scope,)))
    for table in ("lessons", "lesson_sources"):
        execute(f"DELETE FROM {table} WHERE scope = ?", (scope,))
    fresh = 0
    for one in drawn:
        known = before.get(one.id)
        fresh += known is None
        away = one.id in archived and known is not None and len(one.sessions) <= known[0]
        row: dict[str, Value] = {
            "scope": scope,
            "id": one.id,
            "kind": one.kind,
            "text": one.text,
            "evidence": evidence_json(one),
            "worth": one.worth,
            "sessions": len(one.sessions),
            "first_at": now if known is None else known[1],
            "last_at": now,
            "archived": int(away),
            "restored_at": restored.get(one.id, 0),
        }
        insert(execute, "lessons", row)
        for session in one.sessions:
            insert(
                execute, "lesson_sources", {"scope": scope, "lesson": one.id, "session": session}
            )
    archive_rest(execute, scope)
    return fresh


def lessons(execute: Execute, scope: int, *, archived: bool = False) -> list[Lesson]:
    """All of them: what goes wrong, what was measured, what ended well."""
    return [
        *patterns(execute, scope, archived=archived),
        *insights(execute, scope, archived=archived),
        *successes(execute, scope, archived=archived),
    ]


def patterns(execute: Execute, scope: int, *, archived: bool = False) -> list[Lesson]:
    """What keeps going wrong, what most sessions met first."""
    return _of_kind(execute, scope, "pattern", archived)


def insights(execute: Execute, scope: int, *, archived: bool = False) -> list[Lesson]:
    """What was measured, the greatest difference first."""
    return _of_kind(execute, scope, "insight", archived)


def successes(
    execute: Execute, scope: int, prompt: str = "", *, archived: bool = False
) -> list[Lesson]:
    """What ended well, the surest and newest first; with a prompt those whose goal is like it, the most
    like first."""
    found = _of_kind(execute, scope, "success", archived)
    found.sort(key=lambda one: (-one.worth, -int(one.evidence["at"]), one.id))
    if not prompt:
        return found
    wanted = goal_terms(prompt)
    goals = {one.id: goal_terms(str(one.evidence["goal"])) for one in found}
    known = Goals(goals.values())
    like = {one.id: known.likeness(wanted, goals[one.id]) for one in found}
    return sorted((one for one in found if like[one.id]), key=lambda one: -like[one.id])


def sources(execute: Execute, scope: int) -> dict[str, list[str]]:
    """The sessions that taught each lesson."""
    found: dict[str, list[str]] = {}
    for lesson, session in execute(
        "SELECT lesson, session FROM lesson_sources WHERE scope = ? ORDER BY lesson, session",
        (scope,),
    ):
        found.setdefault(lesson, []).append(session)
    return found


def archive_rest(execute: Execute, scope: int, most: int = ACTIVE) -> int:
    """Put away what is of least worth beyond the most that may be active; how many that were."""
    rows = execute(
        # What was measured or goes wrong is rarer than what went well.
        "SELECT id FROM lessons WHERE scope = ? AND archived = 0"
        " ORDER BY restored_at DESC, kind = 'success', worth DESC, sessions DESC, last_at DESC, id",
        (scope,),
    )
    for (identifier,) in rows[most:]:
        _set_archived(execute, scope, identifier, True)
    return max(0, len(rows) - most)


def archive_unused(execute: Execute, scope: int, before: int) -> int:
    """Put away what no session since that time has taught; how many that were. What more sessions say than
    before is active again."""
    rows = execute(
        "UPDATE lessons SET archived = 1, restored_at = 0"
        " WHERE scope = ? AND archived = 0 AND restored_at < ? AND NOT EXISTS"
        " (SELECT 1 FROM lesson_sources l JOIN lesson_sessions s ON s.scope = l.scope AND s.session = l.session"
        " WHERE l.scope = lessons.scope AND l.lesson = lessons.id AND s.at >= ?) RETURNING id",
        (scope, before, before),
    )
    return len(rows)


def restore(execute: Execute, scope: int, identifier: str, *, at: int) -> None:
    """Make an archived lesson active again; another gives its place where there is none."""
    if not execute("SELECT 1 FROM lessons WHERE scope = ? AND id = ?", (scope, identifier)):
        raise UsageError(f"there is no lesson {identifier}", hint="list the archived ones")
    archive_rest(execute, scope, ACTIVE - 1)
    _set_archived(execute, scope, identifier, False, at)


def _of_kind(execute: Execute, scope: int, kind: Kind, archived: bool) -> list[Lesson]:
    rows = execute(
        "SELECT id, kind, text, evidence, worth, sessions, first_at, last_at, archived FROM lessons"
        " WHERE scope = ? AND kind = ? AND archived = ? ORDER BY worth DESC, sessions DESC, id",
        (scope, kind, int(archived)),
    )
    return [
        Lesson(i, k, text, json.loads(evidence), worth, n, first, last, bool(away))
        for i, k, text, evidence, worth, n, first, last, away in rows
    ]


def _set_archived(
    execute: Execute, scope: int, identifier: str, archived: bool, restored_at: int = 0
) -> None:
    execute(
        "UPDATE lessons SET archived = ?, restored_at = ? WHERE scope = ? AND id = ?",
        (int(archived), restored_at, scope, identifier),
    )

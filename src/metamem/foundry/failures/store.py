"""Failures of a scope, where they happened and what resolved them.

Every function runs inside a block of a database. A trace may be read again, also when it has grown: a use
is one occurrence, by its session and id, and counts are made of occurrences.
"""

from dataclasses import dataclass

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json, content_id
from metamem.core.terms import terms
from metamem.foundry.failures.intent import intent_key
from metamem.foundry.failures.linking import Resolved, Unresolved, link
from metamem.foundry.failures.masking import masked
from metamem.foundry.failures.signature import Signature
from metamem.foundry.failures.telling import difference, plain, plain_of, told
from metamem.foundry.words import Trace, Use
from metamem.service.writing.clean import one_line
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert_new

ACTIVE = 1_000  # failures of a scope; the rest is archived
REPEATED = 3  # occurrences without a resolution that are worth a word
_GOAL = 24  # words of a prompt by which a failure is found again


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as it stands in the store."""

    signature: str
    text: str
    count: int
    sessions: int
    resolved: int
    first_at: int
    last_at: int
    archived: int  # 1 where it was put away
    plain: str = ""  # for agents, in words that no tool chose

    @property
    def for_agents(self) -> str:
        return self.plain or plain_of(self.text)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What resolved a failure. `text` is a phrase, the newest of those that were told; empty where it cannot
    be told to others."""

    id: str
    signature: str
    kind: str
    text: str
    count: int
    sessions: int
    attempts: float  # that it took until it was found, on the average
    last_at: int
    same: int = 0  # sessions in which it was just that; in the others it was like it

    @property
    def homes(self) -> str:
        """How often it worked, in words."""
        often = f"{self.sessions} session{'s' if self.sessions > 1 else ''}"
        return often if self.same >= self.sessions else f"this or a like call in {often}"


def keep(execute: Execute, scope: int, trace: Trace) -> int:
    """Enter what a trace holds; how many occurrences are new or newly resolved."""
    touched: dict[str, Signature] = {}
    fresh = 0
    for found in link(trace):
        resolution = _enter_resolution(execute, scope, found) if isinstance(found, Resolved) else ""
        if _enter(execute, scope, trace, found, resolution):
            fresh += 1
            touched[found.signature.id] = found.signature
    for identifier, named in touched.items():
        row: dict[str, Value] = {"scope": scope, "signature": identifier, "kin": named.kin,
            "text": one_line(named.text, 300), "count": 0, "sessions": 0, "resolved": 0,
            "first_at": 0, "last_at": 0, "archived": 0}  # fmt: skip
        insert_new(execute, "failures", row)
        execute(
            "UPDATE failures SET plain = ? WHERE scope = ? AND signature = ?",
            (plain(named), scope, identifier),
        )
        recount(execute, scope, identifier)
    if touched:
        archive_rest(execute, scope)
    return fresh


def failures(execute: Execute, scope: int, *, archived: bool = False) -> list[Failure]:
    """Those of a scope, most often first."""
    rows = execute(
        "SELECT signature, text, count, sessions, resolved, first_at, last_at, archived, plain FROM failures"
        " WHERE scope = ? AND archived = ? ORDER BY count DESC, signature",
        (scope, int(archived)),
    )
    return [Failure(*row) for row in rows]


def repeated_unresolved(execute: Execute, scope: int) -> list[Failure]:
    """Failures that come again and that nothing has resolved yet. A query: it repeats nothing."""
    return [f for f in failures(execute, scope) if f.count >= REPEATED and not f.resolved]


def counted(execute: Execute, scope: int) -> tuple[int, int]:
    """How many calls failed, and after how many of them something worked."""
    ((failed, resolved),) = execute(
        "SELECT COUNT(*), COALESCE(SUM(kind <> ''), 0) FROM failure_occurrences WHERE scope = ?",
        (scope,),
    )
    return int(failed), int(resolved)


def ways(execute: Execute, scope: int) -> dict[str, dict[str, int]]:
    """By failure, in which ways it was resolved, and how often each."""
    found: dict[str, dict[str, int]] = {}
    for signature, kind, count in execute(
        "SELECT signature, kind, COUNT(*) FROM failure_occurrences WHERE scope = ? AND kind <> ''"
        " GROUP BY signature, kind ORDER BY signature, kind",
        (scope,),
    ):
        found.setdefault(signature, {})[kind] = count
    return found


def resolutions(execute: Execute, scope: int, signature: str) -> list[Resolution]:
    rows = execute(
        "SELECT id, signature, kind, text, count, sessions, attempts, last_at, (SELECT COUNT(DISTINCT o.session)"
        " FROM failure_occurrences o WHERE o.scope = resolutions.scope AND o.resolution = resolutions.id"
        " AND o.signature = resolutions.signature AND o.told = resolutions.text) FROM resolutions"
        " WHERE scope = ? AND signature = ? ORDER BY sessions DESC, last_at DESC, id",
        (scope, signature),
    )
    return [Resolution(*row) for row in rows]


def archive_rest(execute: Execute, scope: int, most: int = ACTIVE) -> int:
    """Put away what is of least value beyond the most that may be active; how many that were."""
    rows = execute(
        "SELECT signature FROM failures WHERE scope = ? AND archived = 0"
        " ORDER BY restored_at DESC, resolved > 0 DESC, sessions DESC, count DESC, last_at DESC, signature",
        (scope,),
    )
    for (identifier,) in rows[most:]:
        _set_archived(execute, scope, identifier, True)
    return max(0, len(rows) - most)


def restore(execute: Execute, scope: int, signature: str, *, at: int) -> None:
    """Make an archived failure active again; another gives its place where there is none."""
    if not execute("SELECT 1 FROM failures WHERE scope = ? AND signature = ?", (scope, signature)):
        raise UsageError(f"there is no failure {signature}", hint="list the archived ones")
    archive_rest(execute, scope, ACTIVE - 1)
    _set_archived(execute, scope, signature, False, at)


def archive_unused(execute: Execute, scope: int, before: int) -> int:
    """Put away what nobody met since that time; how many that were. Met again it is active again."""
    rows = execute(
        "UPDATE failures SET archived = 1, restored_at = 0"
        " WHERE scope = ? AND archived = 0 AND restored_at < ? AND last_at < ?"
        " RETURNING signature",
        (scope, before, before),
    )
    return len(rows)


def recount(execute: Execute, scope: int, signature: str) -> None:
    """Make a failure and its resolutions of their occurrences; what has none left is gone."""
    where = (scope, signature)
    of_it = "FROM failure_occurrences WHERE scope = ? AND signature = ?"
    ((count, sessions, resolved, first, last),) = execute(
        f"SELECT COUNT(*), COUNT(DISTINCT session), SUM(kind <> ''), MIN(at), MAX(at) {of_it}",
        where,
    )
    if not count:
        execute("DELETE FROM failures WHERE scope = ? AND signature = ?", where)
        execute("DELETE FROM resolutions WHERE scope = ? AND signature = ?", where)
        return
    execute(
        # Whoever comes again is active again.
        "UPDATE failures SET archived = CASE WHEN ? > count THEN 0 ELSE archived END, count = ?,"
        " sessions = ?, resolved = ?, first_at = ?, last_at = ? WHERE scope = ? AND signature = ?",
        (count, count, sessions, resolved, first, last, *where),
    )
    execute(
        "DELETE FROM resolutions WHERE scope = ? AND signature = ? AND id NOT IN"
        f" (SELECT resolution {of_it})",
        (*where, *where),
    )
    for identifier, times, homes, attempts, latest in execute(
        f"SELECT resolution, COUNT(*), COUNT(DISTINCT session), AVG(attempts), MAX(at) {of_it}"
        " AND resolution <> '' GROUP BY resolution",
        where,
    ):
        words = execute(
            f"SELECT told {of_it} AND resolution = ? AND told <> ''"
            " ORDER BY at DESC, session, use_id LIMIT 1",
            (*where, identifier),
        )
        execute(
            "UPDATE resolutions SET text = ?, count = ?, sessions = ?, attempts = ?, last_at = ?"
            " WHERE scope = ? AND id = ?",
            (words[0][0] if words else "", times, homes, attempts, latest, scope, identifier),
        )


def goal_terms(text: str) -> set[str]:
    """The words of a goal that tell it from others; never the whole of a long prompt."""
    return set(list(terms(text[:400]))[:_GOAL])


def _enter(
    execute: Execute,
    scope: int,
    trace: Trace,
    found: Resolved | Unresolved,
    resolution: str,
) -> bool:
    kind = found.kind if isinstance(found, Resolved) else ""
    trajectory = canonical_json([[attempt.use, attempt.came] for attempt in found.trajectory])
    goal = " ".join(sorted(goal_terms(trace.prompts.get(found.use.prompt, ""))))
    words = told(found, trace) if isinstance(found, Resolved) and resolution else ""
    key = (scope, trace.session, found.use.id)
    row: dict[str, Value] = {
        "scope": scope,
        "session": trace.session,
        "use_id": found.use.id,
        "signature": found.signature.id,
        "intent": intent_key(found.use),
        "at": _at(found.use, trace),
        "goal": goal,
        "kind": kind,
        "resolution": resolution,
        "told": words,
        "trajectory": trajectory,
        "attempts": len(found.trajectory),
    }
    if insert_new(execute, "failure_occurrences", row):
        return True
    return bool(
        execute(
            "UPDATE failure_occurrences SET kind = ?, resolution = ?, told = ?, trajectory = ?,"
            " attempts = ? WHERE scope = ? AND session = ? AND use_id = ? AND kind = '' AND ? <> '' RETURNING 1",
            (kind, resolution, words, trajectory, len(found.trajectory), *key, kind),
        )
    )


def _enter_resolution(execute: Execute, scope: int, found: Resolved) -> str:
    """The id of what resolved it; what is no lesson (repairs, mere repetition) has none."""
    if found.kind in ("repair", "again"):
        return ""
    identifier = content_id(found.signature.id, found.kind, masked(difference(found)))
    row: dict[str, Value] = {"scope": scope, "id": identifier, "signature": found.signature.id, "kind": found.kind,
           "text": "", "count": 0, "sessions": 0, "attempts": 0.0, "last_at": 0}  # fmt: skip
    insert_new(execute, "resolutions", row)
    return identifier


def _set_archived(
    execute: Execute, scope: int, signature: str, archived: bool, restored_at: int = 0
) -> None:
    execute(
        "UPDATE failures SET archived = ?, restored_at = ? WHERE scope = ? AND signature = ?",
        (int(archived), restored_at, scope, signature),
    )


def _at(use: Use, trace: Trace) -> int:
    return next((at for at in (use.at, trace.ended_at, trace.started_at) if at is not None), 0)

"""Sessions as Foundry sees them: uses in their order, what was asked for, and how it ended.

Jobs go from one cursor to the next: the number of an event, after which they ask what changed. What
the user took back is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metamem.core.access import Scope
from metamem.core.errors import UnknownName
from metamem.foundry.outcomes import outcome
from metamem.foundry.words import Snapshot, Trace, Use
from metamem.service.calls import read_calls
from metamem.service.database import Database
from metamem.service.sight import scope_number
from metamem.service.trees import read_tree
from metamem.service.words import Tree
from metamem.store.engine import Execute


@dataclass(frozen=True, slots=True)
class Changed:
    """A session of which something new was kept, and the newest event that did so."""

    session: str
    event: int


class Traces:
    """Reads traces. Whoever calls must have asked before whether the scope may be read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def traces(self, scope: int | str, after: int = 0) -> Iterator[Trace]:
        """The sessions with calls of which something came after an event, the oldest change first."""
        number = self._number(scope)
        for changed in self.changed(number, after):
            found = self.trace(number, changed.session)
            if found is not None:
                yield found

    def changed(self, scope: int | str, after: int = 0) -> list[Changed]:
        """Sessions with calls of which calls or turns are newer than an event. The last one's event
        is the cursor to go on with."""
        number = self._number(scope)
        with self._database.reading() as execute:
            rows = execute(
                "SELECT session, MAX(event) AS newest FROM ("
                " SELECT session, event FROM calls WHERE scope = ? AND event > ? UNION ALL"
                " SELECT f.session, f.event FROM facts f WHERE f.scope = ? AND f.event > ?"
                " AND f.type = 'turn' AND EXISTS (SELECT 1 FROM calls c"
                " WHERE c.scope = f.scope AND c.session = f.session)) AS several"
                " GROUP BY session ORDER BY newest, session",
                (number, after, number, after),
            )
        return [Changed(session, event) for session, event in rows]

    def trace(self, scope: int | str, session: str) -> Trace | None:
        """One session; None where no call of it stands."""
        number = self._number(scope)
        with self._database.reading() as execute:
            uses = _uses(execute, number, session)
            if not uses:
                return None
            prompts = _prompts(execute, number, session)
            ((tenant, kind, name),) = execute(
                "SELECT tenant, kind, name FROM scopes WHERE number = ?", (number,)
            )
            about = execute(
                "SELECT host, started_at, ended_at FROM sessions WHERE scope = ? AND id = ?",
                (number, session),
            )
            tree = read_tree(execute, number, session)
        host, began, ended = about[0] if about else ("", None, None)
        return Trace(
            str(Scope(tenant, kind, name)),
            host,
            session,
            uses,
            prompts,
            outcome(uses, prompts),
            _snapshot(tree, uses),
            started_at=began,
            ended_at=ended,
        )

    def _number(self, scope: int | str) -> int:
        if isinstance(scope, int):
            return scope
        with self._database.reading() as execute:
            number = scope_number(execute, Scope.parse(scope))
        if number is None:
            raise UnknownName(f"there is no scope {scope}")
        return number


def cursor(changed: Sequence[Changed], before: int) -> int:
    """Where the next look begins."""
    return max((each.event for each in changed), default=before)


def _uses(execute: Execute, scope: int, session: str) -> tuple[Use, ...]:
    return tuple(
        Use(
            **{
                **{name: value for name, value in call.items() if name != "rewound"},
                "result": call["result"] or "",
            }
        )
        for call in read_calls(execute, scope, session).values()
        if not call["rewound"] and call["tool"]
    )


def _snapshot(tree: Tree | None, uses: Sequence[Use]) -> Snapshot | None:
    """The tree that a session began with. One that was looked at when tools had been used already
    may hold what they did: nothing can be replayed from it."""
    if tree is None:
        return None
    late = any(use.at is not None and use.at < tree.at for use in uses)
    return Snapshot(tree.folder, tree.commit, tree.diff, tree.at, tree.whole, late)


def _prompts(execute: Execute, scope: int, session: str) -> dict[str, str]:
    """What the user said, by the host's ids of it; long words stand in several parts."""
    found: dict[str, str] = {}
    for origin, text in execute(
        "SELECT origin, text FROM facts WHERE scope = ? AND session = ? AND type = 'turn'"
        " AND source = 'user' AND lifecycle = 'active' ORDER BY position, number",
        (scope, session),
    ):
        prompt = origin.rpartition("#")[0]
        found[prompt] = f"{found[prompt]}\n{text}" if prompt in found else text
    return found

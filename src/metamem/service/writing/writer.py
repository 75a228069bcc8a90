"""From drafts and conversations to facts: prepared outside of the database, entered in transactions.

What two processes write at once is stored once: whether something is known is asked in the transaction
that enters it, and nobody else writes to the scope meanwhile.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from metamem.core.access import Caller
from metamem.core.errors import MetamemError
from metamem.service import log, picture
from metamem.service.database import Database, now_ms
from metamem.service.sight import Sight, sight
from metamem.service.tables import AT_ONCE
from metamem.service.trees import BEGAN, tree_known
from metamem.service.words import CallsKept, Draft, Ingested, Session, ToolCall, Tree, Written
from metamem.service.writing.calls import CALLS_AT_ONCE, Calling, calls_on_envs, prepare_call
from metamem.service.writing.ingesting import Ingesting, Step, prepare_session
from metamem.service.writing.prepare import prepare
from metamem.service.writing.remembering import Remembering
from metamem.service.writing.trees import prepare_tree
from metamem.store.engine import Execute

BATCH = 500  # facts of one transaction: more would let others wait for long
assert BATCH <= AT_ONCE

# Raises where a caller may not have so many facts more in a scope.
CheckQuota = Callable[[Execute, Caller, int, int], None]


def no_quota(execute: Execute, caller: Caller, scope: int, new: int) -> None:
    """Nobody counts."""


class Writer:
    """Writes into scopes that the caller may write to."""

    def __init__(self, database: Database, check_quota: CheckQuota | None = None) -> None:
        self._database = database
        self._check_quota = check_quota or no_quota

    def remember(self, caller: Caller, scope: str, drafts: Sequence[Draft]) -> list[Written]:
        """Keep drafts; one result for each, in order. Batches are entered one after the other: where one
        cannot be, the error says how many drafts came before it."""
        now = now_ms()
        prepared = [prepare(draft, caller, now) for draft in drafts]
        results: list[Written] = []
        for start in range(0, max(1, len(prepared)), BATCH):
            try:
                with self._database.writing() as execute:
                    view = self._alone(execute, caller, scope)
                    batch = Remembering(execute, view, caller)
                    taken = batch.take(prepared[start : start + BATCH])
                    if batch.new:
                        self._check_quota(execute, caller, batch.scope, len(batch.new))
                    batch.enter()
            except MetamemError as error:
                if start:
                    error.message += f"; of {len(prepared)} drafts the first {start} are entered"
                raise
            results += taken
        return results

    def ingest(self, caller: Caller, scope: str, session: Session) -> Ingested:
        """Keep a conversation's turns as evidence. The same turns again add nothing."""
        now = now_ms()
        prepared = prepare_session(session, caller, now)
        stored = changed = 0
        finished = False
        while not finished:
            with self._database.writing() as execute:
                view = self._alone(execute, caller, scope)
                ingesting = Ingesting(execute, view, caller, prepared, now)
                step = ingesting.plan(BATCH)
                if step.new:
                    self._check_quota(execute, caller, ingesting.scope, len(step.new))
                ingesting.enter(step)
            stored, changed = stored + step.stored, changed + step.changed
            finished = step.finished or not (step.stored or step.changed)
        return Ingested(
            prepared.id,
            stored,
            len(prepared.turns) - stored - changed,
            prepared.refused,
            prepared.redacted,
            changed,
            prepared.notes,
        )

    def keep_calls(
        self,
        caller: Caller,
        scope: str,
        session: Session,
        calls: Sequence[ToolCall],
        rewound: Sequence[str] = (),
    ) -> CallsKept:
        """Keep a session's calls. The same calls again add nothing; halves are joined."""
        now = now_ms()
        about = prepare_session(replace(session, turns=()), caller, now)
        with self._database.reading() as execute:
            (number,) = sight(execute, caller, "write", [scope]).scopes
            envs = calls_on_envs(execute, number, about.id, [call.id for call in calls])
        prepared = [prepare_call(call, on_env=call.id in envs) for call in calls]
        counts = {"stored": 0, "joined": 0, "known": 0, "rewound": 0}
        for start in range(0, max(1, len(prepared)), CALLS_AT_ONCE):
            with self._database.writing() as execute:
                view = self._alone(execute, caller, scope)
                Ingesting(execute, view, caller, about, now).enter(Step())
                batch = Calling(execute, number, caller.who, about.id, counts)
                batch.enter(prepared[start : start + CALLS_AT_ONCE], () if start else rewound)
        return CallsKept(redacted=sum(call["redacted"] for call in prepared), **counts)

    def keep_tree(self, caller: Caller, scope: str, session: Session, tree: Tree) -> bool:
        """Keep the files that a session began with. False where that is known already, or where the
        session has used tools before: then they are not what it began with."""
        now = now_ms()
        about = prepare_session(replace(session, turns=()), caller, now)
        prepared = prepare_tree(tree)
        with self._database.writing() as execute:
            view = self._alone(execute, caller, scope)
            (number,) = view.scopes
            if tree_known(execute, number, about.id):
                return False
            Ingesting(execute, view, caller, about, now).enter(Step())
            body = {"session": about.id, "tree": prepared}
            picture.apply(execute, log.append(execute, number, BEGAN, caller.who, body))
        return True

    def _alone(self, execute: Execute, caller: Caller, scope: str) -> Sight:
        view = sight(execute, caller, "write", [scope])
        (number,) = view.scopes
        self._database.alone(execute, f"scope {number}")
        return view

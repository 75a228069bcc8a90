"""Facts drawn from conversations by a model: a job beside the writing, which never waits for it.

Nothing of this runs unless somebody configured a model for it (`metamem.service.metered`); texts that
were sent are not kept.
"""

from dataclasses import dataclass, field, replace

from metamem.core.access import Caller, Scope
from metamem.core.aside import aside
from metamem.core.chat import AskAt, Site
from metamem.core.errors import AllowanceSpent, ModelFault, ModelRefused, UsageError
from metamem.service.database import Database, now_ms
from metamem.service.metered import ROLE
from metamem.service.sight import Sight, scope_number
from metamem.service.words import Draft
from metamem.service.writing.extracting import Line, extracted, question
from metamem.service.writing.leases import Lease
from metamem.service.writing.prepare import Prepared, prepare
from metamem.service.writing.remembering import Remembering
from metamem.service.writing.writer import CheckQuota, no_quota
from metamem.store.engine import Execute

JOB = "enrich"
AT_ONCE = 40  # turns of one question
LETTERS = 8000  # characters of one question
# Of a scope, after a cursor. What reads like an instruction is never shown to the model.
_UNREAD = (
    "FROM facts WHERE scope = ? AND lifecycle = 'active' AND number > ? AND type = 'turn'"
    " AND quarantined = 0"
)


def unread(execute: Execute, scope: int) -> int:
    """How many turns of a scope nobody has drawn facts from yet."""
    rows = execute("SELECT position FROM jobs WHERE name = ? AND scope = ?", (JOB, scope))
    ((count,),) = execute(f"SELECT COUNT(*) {_UNREAD}", (scope, rows[0][0] if rows else 0))
    return int(count)


@dataclass(slots=True)
class Enriched:
    """What a run of the job did, and why it stopped."""

    turns: int = 0
    asked: int = 0
    stored: int = 0
    left_out: int = 0  # facts that were known, junk, or not borne out by what was said
    stopped: bool = False  # by a spent allowance, or a model that cannot be reached
    notes: list[str] = field(default_factory=list)


class Enricher:
    """Goes through the conversations of scopes, oldest first, from where it stopped."""

    def __init__(
        self, database: Database, ask: AskAt, check_quota: CheckQuota | None = None
    ) -> None:
        self._database, self._ask = database, ask
        self._check_quota = check_quota or no_quota

    async def run(self, scope: Scope, *, questions: int = 100, take_over: bool = False) -> Enriched:
        """Draw facts from what is new in a scope, with at most so many questions.

        `Busy` where another process is at it, unless the job is taken over from it. A spent allowance or a model that cannot be reached
        ends the run; what it did so far is kept, and the next run goes on from there.
        """
        done = Enriched()
        with self._database.reading() as execute:
            number = scope_number(execute, scope)
        if number is None:
            raise UsageError(f"there is no scope {scope}")
        lease = Lease(self._database, JOB, number)
        position = await aside(lease.take, over=take_over)
        try:
            for _ in range(questions):
                lines = await aside(self._next, number, position)
                if not lines:
                    break
                facts = await self._drawn(lines, done)
                position = lines[-1].number
                await aside(self._enter, scope, lease, lines, facts, done)
        except (AllowanceSpent, ModelFault) as stopped:
            done.stopped = True
            done.notes.append(stopped.message)
        finally:
            await aside(lease.give_back)
        return done

    def _next(self, scope: int, after: int) -> list[Line]:
        """The next turns, of one conversation."""
        with self._database.reading() as execute:
            rows = execute(
                f"SELECT number, id, author, text, source, session, said_at {_UNREAD}"
                " ORDER BY number LIMIT ?",
                (scope, after, AT_ONCE),
            )
        lines: list[Line] = []
        letters = 0
        for row in rows:
            line = Line(*row)
            letters += len(line.text)
            if lines and (line.session != lines[0].session or letters > LETTERS):
                break
            lines.append(line)
        return lines

    async def _drawn(self, lines: list[Line], done: Enriched) -> list[Draft]:
        done.asked += 1
        try:
            reply = await self._ask(Site(ROLE, phase="update", task=JOB), question(lines))
        except ModelRefused as refused:
            done.notes.append(f"nothing was drawn from {len(lines)} turns: {refused.message}")
            return []
        facts = extracted(reply.value, lines)
        done.left_out += len(reply.value["facts"]) - len(facts)
        return facts

    def _enter(
        self,
        scope: Scope,
        lease: Lease,
        lines: list[Line],
        facts: list[Draft],
        done: Enriched,
    ) -> None:
        """What was drawn, its evidence, and the cursor: all at once."""
        rights = frozenset({scope})
        caller = Caller(scope.tenant, JOB, reads=rights, writes=rights, kind="owner")
        prepared = [prepare(draft, caller, now_ms()) for draft in facts]
        with self._database.writing() as execute:
            self._database.alone(execute, f"scope {lease.scope}")
            if scope_number(execute, scope) != lease.scope:
                return  # erased meanwhile
            there = {
                row[0]
                for row in execute(
                    f"SELECT id FROM facts WHERE id IN ({', '.join('?' * len(lines))})",
                    [line.id for line in lines],
                )
            }  # without what was erased meanwhile
            prepared = [
                replace(one, about=tuple(turn for turn in one.about if turn in there))
                if isinstance(one, Prepared)
                else one
                for one in prepared
            ]
            batch = Remembering(execute, Sight({lease.scope: scope}), caller, may_replace=False)
            results = batch.take(prepared)
            if batch.new:
                self._check_quota(execute, caller, lease.scope, len(batch.new))
            batch.enter()
            stored = sum(written.outcome == "stored" for written in results)
            lease.move(execute, lines[-1].number, stored)
        done.turns += len(lines)
        done.stored += stored
        done.left_out += len(results) - stored

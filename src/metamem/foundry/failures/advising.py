"""What helped before, told through the hooks of coding agents: after a failure, before the same call is
tried again, at the first prompt of a session, and when something is asked for that was done often. When a
session starts nobody knows yet what it is about, and nothing is told: what a host hands on then has no prompt.

Events are cleaned as calls are that are kept, so that a failure has the same signature whoever tells of it,
and nothing else of them is held here. What a hook was not in time to hand on is not counted as shown.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

from metamem.core.access import Scope
from metamem.core.errors import Busy
from metamem.foundry.failures.effect import WITHHELD
from metamem.foundry.failures.intent import came, same_call, same_intent
from metamem.foundry.failures.suggest import (
    Failed,
    Suggestion,
    at_start,
    before_retry,
    for_failure,
    for_session,
    note,
)
from metamem.foundry.failures.tables import FAILURES
from metamem.foundry.failures.taking import keep_up
from metamem.foundry.tools.deployments import deployed
from metamem.foundry.tools.tables import TOOLS
from metamem.foundry.words import Use
from metamem.foundry.workflows.suggest import for_prompt, when_asked
from metamem.foundry.workflows.tables import WORKFLOWS
from metamem.service.attach.advising import SILENCE, Advice
from metamem.service.attach.asking import question
from metamem.service.attach.events import (
    Event,
    PromptGiven,
    ToolBegun,
    ToolEnded,
)
from metamem.service.database import Database, now_ms
from metamem.service.sight import scope_number
from metamem.service.words import ToolCall
from metamem.service.writing.calls import prepare_call
from metamem.store.engine import Execute

SESSIONS = 500  # whose failures are remembered
FAILURES_OF_ONE = 10


class Advising:
    """The adviser of failures. One of it serves all sessions."""

    def __init__(self, database: Database, share: float = WITHHELD) -> None:
        """`share` of what could be told is withheld, to measure what telling does."""
        database.grow([FAILURES, TOOLS, WORKFLOWS])
        self._database, self._share = database, share
        self._attempts = Attempts()
        self._prompted: OrderedDict[str, None] = OrderedDict()  # sessions that were asked something
        self._lock = Lock()

    def heard(self, scope: Scope, events: Sequence[Event]) -> Advice:
        with self._database.reading() as execute:
            number = scope_number(execute, scope)
        if number is None or not events or not events[-1].session:
            return SILENCE
        last = events[-1]
        if isinstance(last, PromptGiven):
            return self._prompt(number, last)
        failed = self._failed(events)
        return self._again(number, last.session, failed) if failed is not None else SILENCE

    def kept(self, scope: Scope) -> None:
        with self._database.reading() as execute:
            number = scope_number(execute, scope)
        if number is not None:
            with suppress(Busy):  # whoever is at it takes in this, too
                keep_up(self._database, number, now=now_ms())

    def _failed(self, events: Sequence[Event]) -> Use | None:
        """The failure that may be tried again now, if there is one."""
        found: Use | None = None
        for event in events:
            if isinstance(event, ToolEnded):
                use = _use(event)
                outcome = "refused" if event.interrupted else came(use)
                if outcome == "failed":
                    found = use if self._attempts.failed(event, use) else found
                elif outcome == "worked":
                    self._attempts.worked(event, use)
                    found = None if found is not None and same_intent(found, use) else found
            elif isinstance(event, ToolBegun):
                found = found or self._attempts.tried(event, _use(event))
        return found

    def _again(self, scope: int, session: str, use: Use) -> Advice:
        failed = Failed.of(use)
        with self._database.reading() as execute:
            if not for_failure(execute, scope, failed):
                return SILENCE  # as mostly: nobody need wait for a turn to write
        return self._drawn(
            scope,
            session,
            lambda execute: before_retry(
                execute, scope, session, failed, at=now_ms(), share=self._share, later=True
            ),
        )

    def _prompt(self, scope: int, event: PromptGiven) -> Advice:
        asked = question(event.prompt)
        if not asked:
            return SILENCE  # a greeting: what it is about comes with the next one
        begins = self._is_first(scope, event.session)
        return self._suggested(scope, event.session, asked, begins=begins)

    def _is_first(self, scope: int, session: str) -> bool:
        """Only the first prompt of a session that asks for something begins it."""
        with self._lock:
            known = session in self._prompted
            self._prompted[session] = None
            while len(self._prompted) > SESSIONS:
                self._prompted.popitem(last=False)
        if known:
            return False
        with self._database.reading() as execute:
            return not execute(
                "SELECT 1 FROM calls WHERE scope = ? AND session = ? LIMIT 1", (scope, session)
            )

    def _suggested(self, scope: int, session: str, prompt: str, *, begins: bool) -> Advice:
        """What helped in sessions that began so, and how others did what is asked for."""
        at = now_ms()
        with self._database.reading() as execute:
            in_use = deployed(execute, scope)
            tools = [each.kept.tool.description for each in in_use]
            helps = begins and bool(for_session(execute, scope, prompt, tools))
            if not helps and not for_prompt(execute, scope, prompt, in_use):
                return SILENCE

        def draw(execute: Execute) -> Suggestion:
            told: dict[str, Any] = {"at": at, "share": self._share, "later": True}
            done = when_asked(execute, scope, session, prompt, in_use=in_use, **told)
            if not helps:
                return done
            return at_start(execute, scope, session, prompt, tools=tools, **told).beside(done)

        return self._drawn(scope, session, draw)

    def _drawn(self, scope: int, session: str, draw: Callable[[Execute], Suggestion]) -> Advice:
        with self._database.writing() as execute:
            made = draw(execute)
        if not made.text:
            return SILENCE

        def delivered() -> None:
            with self._database.writing() as execute:
                note(execute, scope, session, made)

        return Advice(made.text, delivered)


class Attempts:
    """Calls that failed, of the sessions that were last heard of, until they work."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._failed: OrderedDict[tuple[str, str, str], list[Use]] = OrderedDict()

    def failed(self, event: ToolEnded, use: Use) -> bool:
        """Remember it. False where it is known: a host may tell of the same call twice."""
        with self._lock:
            known = self._of(event)
            if use.id and any(use.id == other.id for other in known):
                return False
            known.append(use)
            del known[:-FAILURES_OF_ONE]
            return True

    def worked(self, event: ToolEnded, use: Use) -> None:
        with self._lock:
            known = self._of(event)
            known[:] = [other for other in known if not same_intent(other, use)]

    def tried(self, event: ToolBegun, use: Use) -> Use | None:
        """The failure of the very call that is about to be made again."""
        with self._lock:
            return next((u for u in reversed(self._of(event)) if same_call(u, use)), None)

    def _of(self, event: Event) -> list[Use]:
        key = (event.host, event.session, event.agent)
        known = self._failed.setdefault(key, [])
        self._failed.move_to_end(key)
        while len(self._failed) > SESSIONS:
            self._failed.popitem(last=False)
        return known


def _use(event: ToolBegun) -> Use:
    """What an event tells of a call, without secrets, as it would be kept."""
    ended = event if isinstance(event, ToolEnded) else None
    call = ToolCall(
        event.call or "-",
        event.tool,
        event.arguments,
        ended.result if ended else None,
        ended.error if ended else "",
        ended.failed if ended else None,
        ended.exit_code if ended else None,
    )
    kept = prepare_call(call)
    return Use(
        event.call,
        kept["tool"],
        kept["arguments"],
        kept["result"] or "",
        kept["error"],
        kept["failed"],
        kept["exit_code"],
        agent=event.agent,
        redacted=kept["redacted"],
    )

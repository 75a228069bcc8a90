"""The memory service in one process: every verb, for a caller that a credential made.

`MemoryService` takes the caller with every call. `of` binds one, `with_key` asks for its rights
anew with every call, and `local` is whoever owns the file; what they give is all that the rest of
metamem sees (`metamem.service.contract.Memories`).

Every verb goes the same way: its rate is limited, rights are checked, it is done through `sight`,
and the audit says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.core.errors import Denied, MetamemError
from metamem.service import changing, facts
from metamem.service.access.acting import Act, Acts, admit, allow
from metamem.service.access.audit import Recorder
from metamem.service.access.keys import Doorkeeper
from metamem.service.access.limits import RateLimits
from metamem.service.access.rights import LOCAL, OWNER, owner_of_file
from metamem.service.access.scopes import make_scope
from metamem.service.administration import Administration, owner_to_be
from metamem.service.archives import ArchivesEraser
from metamem.service.attach.erasing import SpoolEraser
from metamem.service.bound import Bound
from metamem.service.counting import counted
from metamem.service.database import FILE, Database
from metamem.service.designs.moments import erase_moments
from metamem.service.designs.places import snapshots_of
from metamem.service.erasers import FolderEraser, PartsEraser
from metamem.service.erasing import Eraser, Erasing
from metamem.service.export import exported
from metamem.service.importing.places import erase_items
from metamem.service.reading_export import ReadIn, read_export
from metamem.service.recall.indexing import Progress, What
from metamem.service.recall.recaller import Recaller
from metamem.service.routing.routing import Routing, erase_routes
from metamem.service.sight import denied, scope_number, sight
from metamem.service.words import (
    Ask,
    Briefing,
    CallsKept,
    Change,
    Draft,
    Fact,
    Ingested,
    Listing,
    Page,
    Recall,
    Session,
    Tombstone,
    ToolCall,
    Tree,
    Verdict,
    Version,
    Written,
)
from metamem.service.writing.writer import Writer
from metamem.store.engine import Execute


class MemoryService:
    """All parts over one database."""

    def __init__(
        self, folder: Path, *, create: bool = True, erasers: Sequence[Eraser] = ()
    ) -> None:
        """`erasers` are further places that may hold what is remembered, beside those that every
        service knows."""
        self.folder = folder
        self._closed = False
        self.database = Database(folder / FILE, create=create)
        self._recorder = Recorder(self.database)
        self.doorkeeper = Doorkeeper(self.database, self._recorder.used, self._recorder.refused)
        self._acts = Acts(self.doorkeeper, RateLimits(), self._recorder)
        self.administration = Administration(self.database, self._acts, self.doorkeeper.forget)
        self._writer = Writer(self.database, admit)
        self._recaller = Recaller(self.database)
        self.routing = Routing(self)
        rows = [erase_moments, erase_items, erase_routes]
        self.erasing = Erasing(self.database, [*self._places(), *erasers], rows)
        self.erasing.resume()

    # --- who calls ---------------------------------------------------------------------------

    def of(self, caller: Caller) -> Bound:
        """All verbs for a caller whose rights do not change while it is used."""
        return Bound(self, lambda: caller)

    def with_key(self, secret: str) -> Bound:
        """All verbs for whoever holds a key. What is revoked is revoked with the next call."""
        return Bound(self, lambda: self.doorkeeper.authenticate(secret))

    def local(self, tenant: str = LOCAL) -> Bound:
        """All verbs for the owner of the file."""
        return Bound(self, lambda: self.local_caller(tenant))

    def local_caller(self, tenant: str = LOCAL) -> Caller:
        with self.database.reading() as execute:
            return owner_of_file(execute, tenant)

    @property
    def acts(self) -> Acts:
        """What every verb goes through, also those of other parts."""
        return self._acts

    def ready(self, act: Act, scope: str) -> Caller:
        """Whoever may write to the scope, for verbs of other parts."""
        return self._ready(act, scope)

    # --- writing -----------------------------------------------------------------------------

    def remember(self, caller: Caller, scope: str, drafts: Sequence[Draft]) -> list[Written]:
        with self._acts.acting(caller, "remember", [scope]) as act:
            caller = self._ready(act, scope)
            replaces = any(draft.supersedes for draft in drafts)
            if replaces and not caller.may_read(Scope.parse(scope)):
                raise denied("read", Scope.parse(scope))  # what is replaced must be seen
            written = self._writer.remember(caller, scope, drafts)
        self._recaller.written()
        return written

    def ingest(self, caller: Caller, scope: str, session: Session) -> Ingested:
        with self._acts.acting(caller, "ingest", [scope]) as act:
            done = self._writer.ingest(self._ready(act, scope), scope, session)
        self._recaller.written()
        return done

    def keep_calls(
        self,
        caller: Caller,
        scope: str,
        session: Session,
        calls: Sequence[ToolCall],
        rewound: Sequence[str] = (),
    ) -> CallsKept:
        with self._acts.acting(caller, "keep_calls", [scope]) as act:
            return self._writer.keep_calls(self._ready(act, scope), scope, session, calls, rewound)

    def keep_tree(self, caller: Caller, scope: str, session: Session, tree: Tree) -> bool:
        """Keep the files that a session began with; False where it is too late for that. Only what
        runs on the machine of the files can say it, so that no other seam has this verb."""
        with self._acts.acting(caller, "keep_tree", [scope]) as act:
            return self._writer.keep_tree(self._ready(act, scope), scope, session, tree)

    def read_export(self, caller: Caller, scope: str, lines: Iterable[str]) -> ReadIn:
        """Read an export into a scope. What it holds already stays as it is."""
        with self._acts.acting(caller, "read_export", [scope]) as act:
            done = read_export(self.database, self._ready(act, scope), scope, lines, admit)
        self._recaller.written()
        return done

    def edit(self, caller: Caller, fact: str, change: Change) -> Fact:
        with self._acts.acting(caller, "edit", target=fact) as act:
            done = changing.edit(self.database, caller, fact, change, _entering(act))
        self._recaller.written()
        return done

    def forget(self, caller: Caller, fact: str, reason: str = "") -> Fact:
        with self._acts.acting(caller, "forget", target=fact) as act:
            enter = _entering(act)
            return changing.move(self.database, caller, fact, "archived", reason, enter)

    def restore(self, caller: Caller, fact: str, reason: str = "") -> Fact:
        with self._acts.acting(caller, "restore", target=fact) as act:
            done = changing.move(self.database, caller, fact, "active", reason, _entering(act))
        self._recaller.written()
        return done

    # --- recall ------------------------------------------------------------------------------

    def recall(self, caller: Caller, ask: Ask) -> Recall:
        with self._acts.acting(caller, "recall", ask.scopes) as act:
            allow(caller, "read", ask.scopes)
            found = self._recaller.recall(caller, ask)
            act.target = found.id
            return found

    def briefing(self, caller: Caller, scopes: Sequence[str] = (), tokens: int = 1500) -> Briefing:
        with self._acts.acting(caller, "briefing", scopes) as act:
            allow(caller, "read", scopes)
            found = self._recaller.briefing(caller, scopes, tokens)
            act.target = found.id
            return found

    def feedback(
        self, caller: Caller, recall: str, fact: str, verdict: Verdict, note: str = ""
    ) -> None:
        with self._acts.acting(caller, "feedback", target=recall):
            self._recaller.feedback(caller, recall, fact, verdict, note)

    def why(self, caller: Caller, subject: str) -> dict[str, Any]:
        with self._acts.acting(caller, "why", target=subject):
            return self._recaller.why(caller, subject)

    # --- reading -----------------------------------------------------------------------------

    def get(self, caller: Caller, fact: str) -> Fact:
        with (
            self._acts.acting(caller, "get", target=fact) as act,
            self.database.reading() as execute,
        ):
            found = facts.by_id(execute, sight(execute, caller, "read"), fact)[1]
            act.scopes, act.target = [found.scope], found.id
            return found

    def browse(self, caller: Caller, listing: Listing) -> Page:
        with self._acts.acting(caller, "browse", listing.scopes):
            allow(caller, "read", listing.scopes)
            with self.database.reading() as execute:
                view = sight(execute, caller, "read", listing.scopes)
                return facts.listed(execute, view, listing)

    def history(self, caller: Caller, fact: str) -> list[Version]:
        with (
            self._acts.acting(caller, "history", target=fact) as act,
            self.database.reading() as execute,
        ):
            view = sight(execute, caller, "read")
            found = facts.by_id(execute, view, fact)[1]
            act.scopes, act.target = [found.scope], found.id
            return facts.history(execute, view, found.id)

    def export(
        self, caller: Caller, scopes: Sequence[str] = (), form: str = "jsonl"
    ) -> Iterator[str]:
        with self._acts.acting(caller, "export", scopes):
            allow(caller, "read", scopes)
            return exported(self.database, caller, scopes, form)

    def counts(self, caller: Caller) -> dict[str, Any]:
        with self._acts.acting(caller, "counts"), self.database.reading() as execute:
            found = counted(execute, sight(execute, caller, "read"))
            found["waiting"]["erasures"] = self.erasing.waiting(execute)
            return found

    # --- for good ----------------------------------------------------------------------------

    def erase(self, caller: Caller, scope: str, reason: str, person: str = "") -> Tombstone:
        """Delete for good, everywhere. What others recall meanwhile may still show it; what they
        recall when this returns does not."""
        with self._acts.acting(caller, "erase", [scope]) as act:
            allow(caller, "manage", [scope])
            self._recaller.flush()  # questions that wait to be written are part of it
            try:
                return self.erasing.erase(act, caller, scope, reason, person)
            finally:
                self.doorkeeper.forget()
                self._recaller.forget_caches()

    def reindex(self, caller: Caller, what: What = "all") -> Progress:
        """Make indexes anew, of all scopes: that is for the owner of the file."""
        with self._acts.acting(caller, "reindex"):
            if OWNER not in caller.roles:
                raise Denied("no right to make the indexes anew", hint="the owner of the file has")
            return self._recaller.reindex(what)

    def written(self) -> None:
        """Another part wrote facts: their vectors can be made now."""
        self._recaller.written()

    def make_scope(self, scope: Scope) -> int:
        """For programs that hold the file; callers have `administration.add_scope`."""
        with self.database.writing() as execute:
            return make_scope(execute, scope)

    def metrics(self) -> dict[str, int]:
        """What this process counted since it began."""
        return self._recaller.metrics() | {"audit_waiting": self._recorder.waiting}

    @property
    def trouble(self) -> MetamemError | None:
        """Why the audit cannot be written now; None where all is well."""
        return self._recorder.trouble

    def flush(self) -> None:
        """Write what the audit and the record of recalls hold back."""
        self._recaller.flush()
        self._recorder.flush()

    def close(self) -> None:
        """Closing again does nothing."""
        if not self._closed:
            self._closed = True
            self._recaller.close()
            self._recorder.close()
            self.database.close()

    # --- how ---------------------------------------------------------------------------------

    def _places(self) -> list[Eraser]:
        """All that may hold what is remembered beside the database, whoever opens it: an erasure
        that was interrupted goes on with the next process."""
        return [
            FolderEraser("snapshots", partial(snapshots_of, self.folder)),
            SpoolEraser(self.folder, self.database),
            ArchivesEraser(self.database),
            PartsEraser(self.folder),
        ]

    def _ready(self, act: Act, scope: str) -> Caller:
        """Whoever may write to the scope. The owner of the file has it made by writing to it."""
        caller, wanted = act.caller, Scope.parse(scope)
        if OWNER in caller.roles and wanted.tenant == caller.tenant == LOCAL:
            with self.database.writing() as execute:
                if scope_number(execute, wanted) is None:
                    make_scope(execute, wanted, owner=owner_to_be(execute, caller, wanted))
            one = frozenset({wanted})
            caller = act.caller = replace(
                caller,
                reads=caller.reads | one,
                writes=caller.writes | one,
                manages=caller.manages | one,
            )
        allow(caller, "write", [scope])
        return caller


def _entering(act: Act) -> changing.Enter:
    """The audit of a change, inside its transaction."""

    def enter(execute: Execute, fact: Fact) -> None:
        act.scopes, act.target = [fact.scope], fact.id
        act.enter(execute)

    return enter
